// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Pickles by hand. What Python writes is compared in tests/process/test_memory_profile.py.

#include "analysis/import/snapshot_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>

#include "analysis/import/pickle_reader.h"

namespace gpuprof::analysis::import {
namespace {

// Writes codes of protocol 4.
class Codes {
 public:
  Codes& Raw(std::string_view codes) {
    bytes_ += codes;
    return *this;
  }
  Codes& Text(std::string_view text) {
    bytes_ += 'X';
    for (int i = 0; i < 4; ++i) bytes_ += static_cast<char>(text.size() >> (8 * i));
    bytes_ += text;
    return *this;
  }
  Codes& Int(uint64_t number) {
    bytes_ += "\x8a\x08";
    for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>(number >> (8 * i));
    return *this;
  }
  Codes& Event(std::string_view action, uint64_t address, uint64_t size, uint64_t us) {
    Raw("}(").Text("action").Text(action).Text("addr").Int(address).Text("size").Int(size);
    Text("time_us").Int(us).Text("frames");
    Raw("](}(").Text("filename").Text("a.py").Text("line").Int(7).Text("name").Text("f");
    return Raw("ueu");
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_ = "\x80\x04";
};

std::string SmallSnapshot() {
  Codes codes;
  codes.Raw("}(").Text("segments").Raw("](}(").Text("device").Int(0).Text("address").Int(4096);
  codes.Text("total_size").Int(8192).Text("segment_pool_id").Raw({"K\0K\x01\x86", 5});
  codes.Text("blocks").Raw("](}(").Text("address").Int(4096).Text("size").Int(512);
  codes.Text("state").Text("active_allocated").Raw("ueue");
  codes.Text("device_traces").Raw("](](");
  codes.Event("alloc", 5000, 100, 1'000'000).Event("free_requested", 5000, 100, 1'000'003);
  codes.Event("strange", 0, 0, 1'000'004).Raw("eeu.");
  return codes.bytes();
}

Error Read(std::string_view bytes, MemorySnapshot* out, size_t piece = SIZE_MAX) {
  MemorySource source(bytes, piece);
  return ReadSnapshot(&source, "file", nullptr, out);
}

TEST(SnapshotReaderTest, EntriesAreTaken) {
  for (const size_t piece : {SIZE_MAX, size_t{1}, size_t{5}}) {
    MemorySnapshot snapshot;
    const Error error = Read(SmallSnapshot(), &snapshot, piece);
    ASSERT_FALSE(error) << error.message;
    ASSERT_EQ(snapshot.events.rows(), 3u);
    EXPECT_EQ(snapshot.first_ns, 1'000'000'000);
    EXPECT_EQ(snapshot.events.time_ns[1], 3000);
    EXPECT_EQ(snapshot.events.address[0], 5000u);
    EXPECT_EQ(snapshot.events.size[0], 100u);
    EXPECT_EQ(snapshot.events.stack[0], snapshot.events.stack[1]);
    EXPECT_EQ(static_cast<SnapshotAction>(snapshot.events.action[1]),
              SnapshotAction::kFreeRequested);
    EXPECT_EQ(snapshot.unknown_events, 1u);
    ASSERT_EQ(snapshot.frames.size(), 1u);
    EXPECT_EQ(snapshot.texts[snapshot.frames[0].file], "a.py");
    EXPECT_EQ(snapshot.frames[0].line, 7u);
    ASSERT_EQ(snapshot.segments.size(), 1u);
    EXPECT_TRUE(snapshot.segments[0].is_private);
    EXPECT_EQ(snapshot.segments[0].blocks, 1u);
    EXPECT_EQ(snapshot.blocks[0].state, SnapshotBlockState::kAllocated);
    EXPECT_EQ(snapshot.bytes, SmallSnapshot().size());
  }
}

TEST(SnapshotReaderTest, EveryCutIsToldAndNoDamageCrashes) {
  const std::string whole = SmallSnapshot();
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    MemorySnapshot snapshot;
    const Error error = Read(whole.substr(0, bytes), &snapshot);
    ASSERT_TRUE(error) << bytes;
    EXPECT_NE(error.message.find("the file was cut"), std::string::npos) << error.message;
  }
  std::mt19937 random(1);
  for (int turn = 0; turn < 5000; ++turn) {
    std::string damaged = whole;
    for (int i = 0; i < 1 + turn % 4; ++i)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    MemorySnapshot snapshot;
    Read(damaged, &snapshot);
    for (size_t row = 0; row < snapshot.events.rows(); ++row)
      ASSERT_LT(snapshot.events.stack[row], snapshot.stack_ends.size());
  }
}

TEST(PickleReaderTest, MemoryIsAskedFor) {
  // Dicts in a list, each of which takes more memory than bytes.
  std::string bytes = "\x80\x04](";
  for (int i = 0; i < 3'000'000; ++i) bytes += "}";
  MemorySource source(bytes);
  uint64_t most = 0;
  PickleReader reader(&source, "file", nullptr, [&](uint64_t held) {
    most = std::max(most, held);
    return held > (20u << 20) ? Unreadable("too much") : Error{};
  });
  const Result<PickleValue> value = reader.Read();
  ASSERT_FALSE(value.ok());
  EXPECT_EQ(value.error().message, "too much");
  EXPECT_GT(most, 20u << 20);
}

TEST(PickleReaderTest, LongTextsGoOverTheWindow) {
  const std::string text(3 << 20, 'x');
  const std::string bytes = Codes().Text(text).Raw(".").bytes() + "behind";
  MemorySource source(bytes, 1000);
  PickleReader reader(&source, "file", nullptr);
  const Result<PickleValue> value = reader.Read();
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(reader.Text(*value), text);
}

}  // namespace
}  // namespace gpuprof::analysis::import
