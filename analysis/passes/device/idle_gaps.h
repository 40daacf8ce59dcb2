// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The gaps of the devices that one process used (device_gaps.h), for the passes `idle` and
// `overview`. Gaps before the first work, behind the last and between captures do not count. One
// thread; the context must outlive it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/derived/leaf_spans.h"
#include "analysis/derived/origin.h"
#include "analysis/passes/context.h"
#include "analysis/passes/device/device_gaps.h"
#include "analysis/passes/device/device_steps.h"
#include "analysis/steps/interval.h"
#include "proto/results/idle.pb.h"

namespace gpuprof::analysis {

// A gap without its words: there may be millions.
struct IdleSpan {
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  int64_t late_ns = 0;           // before the launch of the next work began, seen
  uint32_t device = 0;           // the process's number
  uint32_t place = 0;            // in the gaps of the device's timeline
  uint32_t during_op = 0;        // a string: where the launching thread was most of `late_ns`;
  uint32_t during_function = 0;  // 0: in none
};

// What threads were in for most of a time, and the sums of all times by name.
class NamesDuring {
 public:
  struct Share {
    int64_t ns = 0;
    uint64_t gaps = 0;
  };
  using Shares = std::map<std::string, Share>;

  explicit NamesDuring(const Process& process) : process_(&process) {}

  void Add(uint32_t name, int64_t ns);
  // Ends a time. Returns the name with most time; of equal names the first by the alphabet. 0:
  // there was no name.
  uint32_t Finish();
  void AddTo(Shares* shares) const;

 private:
  const Process* process_;
  std::unordered_map<uint32_t, Share> all_;
  std::vector<std::pair<uint32_t, int64_t>> here_;  // few
};

class IdleGaps {
 public:
  IdleGaps(PassContext& context, size_t index);
  IdleGaps(const IdleGaps&) = delete;
  IdleGaps& operator=(const IdleGaps&) = delete;

  // Returns the gaps of a process. Those of much work are made anew for each caller.
  static std::shared_ptr<IdleGaps> Of(PassContext& context, size_t index);

  const Process& process() const { return *process_; }
  // Returns the gaps by device and time.
  const std::vector<IdleSpan>& spans() const { return spans_; }
  // Returns what the launching threads were in while devices waited for launches.
  const NamesDuring& ops() const { return in_ops_; }
  const NamesDuring& functions() const { return in_functions_; }

  // Returns the time from a moment to the first work of a device as a gap. None: it worked before.
  std::optional<IdleSpan> Before(uint32_t device, int64_t from_ns);

  // Adds the sums of each device, and a note for each that may have had work that is not recorded.
  void AddDevices(results::Idle* out) const;
  // Calls op(name, ns) and function(name, ns) for what the launching thread was in while a gap
  // waited for its launch.
  template <typename Op, typename Function>
  void ForEachLate(const IdleSpan& span, Op&& op, Function&& function);
  // Divides a gap by its causes.
  DeviceTimes TimesOf(const IdleSpan& span) const;
  // Describes a gap. The short name is not filled.
  results::IdleGap Describe(const IdleSpan& span);

 private:
  using Leaves = std::unordered_map<uint32_t, std::vector<LeafSpan>>;  // by track

  IdleSpan SpanOf(uint32_t device, Interval time, uint32_t place, NamesDuring* in_ops,
                  NamesDuring* in_functions);
  DeviceGap GapOf(const IdleSpan& span) const;
  const std::vector<LeafSpan>& OpLeaves(uint32_t track);
  const std::vector<LeafSpan>& FunctionLeaves(uint32_t track);
  void AddHtaClasses(uint32_t device, results::IdleDevice* sums) const;
  void DescribeLaunch(const Call& launch, results::IdleGap* row);

  const Process* process_;
  ProcessOps* ops_;
  const CallIndex* calls_;
  const std::vector<Step>* steps_;
  Origin* origin_;
  std::shared_ptr<const ProcessDevices> devices_;
  std::map<uint32_t, DeviceGaps> gaps_;  // by device
  Leaves op_leaves_, function_leaves_;   // made on first use
  NamesDuring in_ops_, in_functions_;
  std::map<uint32_t, std::vector<Interval>> host_functions_;  // by device
  std::vector<IdleSpan> spans_;
};

template <typename Op, typename Function>
void IdleGaps::ForEachLate(const IdleSpan& span, Op&& op, Function&& function) {
  const DeviceGap gap = GapOf(span);
  const Interval late = {gap.span.start, gap.HostUntil()};
  if (!gap.launch || late.length() <= 0) return;
  const Track& thread = process_->tracks[gap.launch->track];
  ForEachSeenPart(late, gaps_.at(span.device).unseen(), [&](Interval part) {
    ForEachLeafIn(OpLeaves(gap.launch->track), part, [&](uint32_t row, int64_t ns) {
      // The range of a step is not an operation.
      const uint32_t name = thread.op.name[row];
      if (ops_->name_kind(name) != NameKind::kAnnotation) op(name, ns);
    });
    ForEachLeafIn(FunctionLeaves(gap.launch->track), part,
                  [&](uint32_t row, int64_t ns) { function(thread.python.name[row], ns); });
  });
}

}  // namespace gpuprof::analysis
