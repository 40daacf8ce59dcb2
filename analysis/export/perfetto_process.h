// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One process as a sequence of packets of a Perfetto trace: its tracks, slices, arrows, counters
// and samples. One thread.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/export/perfetto_stacks.h"
#include "analysis/export/perfetto_writer.h"
#include "analysis/export/places.h"
#include "analysis/passes/context.h"

namespace gpuprof::analysis {

class PerfettoProcess {
 public:
  // Uses the context. `index`: in Trace::processes. `pids`: those that the file has already; others
  // of the same number are shown without one.
  PerfettoProcess(PassContext& context, size_t index, std::set<int32_t>* pids, PerfettoWriter* out);

  void Write();
  uint64_t steps() const { return steps_; }
  // Returns how many samples of threads that waited were left out.
  uint64_t samples_left_out() const { return samples_left_out_; }

 private:
  void TakeSlices();
  void TakeWaits(const Track& track);
  void TakePauses(const Track& track);
  void TakeReads(const Track& track);
  void WriteTracks();
  void WriteRow(const Slices::RowKey& key, const std::vector<uint32_t>& row);
  PerfettoTrack RowTrack(const Slices::RowKey& key);
  void WriteLane(uint64_t track, const Lane& lane);
  void WriteSteps();
  void WriteCounters(const Track& track);
  void WriteTensorCounters();
  void WriteSamples();
  uint64_t CounterTrack(uint64_t parent, const std::string& name, const std::string& unit);
  uint64_t DeviceTrack(const std::string& pid, uint32_t device);
  const Track* StreamOf(uint32_t device, int64_t stream) const;
  const Track* ThreadOf(int64_t tid) const;
  uint64_t NextTrack() { return process_track_ + ++tracks_; }

  PassContext& context_;
  const size_t index_;
  const Process& process_;
  const bool is_imported_;
  PerfettoWriter& out_;
  Places places_;
  PerfettoSlices slices_;
  PerfettoStacks stacks_;
  bool has_pid_;
  uint64_t process_track_;
  uint64_t tracks_ = 0;
  std::map<std::string, uint64_t, std::less<>> devices_;  // tracks, by pid of the place
  std::map<std::pair<uint64_t, std::string>, uint64_t> counters_;
  size_t next_arrow_ = 0;
  uint64_t steps_ = 0, samples_left_out_ = 0;
};

// Writes the counters of a sampler. Returns how many rows have no place.
uint64_t WritePerfettoSampler(const Process& sampler, uint64_t first_track, PerfettoWriter* out);

}  // namespace gpuprof::analysis
