// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Contexts that come and go: from the callback through the queue (which graph_events_test.cc has
// for itself) to the entry in the trace.

#include "tracer/cupti/context_events.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "proto/trace.pb.h"
#include "tests/unit/tracer/cupti/activity_records.h"

namespace gpuprof::tracer::cupti {
namespace {

// A library whose numbers are the handles themselves, and that does not know handle 13.
int ContextId(void* handle, uint32_t* id) {
  *id = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(handle));
  return *id == 13 ? kInvalidParameter : kSuccess;
}
ResourceData Of(uintptr_t context) { return {reinterpret_cast<void*>(context), nullptr, nullptr}; }

TEST(ContextEvents, CallbacksAreReadByTheLibrarysNumbers) {
  Functions functions;
  ContextEvent event;
  EXPECT_FALSE(ReadContextEvent(functions, kContextCreated, Of(3), &event)) << "it cannot tell";
  functions.get_context_id = ContextId;
  ASSERT_TRUE(ReadContextEvent(functions, kContextCreated, Of(3), &event));
  EXPECT_EQ(event.context, 3u);
  EXPECT_FALSE(event.is_end);
  ASSERT_TRUE(ReadContextEvent(functions, kContextDestroyStarting, Of(4), &event));
  EXPECT_EQ(event.context, 4u);
  EXPECT_TRUE(event.is_end);
  EXPECT_FALSE(ReadContextEvent(functions, kContextDestroyStarting, Of(13), &event));
  EXPECT_FALSE(ReadContextEvent(functions, kContextDestroyStarting, Of(0), &event));
  EXPECT_FALSE(ReadContextEvent(functions, kStreamCreated, Of(3), &event));
}

class ContextLives : public ActivityRecords {
 protected:
  proto::Devices Taken(uint32_t* count) {
    std::vector<uint8_t> bytes;
    *count = sorter_.TakeDevices({}, &bytes);
    proto::Devices message;
    EXPECT_TRUE(message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
    return message;
  }
  void Tell(const ContextEvent& event) {
    bool is_crowded = false;
    EXPECT_TRUE(queue_->Put(event, &is_crowded));
  }

  std::unique_ptr<ContextEvents> queue_ = std::make_unique<ContextEvents>();
};

TEST_F(ContextLives, AreToldAsTheyHappenAndOnce) {
  Tell({1000, 1, false});
  Tell({2000, 1, true});
  Tell({2500, 2, false});
  sorter_.TakeContexts(queue_.get());
  EXPECT_TRUE(sorter_.has_news()) << "also where no row waits";
  uint32_t count = 0;
  const proto::Devices first = Taken(&count);
  EXPECT_EQ(count, 3u);
  ASSERT_EQ(first.context_size(), 3);
  EXPECT_EQ(first.context(0).id(), 1u);
  EXPECT_EQ(first.context(0).begin(), 1000u);
  EXPECT_EQ(first.context(0).end(), 0u);
  EXPECT_EQ(first.context(1).id(), 1u);
  EXPECT_EQ(first.context(1).begin(), 0u);
  EXPECT_EQ(first.context(1).end(), 2000u);
  EXPECT_EQ(first.context(2).id(), 2u);
  EXPECT_FALSE(sorter_.has_news());
  Tell({3000, 2, true});
  sorter_.NoteCudaHadBegun();
  sorter_.TakeContexts(queue_.get());
  const proto::Devices second = Taken(&count);
  EXPECT_EQ(count, 1u);
  ASSERT_EQ(second.context_size(), 1);
  EXPECT_EQ(second.context(0).end(), 3000u);
  EXPECT_TRUE(second.cuda_had_begun());
  Taken(&count);
  EXPECT_EQ(count, 0u);
}

}  // namespace
}  // namespace gpuprof::tracer::cupti
