// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Copies and memsets in steps: of pageable memory, of calls that wait, small ones in a row, and
// bytes that go to the host and come back. See fact_source.h.

#include <algorithm>
#include <map>
#include <vector>

#include "analysis/advice/facts/fact_source.h"
#include "analysis/model/names.h"
#include "proto/operations.h"

namespace gpuprof::analysis {
namespace {

// CUpti_ActivityMemcpyKind and CUpti_ActivityMemoryKind.
constexpr uint8_t kHtoD = 1, kDtoH = 2;
constexpr uint8_t kPageable = 1;
// A copy takes at least one part in so many of the call that it holds up.
constexpr int64_t kLeastPartOfCall = 10;

// Copies of one kind, with the nodes that the graph is asked about.
struct CopyGroup {
  Pieces pieces;
  std::vector<uint32_t> nodes;
  int64_t host_ns = 0;  // in the calls that launched them
};

class CopyFinder {
 public:
  CopyFinder(FactSource& source) : source_(source) {}  // NOLINT(google-explicit-constructor)

  void Find(DeviceFacts* facts) {
    CollectCopies();
    FindSmall();
    FindPingPong();
    facts->pageable_copies = Finish(pageable_);
    facts->sync_copies = Finish(sync_);
    facts->small_copies = Finish(small_);
    facts->returned_copies = Finish(returned_);
    facts->memsets = Finish(sets_);
    facts->copies = std::move(all_.pieces);
  }

 private:
  uint32_t OperationOf(uint32_t node) const {
    const DependencyNode& n = source_.nodes()[node];
    return source_.process().tracks[n.track].memcpy.operation[n.row];
  }
  uint64_t BytesOf(uint32_t node) const {
    const DependencyNode& n = source_.nodes()[node];
    const Track& track = source_.process().tracks[n.track];
    const uint64_t bytes =
        n.work == DeviceWorkKind::kSet ? track.memset.bytes[n.row] : track.memcpy.bytes[n.row];
    return bytes == kUnknownBytes ? 0 : bytes;
  }

  void Add(uint32_t node, CopyGroup* group) {
    const DependencyNode& n = source_.nodes()[node];
    group->nodes.push_back(node);
    if (const std::optional<Call> call = source_.LaunchOf(n))
      group->host_ns += call->end_ns - call->start_ns;
    group->pieces.Add(n.span.length(), BytesOf(node), [&] {
      const bool is_set = n.work == DeviceWorkKind::kSet;
      return source_.InstanceOf(
          n, is_set ? "memset" : std::string(CopyKindName(proto::CopyKindOf(OperationOf(node)))));
    });
  }

  // Returns whether the call that made a copy lasted until the copy had ended. What the call is
  // named says little: copies of pageable memory wait in any call, those of pinned memory in few.
  bool HoldsUpHost(const DependencyNode& copy) const {
    constexpr int64_t kClockErrorNs = 20'000;
    const std::optional<Call> call = source_.LaunchOf(copy);
    if (!call) return false;
    const int64_t call_ns = call->end_ns - call->start_ns;
    // The call waited for the work before the copy: that is a wait, and no cost of the copy.
    if (copy.span.length() * kLeastPartOfCall < call_ns) return false;
    const int64_t slack = std::min(kClockErrorNs, call_ns / 5);
    // The end of a copy from pageable memory lies behind the call: its last piece was staged.
    const int64_t both =
        std::min(call->end_ns, copy.span.end) - std::max(call->start_ns, copy.span.start);
    return call->end_ns + slack >= copy.span.end || 2 * both >= copy.span.length();
  }

  bool IsAsync(const DependencyNode& copy) {
    if (proto::IsAsyncCopy(source_.process().tracks[copy.track].memcpy.operation[copy.row]))
      return true;
    const std::optional<Call> call = source_.LaunchOf(copy);
    return call && source_.FunctionOf(call->track, call->row).find("Async") != std::string::npos;
  }

