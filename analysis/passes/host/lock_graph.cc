// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The part of the pass `locks` that tells who waited for whom, when, and who waits for ever. See
// passes.h.

#include <algorithm>
#include <tuple>

#include "analysis/model/names.h"
#include "analysis/passes/host/call_stacks.h"
#include "analysis/passes/host/wait_graph.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/rows.h"
#include "proto/results/locks.pb.h"
#include "proto/results/meta.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr size_t kIntervals = 60;

// One process's waits.
struct Part {
  size_t process;
  std::vector<ContendedWait> waits;
};

void AddEdges(const Trace& trace, const Process& process, const std::vector<ContendedWait>& waits,
              results::Locks* out) {
  // waiter, holder, kind, object
  std::map<std::tuple<int32_t, int32_t, uint8_t, uint64_t>, results::LockEdge> edges;
  for (const ContendedWait& wait : waits) {
    if (wait.holder == 0 || wait.holder == wait.waiter) continue;
    results::LockEdge& edge = edges[{wait.waiter, wait.holder, wait.kind, wait.object}];
    const int64_t duration = wait.end_ns - wait.start_ns;
    edge.set_count(edge.count() + 1);
    edge.set_total_ns(edge.total_ns() + duration);
    edge.set_max_ns(std::max(edge.max_ns(), duration));
  }
  for (auto& [key, edge] : edges) {
    SetProcess(process, &edge);
    edge.set_waiter_tid(std::get<0>(key));
    edge.set_waiter(ThreadName(process, std::get<0>(key)));
    edge.set_holder_tid(std::get<1>(key));
    edge.set_holder(HolderName(trace, process, std::get<1>(key)));
    edge.set_kind(std::string(WaitKindName(std::get<2>(key))));
    edge.set_object(std::get<3>(key));
    *out->add_edges() = std::move(edge);
  }
}

void AddHolders(const Trace& trace, const Process& process, const std::vector<ContendedWait>& waits,
                results::Locks* out) {
  for (const auto& [tid, blame] : BlameHolders(waits)) {
    results::LockHolder* holder = out->add_holders();
    const Process& owner = HolderProcess(trace, process, tid);
    SetProcess(owner, holder);
    holder->set_tid(tid);
    holder->set_name(&owner != &process ? ThreadName(owner, tid) : HolderName(trace, process, tid));
    holder->set_direct_ns(blame.direct_ns);
    holder->set_root_ns(blame.root_ns);
    holder->set_waiter_count(static_cast<uint32_t>(blame.waiters.size()));
  }
}

// What one interval saw, to find the greatest of it.
struct Slice {
  int64_t waiting_ns = 0;
  // By process, object, caller and holder, 0 where it is not known: a lock is told with who held
  // it.
  std::map<std::tuple<size_t, uint64_t, uint64_t, int32_t>, int64_t> locks;
};

template <typename Map>
auto Greatest(const Map& map) {
  return std::max_element(map.begin(), map.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; });
}

std::vector<Slice> Cut(const std::vector<Part>& parts, int64_t start_ns, int64_t length_ns) {
  std::vector<Slice> slices(kIntervals);
  for (const Part& part : parts) {
    for (const ContendedWait& wait : part.waits) {
      const auto first =
          static_cast<size_t>(std::max<int64_t>(wait.start_ns - start_ns, 0) / length_ns);
      for (size_t i = first; i < kIntervals; ++i) {
        const int64_t from = start_ns + static_cast<int64_t>(i) * length_ns;
        if (from >= wait.end_ns) break;
        const int64_t ns = std::min(wait.end_ns, from + length_ns) - std::max(wait.start_ns, from);
        Slice& slice = slices[i];
        slice.waiting_ns += ns;
        slice.locks[{part.process, wait.object, wait.caller, wait.holder}] += ns;
      }
    }
  }
  return slices;
}

