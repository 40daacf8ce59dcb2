// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the drain does with CUPTI's records, from a filled buffer to chunks ready for the file: by
// record, on one thread, with nothing beside it. Launches of a program of the runtime's, as CUPTI
// tells of them: a kernel, the call, and the driver's call inside of it, in any order.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tracer/cupti/activity_sorter.h"

namespace gpuprof::tracer::cupti {
namespace {

// Sizes of CUDA 13's records.
constexpr size_t kKernelBytes = 208, kApiBytes = 40;
constexpr size_t kLaunchesInBuffer = (1u << 20) / (kKernelBytes + 2 * kApiBytes);
constexpr size_t kBuffers = 16;
constexpr uint32_t kRuntimeId = 211, kDriverId = 307;  // cudaLaunchKernel, cuLaunchKernel

template <typename Value>
void Put(std::vector<uint8_t>* record, size_t offset, Value value) {
  std::memcpy(record->data() + offset, &value, sizeof(value));
}

std::vector<uint8_t> Kernel(uint64_t time, uint32_t id, uint32_t stream, const char* name) {
  std::vector<uint8_t> record(kKernelBytes);
  Put(&record, 0, static_cast<uint32_t>(Activity::kConcurrentKernel));
  Put(&record, kernel::kStart, time + 4000);
  Put(&record, kernel::kEnd, time + 9000 + id % 97);
  Put(&record, kernel::kContext, uint32_t{1});
  Put(&record, kernel::kStream, stream);
  Put(&record, kernel::kGrid, id % 8 * 16 + 1);
  Put(&record, kernel::kBlock, uint32_t{256});
  Put(&record, kernel::kCorrelation, id);
  Put(&record, kernel::kName, name);
  return record;
}

std::vector<uint8_t> Call(Activity kind, uint32_t function, uint64_t start, uint64_t end,
                          uint32_t id) {
  std::vector<uint8_t> record(kApiBytes);
  Put(&record, 0, static_cast<uint32_t>(kind));
  Put(&record, api::kCallbackId, function);
  Put(&record, api::kStart, start);
  Put(&record, api::kEnd, end);
  Put(&record, api::kThread, uint32_t{77});
  Put(&record, api::kCorrelation, id);
  return record;
}

// The next record, as cuptiActivityGetNextRecord finds it.
int Next(uint8_t* buffer, size_t valid, void** record) {
  const auto bytes_of = [](const uint8_t* at) {
    uint32_t kind = 0;
    std::memcpy(&kind, at, sizeof(kind));
    return kind == static_cast<uint32_t>(Activity::kConcurrentKernel) ? kKernelBytes : kApiBytes;
  };
  auto* at = static_cast<uint8_t*>(*record);
  at = at == nullptr ? buffer : at + bytes_of(at);
  if (at >= buffer + valid) return kMaxLimitReached;
  *record = at;
  return kSuccess;
}

class Tracks : public ThreadTracks {
 public:
  Answer TrackAt(uint32_t, uint64_t) override { return {++last_, 0, UINT64_MAX}; }
  uint32_t NewTrack() override { return ++last_; }

 private:
  uint32_t last_ = 0;
};

struct Load {
  std::vector<std::string> names;
  std::vector<std::vector<uint8_t>> buffers;
  uint64_t records = 0;
};

Load MakeLoad(size_t name_bytes, uint32_t streams, bool is_shuffled) {
  Load load;
  for (char letter = 'a'; letter < 'a' + 20; ++letter)
    load.names.push_back("kernel_" + std::string(name_bytes - 8, letter) + letter);
  std::mt19937 random(7);
  uint64_t time = 1'750'000'000'000'000'000;
  uint32_t id = 0;
  for (size_t i = 0; i < kBuffers; ++i) {
    std::vector<std::vector<uint8_t>> records;
    for (size_t launch = 0; launch < kLaunchesInBuffer; ++launch, time += 1000) {
      ++id;
      records.push_back(Call(Activity::kDriver, kDriverId, time + 100, time + 600 + id % 13, id));
      records.push_back(Call(Activity::kRuntime, kRuntimeId, time, time + 700 + id % 31, id));
      records.push_back(Kernel(time, id, 7 + id % streams, load.names[id % 20].c_str()));
    }
    if (is_shuffled) std::shuffle(records.begin(), records.end(), random);
    std::vector<uint8_t>& buffer = load.buffers.emplace_back();
    for (const auto& record : records) buffer.insert(buffer.end(), record.begin(), record.end());
    load.records += records.size();
  }
  return load;
}

void Drain(benchmark::State& state) {
  const Load load = MakeLoad(static_cast<size_t>(state.range(0)),
                             static_cast<uint32_t>(state.range(1)), state.range(2) != 0);
  FunctionNames names;
  names.name[kRuntimeApi][kRuntimeId] = "cudaLaunchKernel_v7000";
  names.name[kDriverApi][kDriverId] = "cuLaunchKernel";
  names.is_recorded[kRuntimeApi][kRuntimeId] = names.is_recorded[kDriverApi][kDriverId] = true;
  codec::InternTables strings(1000, 1000, 1 << 20);
  Tracks tracks;
  ActivitySorter sorter(&strings, &tracks);
  std::vector<std::vector<uint8_t>> buffers = load.buffers;
  std::vector<uint8_t> out;
  uint64_t rows = 0, bytes = 0;
  for (auto _ : state) {
    for (std::vector<uint8_t>& buffer : buffers) {
      sorter.Consume({buffer.data(), buffer.size(), 0}, Next, names);
      sorter.Release(1, 1'000'000'000, /*all=*/false, names);
      if (sorter.rows() < 65536) continue;
      for (const auto& table : sorter.buffers()) {
        if (table->count() == 0) continue;
        rows += table->count();
        out.clear();
        table->Encode()->Finish(1, &out);
        bytes += out.size();
        benchmark::DoNotOptimize(out.data());
      }
      sorter.RowsAreWritten();
    }
  }
  state.SetItemsProcessed(static_cast<int64_t>(load.records * state.iterations()));
  state.counters["ns_record"] =
      benchmark::Counter(static_cast<double>(load.records * state.iterations()) * 1e-9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["bytes_row"] = static_cast<double>(bytes) / static_cast<double>(rows);
}
BENCHMARK(Drain)
    ->ArgNames({"name_bytes", "streams", "shuffled"})
    ->Args({60, 1, 1})
    ->Args({60, 1, 0})
    ->Args({600, 1, 1})
    ->Args({600, 16, 1});

}  // namespace
}  // namespace gpuprof::tracer::cupti

BENCHMARK_MAIN();