  void CollectCopies() {
    const auto small_from = static_cast<uint64_t>(source_.limits()("CP-002.min_bytes"));
    for (uint32_t n = 0; n < source_.nodes().size(); ++n) {
      const DependencyNode& node = source_.nodes()[n];
      if (node.kind != DependencyNode::Kind::kWork || !source_.Counts(node)) continue;
      if (node.work == DeviceWorkKind::kSet) Add(n, &sets_);
      if (node.work != DeviceWorkKind::kCopy) continue;
      copies_.push_back(n);
      Add(n, &all_);
      const uint32_t operation = OperationOf(n);
      const uint8_t kind = proto::CopyKindOf(operation);
      if (kind != kHtoD && kind != kDtoH) continue;
      // Small copies to the device are put into the command itself.
      const bool is_small = kind == kHtoD && BytesOf(n) <= small_from;
      if (is_small || !HoldsUpHost(node)) continue;
      const bool is_pageable = proto::CopySourceOf(operation) == kPageable ||
                               proto::CopyDestinationOf(operation) == kPageable;
      Add(n, is_pageable && IsAsync(node) ? &pageable_ : &sync_);
    }
  }

  // Finds runs of small copies of one direction on one stream that follow each other closely. The
  // first of each run has to be made anyway.
  void FindSmall() {
    const auto most_bytes = static_cast<uint64_t>(source_.limits()("CP-004.max_bytes"));
    const int64_t most_gap = source_.limits().Whole("CP-004.max_gap");
    const auto least = static_cast<size_t>(source_.limits()("CP-004.min_run"));
    std::map<std::pair<uint32_t, uint8_t>, std::vector<uint32_t>> runs;  // by track, direction
    const auto end_run = [&](std::vector<uint32_t>* run) {
      if (run->size() >= least)
        for (size_t i = 1; i < run->size(); ++i) Add((*run)[i], &small_);
      run->clear();
    };
    for (const uint32_t n : copies_) {
      const DependencyNode& node = source_.nodes()[n];
      const uint64_t bytes = BytesOf(n);
      std::vector<uint32_t>& run = runs[{node.track, proto::CopyKindOf(OperationOf(n))}];
      const bool is_small = bytes != 0 && bytes < most_bytes;
      const bool follows =
          !run.empty() && node.span.start - source_.nodes()[run.back()].span.end <= most_gap &&
          source_.StepAt(node.span.start) == source_.StepAt(source_.nodes()[run.back()].span.start);
      if (!is_small || !follows) end_run(&run);
      if (is_small) run.push_back(n);
    }
    for (auto& [key, run] : runs) end_run(&run);
  }

  // Finds bytes that are copied to the host and back within a step: the same number of them.
  void FindPingPong() {
    const auto least_bytes = static_cast<uint64_t>(source_.limits()("CP-006.min_bytes"));
    std::map<std::pair<uint64_t, uint64_t>, uint32_t> to_host;  // by step and bytes
    std::map<uint64_t, uint64_t> steps;                         // how many copies came back in each
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    for (const uint32_t n : copies_) {
      const DependencyNode& node = source_.nodes()[n];
      const std::optional<uint64_t> step = source_.StepAt(node.span.start);
      const uint64_t bytes = BytesOf(n);
      if (!step || bytes < least_bytes) continue;
      const uint8_t kind = proto::CopyKindOf(OperationOf(n));
      if (kind == kDtoH) to_host[{*step, bytes}] = n;
      if (kind != kHtoD) continue;
      const auto found = to_host.find({*step, bytes});
      if (found == to_host.end()) continue;
      pairs.emplace_back(found->second, n);
      to_host.erase(found);
      ++steps[*step];
    }
    // What happens in some steps only is chance, or an evaluation.
    const double part = Part(steps.size(), source_.steps().size());
    if (part < source_.limits()("CP-006.min_steps")) return;
    for (const auto& [from, to] : pairs) {
      Add(from, &returned_);
      Add(to, &returned_);
    }
  }

  static double Part(size_t part, size_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  }

  Pieces Finish(CopyGroup& group) const {
    if (!group.nodes.empty() && source_.IsWorthAsking(group.pieces.total_ns + group.host_ns)) {
      FreeNodes free = source_.graph().NoneFree();
      for (const uint32_t n : group.nodes) source_.graph().FreeWork(n, &free);
      group.pieces.saved_per_step_ns = source_.graph().SavedPerStep(free);
    }
    return std::move(group.pieces);
  }

  FactSource& source_;
  std::vector<uint32_t> copies_;  // by begin
  CopyGroup all_, pageable_, sync_, small_, returned_, sets_;
};

}  // namespace

void FillCopyFacts(FactSource& source, DeviceFacts* facts) { CopyFinder(source).Find(facts); }

}  // namespace gpuprof::analysis
