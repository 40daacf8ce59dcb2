// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Writes the rows of an imported process as blocks of a trace file. Ticks are nanoseconds, and
// every time comes back as it is in the model. One thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "analysis/model/trace.h"
#include "proto/codec/chunk_builder.h"
#include "proto/codec/trace_writer.h"

namespace gpuprof::analysis {

// The first capture of an imported process, which its tables are of. Files that were joined to one
// process are a capture each.
inline constexpr uint32_t kImportedCapture = 1;

// Returns the tick of a time of the bundle.
constexpr uint64_t ImportedTick(int64_t time_ns) {
  return static_cast<uint64_t>(time_ns) + proto::kImportedZeroTick;
}
// Times outside of these have no tick, or none that comes back as the same time.
inline constexpr int64_t kEarliestImportedNs = 1 - static_cast<int64_t>(proto::kImportedZeroTick);
inline constexpr int64_t kLatestImportedNs = int64_t{1} << 61;

class RowBlocks {
 public:
  // Takes the process whose rows are written.
  RowBlocks(const Process& process, codec::TraceWriter* writer)
      : process_(process), writer_(writer) {}

  // Writes the rows of a track. Returns empty, or which rows the file cannot hold.
  std::string Write(const Track& track);
  // Returns the errno of the first block that could not be written; 0: all were written.
  int error() const { return error_; }

 private:
  template <typename Fill>
  void Rows(proto::ChunkKind kind, size_t rows, Fill fill);
  uint64_t Time(int64_t time_ns);
  template <typename Table>
  void Span(const Table& table, size_t i, uint64_t* row);
  template <typename Table>
  void Work(const Table& table, size_t i, uint64_t* row);
  uint32_t CaptureAt(uint64_t tick) const;
  void Flush(uint32_t capture, codec::ChunkBuilder* builder);

  void Ops(const OpTable& t);
  void Python(const PythonTable& t);
  void Tensors(const TensorTable& t);
  void Counters(const CounterTable& t);
  void Ranges(const RangeTable& t);
  void Launches(const LaunchTable& t);
  void Kernels(const KernelTable& t);
  void Copies(const MemcpyTable& t);
  void Sets(const MemsetTable& t);
  void GraphLaunches(const GraphLaunchTable& t);
  void Calls(const ApiTable& t);
  void HostWaits(const WaitTable& t);
  void Waits(const SyncTable& t);
  void Overheads(const OverheadTable& t);
  void Events(const CudaEventTable& t);
  void Details(const Track& track);

  const Process& process_;
  codec::TraceWriter* writer_;
  uint32_t track_ = 0;
  bool is_time_far_ = false;
  int error_ = 0;
};

}  // namespace gpuprof::analysis
