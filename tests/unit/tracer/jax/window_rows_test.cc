// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Windows made by hand become rows. The functions of sessions.h that the rows need are the test's.

#include "tracer/jax/window_rows.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "tracer/jax/sessions.h"

namespace gpuprof::tracer::jax {

namespace {
Windows g_windows;
int g_device_tracers = 0;
}  // namespace
Windows& WaitingWindows() { return g_windows; }
void NoteDeviceTracer() { ++g_device_tracers; }

namespace {

using proto::ChunkKind;

constexpr uint64_t kStart = 1'700'000'000'000'000'000;  // CLOCK_REALTIME
constexpr uint64_t kTicks = 1'000'000'000;              // at kStart: a tick is a nanosecond

std::string Varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}
std::string Number(uint32_t field, uint64_t value) { return Varint(field << 3) + Varint(value); }
std::string Bytes(uint32_t field, const std::string& bytes) {
  return Varint(field << 3 | 2) + Varint(bytes.size()) + bytes;
}
std::string Metadata(uint32_t field, uint64_t id, const std::string& name,
                     const std::string& more = "") {
  return Bytes(field, Number(1, id) + Bytes(2, Number(1, id) + Bytes(2, name) + more));
}

std::string Environment(uint64_t stop_ns, const std::string& options) {
  return Bytes(1, Bytes(2, "Task Environment") + Metadata(5, 1, "profile_start_time") +
                      Metadata(5, 2, "profile_stop_time") + Metadata(5, 3, "profile_options") +
                      Bytes(6, Number(1, 1) + Number(3, kStart)) +
                      Bytes(6, Number(1, 2) + Number(3, kStart + stop_ns)) +
                      Bytes(6, Number(1, 3) + Bytes(6, options)));
}

std::string Event(uint64_t name, uint64_t begin_ns, uint64_t duration_ns,
                  const std::string& stats = "") {
  return Bytes(
      4, Number(1, name) + Number(2, begin_ns * 1000) + Number(3, duration_ns * 1000) + stats);
}

struct Block {
  ChunkKind kind;
  uint32_t track;
  uint32_t rows;
  uint64_t first, last;
  bool operator==(const Block&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Block& block) {
  return out << static_cast<int>(block.kind) << " on " << block.track << ": " << block.rows << ", "
             << block.first << " to " << block.last;
}

class Sink : public cupti::BlockSink {
 public:
  bool WriteTableBlock(ChunkKind kind, int, const std::vector<uint8_t>& message,
                       uint32_t) override {
    tables.emplace_back(kind, std::string(message.begin(), message.end()));
    return true;
  }
  void WriteStringsBlock() override {}
  void WriteRowBlock(codec::ChunkBuilder* rows) override {
    blocks.push_back(
        {rows->kind(), rows->track(), rows->count(), rows->first_time(), rows->last_time()});
  }
  void LoseRowBlock(codec::ChunkBuilder*) override {}

  std::vector<std::pair<ChunkKind, std::string>> tables;
  std::vector<Block> blocks;
};

class Tracks : public TrackSource {
 public:
  uint32_t TrackOf(uint32_t tid, uint64_t) override { return tid + 1000; }
  void WriteTracks() override {}
};

class WindowRowsTest : public testing::Test {
 protected:
  WindowRowsTest() {
    host_.next_track = &next_track_;
    while (Window* const left = g_windows.Take()) Windows::Release(left);
  }

  void Put(const std::string& space, uint32_t capture = 1, bool is_first = true,
           bool has_programs = false) {
    Window* const window = g_windows.Make(space.size());
    ASSERT_NE(window, nullptr);
    window->capture = capture;
    window->tid = 77;
    window->is_first = is_first;
    window->has_programs = has_programs;
    window->begin = {kTicks, 5'000'000, kStart};
    window->end = {kTicks + 1'000'000, 6'000'000, kStart + 1'000'000};
    std::memcpy(reinterpret_cast<char*>(window + 1), space.data(), space.size());
    ASSERT_TRUE(g_windows.HandOver(window));
  }
  void Pass() { rows_.Pass(/*capture=*/1, /*time_shift=*/0, &tracks_, &sink_); }

