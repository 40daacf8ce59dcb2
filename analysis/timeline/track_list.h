// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The tracks of a trace in the order of the page: those of devices first, then those of threads.
// Internal to analysis/timeline; one thread.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/derived/call_index.h"
#include "analysis/derived/origin.h"
#include "analysis/derived/row_details.h"
#include "analysis/steps/op_tree.h"
#include "analysis/timeline/curves.h"
#include "analysis/timeline/names.h"
#include "analysis/timeline/span_rows.h"
#include "analysis/timeline/timeline.h"

namespace gpuprof::analysis::timeline {

// What is derived of one process, each made on first use. The process must outlive it.
class Derived {
 public:
  explicit Derived(const Process& process) : process_(&process) {}

  ProcessOps& ops() {
    if (ops_ == nullptr) ops_ = std::make_unique<ProcessOps>(*process_);
    return *ops_;
  }
  const CallIndex& calls() {
    if (calls_ == nullptr) calls_ = std::make_unique<CallIndex>(*process_);
    return *calls_;
  }
  RowDetails& details() {
    if (details_ == nullptr) details_ = std::make_unique<RowDetails>(*process_);
    return *details_;
  }
  Origin& origins() {
    if (origins_ == nullptr) origins_ = std::make_unique<Origin>(&ops(), calls());
    return *origins_;
  }

 private:
  const Process* process_;
  std::unique_ptr<ProcessOps> ops_;
  std::unique_ptr<CallIndex> calls_;
  std::unique_ptr<Origin> origins_;
  std::unique_ptr<RowDetails> details_;
};

// Steps as rows. No table of the trace has them.
struct StepRows {
  Column<int64_t> end_ns, duration_ns;
  Column<uint32_t> number;
};

struct TrackDraft {
  TrackInfo info;                // without id and depth
  uint32_t number = 0;           // of the thread or stream in its file
  std::vector<uint32_t> tracks;  // indices in Process::tracks
  std::vector<RowTable> tables;
  std::vector<LeftOutRows> left_out;
  std::function<Curve()> curve;  // empty: the track has spans
  std::string unit;
};

class TrackList {
 public:
  // Keeps all of these. They must outlive the list, and what is made of its drafts. `processes`:
  // with the samplers.
  TrackList(const Trace& trace, const std::vector<const Process*>& processes, NameTable* names,
            KernelNames* kernels, std::vector<Derived>* derived, const TimelineOptions& options)
      : trace_(&trace),
        processes_(&processes),
        names_(names),
        kernels_(kernels),
        derived_(derived),
        options_(&options) {}

  // Returns all tracks. Notes what had to be left out in `faults`.
  std::vector<TrackDraft> Make(std::vector<std::string>* faults);

  KeyNames* NamesOf(uint32_t process, proto::ChunkKind kind);
  // Returns the name of a stream, with its context if its device has several.
  std::string StreamName(uint32_t process, const Track& track);

 private:
  void AddSpans(uint32_t process, uint32_t track, TrackKind kind);
  void AddCounters(uint32_t process, uint32_t track);
  void AddQueues(uint32_t process);
  void PackGraphStreams(uint32_t process);
  void AddMemory(uint32_t process);
  void AddSteps();
  TrackDraft& AddDraft(uint32_t process, TrackKind kind, std::string name);
  std::optional<uint32_t> DeviceOf(uint32_t process, const Track& track) const;
  uint64_t RowsOf(uint32_t process, TrackKind kind) const;

  const Trace* trace_;
  const std::vector<const Process*>* processes_;
  NameTable* names_;
  KernelNames* kernels_;
  std::vector<Derived>* derived_;
  const TimelineOptions* options_;
  std::vector<TrackDraft> drafts_;
  std::deque<StepRows> steps_;  // their places stay
  std::map<std::pair<uint32_t, proto::ChunkKind>, std::unique_ptr<KeyNames>> key_names_;
  std::map<std::pair<uint32_t, uint32_t>, size_t> contexts_;  // by process and device
};

// Returns whether a track shows work of a device.
inline bool IsWork(TrackKind kind) {
  return kind == TrackKind::kStream || kind == TrackKind::kGraphLane;
}

}  // namespace gpuprof::analysis::timeline