void AddIntervals(PassContext& context, const std::vector<Part>& parts, results::Locks* out) {
  const int64_t start = out->meta().window_start_ns();
  const int64_t length =
      (out->meta().window_end_ns() - start) / static_cast<int64_t>(kIntervals) + 1;
  std::vector<ContendedWait> all;
  for (const Part& part : parts) all.insert(all.end(), part.waits.begin(), part.waits.end());
  const std::vector<uint32_t> most = MostWaiters(all, start, length, kIntervals);
  const std::vector<Slice> slices = Cut(parts, start, length);
  for (size_t i = 0; i < kIntervals; ++i) {
    const Slice& slice = slices[i];
    results::LockInterval* interval = out->add_intervals();
    interval->set_start_ns(start + static_cast<int64_t>(i) * length);
    interval->set_length_ns(length);
    interval->set_waiting_ns(slice.waiting_ns);
    interval->set_waiting_ratio(static_cast<double>(slice.waiting_ns) /
                                static_cast<double>(length));
    interval->set_max_waiters(most[i]);
    if (!slice.locks.empty()) {
      const auto& [process, object, caller, holder] = Greatest(slice.locks)->first;
      results::Frame frame;
      frame.set_pc(caller);
      context.Resolve(process, caller, PcKind::kReturnAddress, &frame);
      interval->set_name(frame.name());
      interval->set_object(object);
      if (holder != 0) {
        interval->set_holder(HolderName(context.trace(), context.process(process), holder));
      }
    }
  }
}

void AddDeadlock(PassContext& context, size_t index, const std::vector<ContendedWait>& waits,
                 const WaitCircle& circle, results::Locks* out, CallStackTable* table) {
  const Process& process = context.process(index);
  results::Deadlock* deadlock = out->add_deadlocks();
  SetProcess(process, deadlock);
  deadlock->set_start_ns(circle.start_ns);
  deadlock->set_length_ns(circle.end_ns - circle.start_ns);
  deadlock->set_blocked_thread_count(static_cast<uint32_t>(circle.blocked.size()));
  for (const size_t at : circle.waits) {
    const ContendedWait& wait = waits[at];
    results::DeadlockWait* row = deadlock->add_waits();
    row->set_waiter_tid(wait.waiter);
    row->set_waiter(ThreadName(process, wait.waiter));
    row->set_holder_tid(wait.holder);
    row->set_holder(HolderName(context.trace(), process, wait.holder));
    row->set_kind(std::string(WaitKindName(wait.kind)));
    row->set_object(wait.object);
    row->mutable_caller()->set_pc(wait.caller);
    context.Resolve(index, wait.caller, PcKind::kReturnAddress, row->mutable_caller());
    row->set_call_stack(table->Add(index, wait.stack));
  }
}

bool HasThread(const Process& process, int32_t tid) {
  return std::any_of(process.tracks.begin(), process.tracks.end(),
                     [tid](const Track& track) { return !track.is_stream && track.tid == tid; });
}

}  // namespace

std::string ThreadName(const Process& process, int32_t tid) {
  for (const Track& track : process.tracks) {
    if (!track.is_stream && track.tid == tid && !track.name.empty()) return track.name;
  }
  return std::to_string(tid);
}

const Process& HolderProcess(const Trace& trace, const Process& process, int32_t tid) {
  if (HasThread(process, tid)) return process;
  // Numbers come round: of two the one that lived beside it.
  const Process* found = nullptr;
  for (const Process& other : trace.processes) {
    if (other.host != process.host || !HasThread(other, tid)) continue;
    const bool beside = other.first_ns <= process.last_ns && process.first_ns <= other.last_ns;
    if (found == nullptr || beside) found = &other;
    if (beside) break;
  }
  return found != nullptr ? *found : process;
}

std::string HolderName(const Trace& trace, const Process& process, int32_t tid) {
  const Process& owner = HolderProcess(trace, process, tid);
  if (&owner != &process) return ThreadName(owner, tid) + " of pid " + std::to_string(owner.pid);
  if (HasThread(process, tid)) return ThreadName(process, tid);
  return "a thread of another process";
}

void FillWaitGraph(PassContext& context, results::Locks* out) {
  std::vector<Part> parts;
  bool waited = false;
  for (const size_t index : context.selected()) {
    parts.push_back({index, ContendedWaits(context.process(index))});
    const Part& part = parts.back();
    waited = waited || !part.waits.empty();
    AddEdges(context.trace(), context.process(index), part.waits, out);
    AddHolders(context.trace(), context.process(index), part.waits, out);
  }
  SortByTotal(out->mutable_edges());
  SortFalling(out->mutable_holders(), [](const results::LockHolder& h) { return h.root_ns(); });
  if (waited) AddIntervals(context, parts, out);
}

void FillDeadlocks(PassContext& context, results::Locks* out, CallStackTable* table) {
  for (const size_t index : context.selected()) {
    const std::vector<ContendedWait> waits = WaitsWithoutEnd(context.process(index));
    for (const WaitCircle& circle : FindCircles(waits)) {
      AddDeadlock(context, index, waits, circle, out, table);
    }
  }
}

}  // namespace gpuprof::analysis
