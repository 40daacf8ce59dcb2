// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What opening a trace costs, from the file to the columns that passes read: rows a second. The
// rows are made up but shaped like a training's: nested ops with jitter, allocations of sizes and
// addresses from a small set on the coarse clock. Processor time is what counts: rows a second and
// core, the kernel's share for fresh memory included.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <string>

#include "analysis/analysis.h"
#include "analysis/model/trace.h"
#include "proto/codec/chunk_builder.h"
#include "proto/codec/trace_writer.h"
#include "proto/record.h"
#include "proto/ticks.h"
#include "proto/trace.pb.h"

namespace gpuprof {
namespace {

constexpr uint64_t kRows = 8'000'000;
constexpr uint64_t kTicksPerSecond = 2'000'000'000;
constexpr uint32_t kTimeShift = 5;  // the recorder's default at this rate

enum Mix { kOps, kHeap, kBoth };

void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "open_bench: cannot %s\n", what);
  std::exit(1);
}

class Generator {
 public:
  explicit Generator(const std::string& directory) {
    proto::FileHeader header = {};
    header.pid = 100;
    header.start_id = 1;
    header.ticks_kind = static_cast<uint32_t>(proto::ClockKind::kTsc);
    Require(writer_.Create((directory + "/p100-1.gpt").c_str(), header), "create the trace");
  }

  void Make(Mix mix) {
    for (uint64_t i = 0; i < kRows; ++i) {
      if (mix == kOps || (mix == kBoth && i % 2 == 0)) {
        Op(i);
      } else {
        Heap();
      }
      if (now_ >= next_clock_) Clock();
    }
    Write(&op_);
    Write(&heap_);
    Clock();
    Require(writer_.WriteEnd({}), "write the end");
  }

 private:
  // A layer: three inner ops, then the outer one that holds them.
  void Op(uint64_t i) {
    const uint64_t depth = i % 4 == 3 ? 0 : 1;
    const uint64_t typical = 2000 * (1 + i % 16);
    const uint64_t duration = typical + random_() % (typical / 16 + 1);
    now_ += depth == 0 ? 300 : duration + 200 + random_() % 64;
    const uint64_t row[] = {now_, depth == 0 ? 4 * duration : duration, 2 + i % 37, depth << 16};
    op_.Append(row, now_ - std::min(now_, row[1]));
    if (op_.count() == proto::kRowsPerChunk) Write(&op_);
  }

  // The address of an allocation comes back with its free, most recent first.
  void Heap() {
    now_ += 120 + random_() % 200;
    const bool is_free = live_ > 0 && random_() % 2 == 0;
    if (is_free) --live_;
    const uint64_t size = 32u << random_() % 6;
    const uint64_t time = now_ - now_ % 20'000;  // the coarse clock
    const uint64_t row[] = {time, proto::HeapOperation(is_free, is_free ? 4 : 1, 0),
                            0x7f3200000000 + live_ * 96, is_free ? 0 : size, 0};
    if (!is_free) ++live_;
    heap_.Append(row, time);
    if (heap_.count() == proto::kRowsPerChunk) Write(&heap_);
  }

  void Clock() {
    proto::Clocks clocks;
    proto::ClockSnapshot* snapshot = clocks.add_snapshot();
    snapshot->set_ticks(now_);
    snapshot->set_monotonic_ns(1'000'000'000 + now_ / 2);
    snapshot->set_realtime_ns(1'700'000'000'000'000'000 + now_ / 2);
    snapshot->set_bracket_ticks(60);
    const std::string bytes = clocks.SerializeAsString();
    Require(writer_.WriteTable(proto::ChunkKind::kClocks, 1, 11,
                               reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), 1),
            "write a table");
    next_clock_ = now_ + kTicksPerSecond;
  }

  void Write(codec::ChunkBuilder* builder) {
    if (builder->count() != 0) Require(writer_.WriteEvents(builder, 1, 0), "write rows");
  }

  codec::TraceWriter writer_;
  codec::ChunkBuilder op_{proto::ChunkKind::kOp, 1, kTimeShift};
  codec::ChunkBuilder heap_{proto::ChunkKind::kHeap, 1, kTimeShift};
  std::mt19937_64 random_{1};
  uint64_t now_ = 1'000'000;
  uint64_t next_clock_ = 0;
  uint64_t live_ = 0;
};

// Made once, removed at the end of the program.
struct Bundle {
  explicit Bundle(Mix mix) {
    std::string pattern = std::filesystem::temp_directory_path() / "gpuprof-open-bench-XXXXXX";
    Require(mkdtemp(pattern.data()) != nullptr, "make a directory");
    path = pattern;
    Generator(path).Make(mix);
  }
  ~Bundle() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};

const std::string& BundleOf(Mix mix) {
  static std::unique_ptr<Bundle> bundles[3];
  if (bundles[mix] == nullptr) bundles[mix] = std::make_unique<Bundle>(mix);
  return bundles[mix]->path;
}

void BM_Open(benchmark::State& state) {
  const std::string& path = BundleOf(static_cast<Mix>(state.range(0)));
  analysis::OpenOptions options;
  options.threads = static_cast<int>(state.range(1));
  uint64_t bytes = 0;
  for (auto _ : state) {
    std::shared_ptr<const analysis::Trace> trace;
    const analysis::Error error = analysis::Open(path, options, &trace);
    Require(!error && trace->faults.empty() && trace->processes[0].rows == kRows, "open it");
    bytes = trace->processes[0].file_bytes;
    // Memory goes back to the system outside the measurement's point: programs open once.
    state.PauseTiming();
    trace.reset();
    state.ResumeTiming();
  }
  static constexpr const char* kNames[] = {"ops", "heap", "both"};
  state.SetLabel(kNames[state.range(0)]);
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kRows));
  state.counters["bytes_per_row"] = static_cast<double>(bytes) / static_cast<double>(kRows);
}
BENCHMARK(BM_Open)
    ->ArgsProduct({{kOps, kHeap, kBoth}, {1, 2}})
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gpuprof

BENCHMARK_MAIN();
