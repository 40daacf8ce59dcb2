// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The origin of a piece of the GPU's work: the call that launched it, the framework's operation,
// the call stack, and the step. The correlation id leads from the work to the call. Some sources
// give each call the id of its operation, which leads on. Otherwise the operation is the innermost
// one that the thread was in. The step is the one in which the call began.
//
// A node of a CUDA graph has an owner, too: the operation in which the program made the node, often
// by capturing a stream. The launch of the graph says nothing about the owner.
//
// Made for one process and used on one thread. The process, its operations, and its calls must
// outlive it.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/base/ancestors.h"
#include "analysis/derived/call_index.h"
#include "analysis/derived/device_work.h"
#include "analysis/derived/launch_stacks.h"
#include "analysis/steps/op_tree.h"
#include "analysis/steps/step_summary.h"

namespace gpuprof::analysis {

struct OpRef {
  uint32_t track = 0;  // index in Process::tracks
  uint32_t row = 0;    // in its table of operations
  bool operator==(const OpRef&) const = default;
};

struct WorkOrigin {
  std::optional<Call> call;      // none: the call was not recorded
  std::optional<OpRef> op;       // none: the work was launched outside of all operations
  uint32_t stack = 0;            // in Process::stacks; 0: no stack was taken
  std::optional<uint32_t> step;  // index in the steps; none: outside of all steps
  bool in_graph = false;         // a node of a CUDA graph: its owner and stack are of the capture
  bool is_making_known = false;  // of a node: the recording has the moment in which it was made
  std::optional<OpRef> owner;    // none: not known; `op`, except for nodes of graphs
};

class Origin {
 public:
  Origin(ProcessOps* ops, const CallIndex& calls);

  // Finds all about a row of device work. Takes the steps in the order of their starts.
  WorkOrigin Of(const DeviceWork& work, std::span<const Step> steps = {});

  // Finds the operation of a row of device work. `external`: the row's own id of its operation; 0:
  // none. None: the work was launched outside of all operations, or by a call that was not
  // recorded.
  std::optional<OpRef> Find(uint32_t correlation, uint64_t external);

  // Finds the operation that a row of device work is a part of. Nodes of CUDA graphs are part of
  // the operation in which they were captured. For other work see Find. None: not known.
  std::optional<OpRef> Owner(const DeviceWork& work);

  // Finds the step that a moment is in.
  static std::optional<uint32_t> StepAt(std::span<const Step> steps, int64_t time_ns);

  // Finds the innermost operation that a thread was in at a moment.
  std::optional<OpRef> Innermost(uint32_t track, int64_t time_ns);

 private:
  // The moment in which a thread made a node.
  struct Making {
    uint32_t track = 0;
    int64_t time_ns = 0;
  };
  void NoteExternals();
  std::optional<OpRef> OpOf(const std::optional<Call>& launch, uint64_t external);
  bool IsInGraph(const DeviceWork& work, const std::optional<Call>& launch);
  std::optional<Making> MakingOf(const DeviceWork& work);
  uint32_t StackAt(const Making& making) const;

  ProcessOps* ops_;
  const CallIndex* calls_;
  std::optional<LaunchStacks> stacks_;                              // made on first use
  std::optional<std::unordered_map<uint64_t, OpRef>> by_external_;  // made on first use
  std::unordered_map<int32_t, uint32_t> track_of_thread_;           // made on first use
  std::unordered_map<uint32_t, bool> launches_graph_;               // by function
  std::vector<std::vector<uint32_t>> by_start_;  // rows of a track, by their start
  std::vector<size_t> begun_;                    // of them, at the last moment asked for
  std::vector<NearestAncestor> around_;          // by track
};

}  // namespace gpuprof::analysis
