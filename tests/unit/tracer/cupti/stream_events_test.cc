// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Handles of streams: from the callback through the queue (which graph_events_test.cc has for
// itself) to the stream's entry, whichever comes first.

#include "tracer/cupti/stream_events.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "proto/trace.pb.h"
#include "tests/unit/tracer/cupti/activity_records.h"

namespace gpuprof::tracer::cupti {
namespace {

// A library whose numbers are the handles themselves, and that does not know handle 13.
int ContextId(void* handle, uint32_t* id) {
  *id = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(handle));
  return kSuccess;
}
int StreamId(void* context, void* handle, uint8_t per_thread, uint32_t* id) {
  EXPECT_NE(context, nullptr);
  EXPECT_EQ(per_thread, 0);
  *id = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(handle));
  return *id == 13 ? kInvalidParameter : kSuccess;
}
void* Handle(uintptr_t number) { return reinterpret_cast<void*>(number); }

TEST(StreamEvents, CallbacksAreReadByTheLibrarysNumbers) {
  Functions functions;
  EXPECT_FALSE(TellsStreams(functions));
  functions.get_context_id = ContextId;
  EXPECT_FALSE(TellsStreams(functions));
  functions.get_stream_id = StreamId;
  EXPECT_TRUE(TellsStreams(functions));
  StreamEvent event;
  ASSERT_TRUE(ReadStreamEvent(functions, {Handle(3), Handle(14), nullptr}, &event));
  EXPECT_EQ(event.context, 3u);
  EXPECT_EQ(event.stream, 14u);
  EXPECT_EQ(event.handle, 14u);
  EXPECT_FALSE(ReadStreamEvent(functions, {Handle(3), Handle(13), nullptr}, &event));
  EXPECT_FALSE(ReadStreamEvent(functions, {Handle(3), nullptr, nullptr}, &event));
  EXPECT_FALSE(ReadStreamEvent(functions, {nullptr, Handle(14), nullptr}, &event));
}

Bytes Kernel(uint32_t stream) {
  return Bytes(Activity::kConcurrentKernel, 216)
      .U64(kernel::kStart, 1'750'000'000'000'000'000)
      .U64(kernel::kEnd, 1'750'000'000'000'000'100)
      .U32(kernel::kContext, 1)
      .U32(kernel::kStream, stream)
      .U32(kernel::kCorrelation, 5)
      .Text(kernel::kName, "k");
}

class StreamHandles : public ActivityRecords {
 protected:
  using Entry = std::tuple<uint64_t, uint64_t, bool>;  // handle, since, described

  void Made(uint32_t stream, uint64_t handle, uint64_t ticks) {
    bool is_crowded = false;
    EXPECT_TRUE(queue_->Put({handle, ticks, 1, stream}, &is_crowded));
    sorter_.TakeHandles(queue_.get());
  }
  // What is new, by the stream's number.
  std::map<uint32_t, Entry> Taken() {
    std::vector<uint8_t> bytes;
    const uint32_t count = sorter_.TakeStreams(&bytes);
    proto::Streams message;
    EXPECT_TRUE(message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
    EXPECT_EQ(message.stream_size(), static_cast<int>(count));
    std::map<uint32_t, Entry> entries;
    for (const proto::Stream& s : message.stream())
      entries[s.stream()] = {s.handle(), s.handle_since(), s.described()};
    return entries;
  }
  using Entries = std::map<uint32_t, Entry>;

  std::unique_ptr<StreamEvents> queue_ = std::make_unique<StreamEvents>();
};

TEST_F(StreamHandles, AreKeptUntilTheStreamHasRows) {
  Made(14, 0x700, 1000);
  Made(15, 0x800, 1100);
  EXPECT_TRUE(Taken().empty());
  Give({Kernel(14), Kernel(7)});
  EXPECT_EQ(Taken(), (Entries{{14, {0x700, 1000, false}}, {7, {0, 0, false}}}));
  EXPECT_TRUE(Taken().empty()) << "once each";
}

TEST_F(StreamHandles, ThatComeLateAreToldWithTheStreamAgain) {
  Give({Kernel(14), Kernel(15)});
  EXPECT_EQ(Taken().size(), 2u);
  Made(14, 0x700, 1000);
  EXPECT_EQ(Taken(), (Entries{{14, {0x700, 1000, false}}}));
}

TEST_F(StreamHandles, AndWhatRecordsTellStandTogether) {
  const Bytes described =
      Bytes(Activity::kStream, 24).U32(stream::kContext, 1).U32(stream::kId, 14);
  Made(14, 0x700, 1000);
  Give({Kernel(14), described});
  EXPECT_EQ(Taken(), (Entries{{14, {0x700, 1000, true}}}));
  Made(14, 0x900, 3000);
  EXPECT_EQ(Taken(), (Entries{{14, {0x900, 3000, true}}}));
}

TEST_F(StreamHandles, OfMoreStreamsThanThereIsRoomForAreLeftOut) {
  for (uint32_t i = 0; i < DeviceRecords::kMostStreams; ++i) Made(100 + i, 0x1000 + i, i + 1);
  Made(50, 0x700, 1000);
  Give({Kernel(50), Kernel(100)});
  EXPECT_EQ(Taken(), (Entries{{50, {0, 0, false}}, {100, {0x1000, 1, false}}}));
}

}  // namespace
}  // namespace gpuprof::tracer::cupti
