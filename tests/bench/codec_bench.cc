// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the chunk codec costs: rows into a builder, blocks into a file, files back into columns,
// rings into traces. The streams are made up but shaped like real ones: sizes and call sites from a
// small set, addresses from size classes, times on a coarse or an exact clock.

#include <benchmark/benchmark.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "proto/codec/chunk_builder.h"
#include "proto/codec/record_sorter.h"
#include "proto/codec/recover.h"
#include "proto/codec/tables.h"
#include "proto/codec/trace_reader.h"
#include "proto/codec/trace_writer.h"
#include "proto/contract.h"
#include "proto/ring.h"

namespace gpuprof::codec {
namespace {

using proto::ChunkKind;
using proto::Record;
using proto::RecordKind;

constexpr uint32_t kShift = 5;  // 16 ns of a 2 GHz counter
constexpr uint64_t kRows = proto::kRowsPerChunk;

struct Stream {
  ChunkKind kind;
  std::vector<Record> records;
};

// malloc and free in the order of a program that keeps some blocks: addresses come back last in,
// first out.
Stream HeapStream(bool exact_time) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> live;
  uint64_t next = 0x7f1234000000;
  Stream stream{ChunkKind::kHeap, {}};
  uint64_t time = 1'000'000'000'000;
  uint64_t coarse = time;
  for (uint64_t i = 0; i < kRows; ++i) {
    time += 100 + random() % 200;
    if (time - coarse > 20'000) coarse = time;
    const uint64_t now = exact_time ? time : coarse;
    const uint8_t flags = exact_time ? 0 : proto::kFlagCoarseTime;
    const bool is_free = live.size() > 50 && random() % 2 == 0;
    if (is_free) {
      const size_t at = live.size() - 1 - random() % 4;
      stream.records.push_back({now, 0, static_cast<uint8_t>(RecordKind::kHeapFree), flags,
                                static_cast<uint16_t>(proto::HeapFunction::kFree), live[at], 0});
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      const uint64_t size = (random() % 8 == 0 ? random() % 4096 : 1 + random() % 12 * 16) + 8;
      const uint64_t address = live.size() > 100 && random() % 4 != 0
                                   ? live[live.size() / 2] + 4096
                                   : (next += (size + 31) & ~15ull);
      stream.records.push_back({now, 0, static_cast<uint8_t>(RecordKind::kHeapAlloc), flags,
                                static_cast<uint16_t>(proto::HeapFunction::kMalloc), address,
                                size});
      live.push_back(address);
    }
  }
  return stream;
}

// Ops that repeat step by step, with some jitter in their times.
Stream OpStream() {
  std::mt19937_64 random(2);
  Stream stream{ChunkKind::kOp, {}};
  uint64_t time = 1'000'000'000'000;
  for (uint64_t i = 0; i < kRows; ++i) {
    const uint32_t position = static_cast<uint32_t>(i % 300);
    const uint32_t name = 2 + position * 7919 % 60;
    const uint32_t duration = 2000 + name * 500 + static_cast<uint32_t>(random() % 400);
    time += duration + random() % 1000;
    stream.records.push_back(
        {time, duration, static_cast<uint8_t>(RecordKind::kOp), 0, 0, name, position % 3});
  }
  return stream;
}

Stream WaitStream() {
  std::mt19937_64 random(3);
  Stream stream{ChunkKind::kWait, {}};
  uint64_t time = 1'000'000'000'000;
  for (uint64_t i = 0; i < kRows; ++i) {
    const uint32_t duration = static_cast<uint32_t>(500 + random() % 20'000);
    time += duration + random() % 30'000;
    const uint64_t object = 0x55d0c0de0000 + random() % 6 * 0x40;
    stream.records.push_back({time, duration, static_cast<uint8_t>(RecordKind::kWait), 0,
                              static_cast<uint16_t>(random() % 5 == 0 ? 4 : 1), object,
                              0x7f00aabb0000 + random() % 9 * 0x123});
  }
  return stream;
}

Stream MakeStream(int which) {
  switch (which) {
    case 0:
      return HeapStream(false);
    case 1:
      return HeapStream(true);
    case 2:
      return OpStream();
    default:
      return WaitStream();
  }
}
const char* StreamName(int which) {
  const char* const names[] = {"heap, coarse clock", "heap, exact clock", "ops", "waits"};
  return names[which];
}

// A ring in memory that holds the whole stream.
class MemoryRing {
 public:
  explicit MemoryRing(const Stream& stream) {
    const size_t bytes = proto::kRingHeaderBytes + stream.records.size() * proto::kRecordBytes;
    memory_.reset(static_cast<char*>(std::aligned_alloc(proto::kPageBytes, bytes)));
    std::memset(memory_.get(), 0, bytes);
    ring()->capacity = static_cast<uint32_t>(stream.records.size());
    ring()->track = 1;
    for (const Record& record : stream.records) proto::RingWrite(ring(), record);
  }
  proto::RingHeader* ring() { return reinterpret_cast<proto::RingHeader*>(memory_.get()); }

 private:
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  std::unique_ptr<char, Free> memory_;
};

std::string TempPath(const char* name) {
  const char* folder = std::getenv("TMPDIR");
  return std::string(folder != nullptr ? folder : "/tmp") + "/gpuprof-bench-" +
         std::to_string(getpid()) + "-" + name;
}

std::vector<uint8_t> ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

double RowsDone(const benchmark::State& state, uint64_t rows) {
  return static_cast<double>(state.iterations()) * static_cast<double>(rows);
}

// Ring records to columns: what the drain thread does for each row before compression.
void BM_SortRecords(benchmark::State& state) {
  const int which = static_cast<int>(state.range(0));
  MemoryRing ring(MakeStream(which));
  InternTables tables(1000, 1000, 1000);
  RecordSorter sorter(1, kShift, &tables);
  std::vector<uint8_t> bytes;
  uint64_t raw = 0;
  while (state.KeepRunning()) {
    sorter.Consume(ring.ring(), 0, kRows, nullptr);
    bytes.clear();
    for (const auto& builder : sorter.builders()) builder->Finish(1, &bytes);
    raw = bytes.size();
  }
  state.SetLabel(StreamName(which));
  state.counters["per_row"] = benchmark::Counter(
      RowsDone(state, kRows), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["raw_bytes_per_row"] = static_cast<double>(raw) / static_cast<double>(kRows);
}
BENCHMARK(BM_SortRecords)->DenseRange(0, 3)->Unit(benchmark::kMillisecond);

// The whole of the drain's work: records, columns, zstd, write.
void BM_DrainToFile(benchmark::State& state) {
  const int which = static_cast<int>(state.range(0));
  MemoryRing ring(MakeStream(which));
  InternTables tables(1000, 1000, 1000);
  RecordSorter sorter(1, kShift, &tables);
  const std::string path = TempPath("drain.gpt");
  unlink(path.c_str());
  TraceWriter writer;
  if (!writer.Create(path.c_str(), {})) return state.SkipWithError("cannot create the file");
  while (state.KeepRunning()) {
    sorter.Consume(ring.ring(), 0, kRows, nullptr);
    for (const auto& builder : sorter.builders()) writer.WriteEvents(builder.get(), 1, kRows);
    if (writer.bytes_written() > 256u << 20) {
      state.PauseTiming();
      unlink(path.c_str());
      if (!writer.Create(path.c_str(), {})) state.SkipWithError("cannot create the file");
      state.ResumeTiming();
    }
  }
  state.SetLabel(StreamName(which));
  state.counters["per_row"] = benchmark::Counter(
      RowsDone(state, kRows), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["bytes_per_row"] =
      static_cast<double>(writer.bytes_written()) / static_cast<double>(writer.rows_written());
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kRows * sizeof(Record)));
  writer.Close();
  unlink(path.c_str());
}
BENCHMARK(BM_DrainToFile)->DenseRange(0, 3)->Unit(benchmark::kMillisecond);

// Blocks of a file to columns, one core.
void BM_ReadEvents(benchmark::State& state) {
  const int which = static_cast<int>(state.range(0));
  const std::string path = TempPath("read.gpt");
  unlink(path.c_str());
  {
    MemoryRing ring(MakeStream(which));
    InternTables tables(1000, 1000, 1000);
    RecordSorter sorter(1, kShift, &tables);
    TraceWriter writer;
    if (!writer.Create(path.c_str(), {})) return state.SkipWithError("cannot create the file");
    for (int i = 0; i < 8; ++i) {
      sorter.Consume(ring.ring(), 0, kRows, nullptr);
      for (const auto& builder : sorter.builders()) writer.WriteEvents(builder.get(), 1, kRows);
    }
  }
  const std::vector<uint8_t> file = ReadAll(path);
  unlink(path.c_str());
  BlockDecoder decoder;
  EventColumns columns;
  uint64_t rows = 0;
  while (state.KeepRunning()) {
    TraceScan scan;
    if (!Scan(file.data(), file.size(), &scan)) return state.SkipWithError("not a trace");
    for (const BlockRef& block : scan.blocks) {
      Fault fault;
      if (!decoder.DecodeEvents(file.data(), block, &columns, &fault))
        return state.SkipWithError(fault.what.c_str());
      rows += columns.count;
      benchmark::DoNotOptimize(columns.column[0].data());
    }
  }
  state.SetLabel(StreamName(which));
  state.SetItemsProcessed(static_cast<int64_t>(rows));
  state.counters["per_row"] = benchmark::Counter(
      static_cast<double>(rows), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(BM_ReadEvents)->DenseRange(0, 3)->Unit(benchmark::kMillisecond);

// Stacks of 20 frames, of which the outer ones are shared, as the sorter sees them.
void BM_InternStacks(benchmark::State& state) {
  std::mt19937_64 random(4);
  std::vector<std::vector<uint64_t>> stacks(2000);
  for (auto& stack : stacks) {
    for (int i = 0; i < 20; ++i) {
      stack.push_back(0x7f0000000000 + static_cast<uint64_t>(i) * 4096 +
                      (i < 6 ? random() % 5 : 0));
    }
  }
  InternTables tables(1 << 20, 10, 10);
  size_t at = 0;
  while (state.KeepRunning()) {
    const auto& stack = stacks[at++ % stacks.size()];
    benchmark::DoNotOptimize(tables.InternStack(stack.data(), 20));
  }
}
BENCHMARK(BM_InternStacks);

// A dead process's ring file to a finished trace.
void BM_Recover(benchmark::State& state) {
  const Stream stream = HeapStream(false);
  const uint64_t header_bytes = (sizeof(proto::RingFileHeader) + proto::kPageBytes - 1) /
                                proto::kPageBytes * proto::kPageBytes;
  const uint64_t ring_bytes = proto::kRingHeaderBytes + kRows * proto::kRecordBytes;
  constexpr uint32_t kRings = 8;
  std::vector<char> image(header_bytes + kRings * ring_bytes);
  // Built in aligned memory, then copied: the header types ask for it.
  MemoryRing ring(stream);
  ring.ring()->magic = proto::kRingMagic;
  const auto header = std::make_unique<proto::RingFileHeader>();
  header->magic = proto::kRingFileMagic;
  header->version = proto::kRingFileVersion;
  header->ticks_per_second = 1'000'000'000;
  for (uint32_t i = 0; i < kRings; ++i) {
    ring.ring()->track = i + 1;
    header->directory[i].offset.store(header_bytes + i * ring_bytes);
    header->directory[i].bytes = ring_bytes;
    std::memcpy(image.data() + header_bytes + i * ring_bytes, static_cast<const void*>(ring.ring()),
                ring_bytes);
  }
  std::memcpy(image.data(), static_cast<const void*>(header.get()), sizeof *header);
  const std::string stem = TempPath("p2147483646-1");
  uint64_t rows = 0;
  while (state.KeepRunning()) {
    state.PauseTiming();
    unlink((stem + proto::kTraceSuffix).c_str());
    std::ofstream(stem + proto::kRingSuffix, std::ios::binary)
        .write(image.data(), static_cast<std::streamsize>(image.size()));
    state.ResumeTiming();
    const RecoverResult result = Recover(stem, -1);
    if (!result.ok) return state.SkipWithError(result.error.c_str());
    rows += result.rows_added;
  }
  unlink((stem + proto::kTraceSuffix).c_str());
  state.SetItemsProcessed(static_cast<int64_t>(rows));
  state.SetBytesProcessed(static_cast<int64_t>(rows * sizeof(Record)));
}
BENCHMARK(BM_Recover)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gpuprof::codec

BENCHMARK_MAIN();