  std::atomic<uint32_t> next_track_{5};
  Host host_ = {};
  codec::InternTables strings_{16, 1024, 1 << 16};
  WindowRows rows_{&host_, &strings_};
  Tracks tracks_;
  Sink sink_;
};

TEST_F(WindowRowsTest, MarksAreOpsWithTheirValues) {
  const std::string line =
      Bytes(3, Number(1, 42) + Bytes(2, "python") + Number(3, 100) +
                   Event(1, 0, 1000, Bytes(4, Number(1, 1) + Number(4, 9))) + Event(2, 200, 300));
  Put(Bytes(1, Bytes(2, "/host:CPU") + Metadata(4, 1, "outer") + Metadata(4, 2, "inner") +
                   Metadata(5, 1, "step_num") + line) +
      Environment(900'000, ""));
  Pass();
  EXPECT_EQ(sink_.blocks,
            (std::vector<Block>{{ChunkKind::kOp, 1042, 2, kTicks + 100, kTicks + 1100},
                                {ChunkKind::kOpValue, 1042, 1, kTicks + 1100, kTicks + 1100}}));
  EXPECT_EQ(g_device_tracers, 0);
}

TEST_F(WindowRowsTest, TimeBetweenWindowsIsARange) {
  const std::string first = Environment(400'000, "");
  Put(first);
  // As if it had begun later.
  Put(Bytes(1, Bytes(2, "Task Environment") + Metadata(5, 1, "profile_start_time") +
                   Metadata(5, 2, "profile_stop_time") +
                   Bytes(6, Number(1, 1) + Number(3, kStart + 500'000)) +
                   Bytes(6, Number(1, 2) + Number(3, kStart + 900'000))),
      1, /*is_first=*/false);
  Pass();
  EXPECT_EQ(sink_.blocks,
            (std::vector<Block>{{ChunkKind::kRange, 1077, 1, kTicks + 400'000, kTicks + 500'000}}));
  EXPECT_EQ(rows_.gap_ns(), 100'000u);
}

TEST_F(WindowRowsTest, OtherCapturesAndDamagedBytesGiveNoRows) {
  Put(Environment(400'000, ""), /*capture=*/2);
  const uint64_t lost = g_windows.lost();
  Put("no XSpace at all");
  Put("");
  std::string cut = Environment(400'000, "");
  for (size_t bytes = 0; bytes < cut.size(); bytes += 7) {
    Put(cut.substr(0, bytes));
    Pass();
  }
  EXPECT_TRUE(sink_.blocks.empty());
  EXPECT_GT(g_windows.lost(), lost);
}

TEST_F(WindowRowsTest, ASessionThatTookTheGpuIsNoticed) {
  Put(Environment(400'000, Number(2, 2) + Number(3, 1)));
  Pass();
  EXPECT_EQ(std::exchange(g_device_tracers, 0), 1);
}

TEST_F(WindowRowsTest, AProgramIsWrittenOnce) {
  const std::string programs = Bytes(1, Bytes(2, "/host:metadata") + Metadata(5, 1, "Hlo Proto") +
                                            Metadata(5, 2, "program_id") +
                                            Metadata(4, 3, "jit_f(8)",
                                                     Bytes(5, Number(1, 1) + Bytes(6, "PROTO")) +
                                                         Bytes(5, Number(1, 2) + Number(3, 8)))) +
                               Environment(1000, "");
  Put(programs, 1, false, /*has_programs=*/true);
  Put(programs, 1, false, /*has_programs=*/true);
  Pass();
  ASSERT_EQ(sink_.tables.size(), 1u);
  EXPECT_EQ(sink_.tables[0].first, ChunkKind::kHloModules);
  EXPECT_EQ(sink_.tables[0].second,
            Bytes(1, Number(1, 8) + Bytes(2, "jit_f(8)") + Bytes(3, "PROTO")));
}

}  // namespace
}  // namespace gpuprof::tracer::jax
