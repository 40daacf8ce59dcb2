// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `locks`: waits by object and caller. See passes.h.

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/model/names.h"
#include "analysis/passes/host/call_stacks.h"
#include "analysis/passes/host/wait_callers.h"
#include "analysis/passes/passes.h"
#include "analysis/steps/wait_kind.h"
#include "proto/results/locks.pb.h"

namespace gpuprof::analysis {
namespace {

struct Waits {
  uint64_t count = 0;
  uint64_t object = 0;  // that all these waits have; 0: they have several, or none
  int64_t total_ns = 0;
  int64_t max_ns = 0;
  int64_t max_start_ns = 0;
  int32_t max_tid = 0;
  uint64_t timed_out = 0;
  uint64_t incomplete = 0;
  int64_t step_ns = 0;
  int64_t step_blocked_ns = 0;
  uint32_t stack = 0;
  int64_t stack_ns = -1;
  std::map<int32_t, int64_t> threads;  // tid -> time
  std::map<int32_t, int64_t> holders;  // the same of those waited for
};

// Kind, object, caller. Waits that a line of Python is the caller of have no object: the locks
// that Python makes for a wait are new each time.
using Key = std::tuple<uint8_t, uint64_t, uint64_t>;

// Counted steps, and when they are blocked outside of operations. Sorted and disjoint.
struct StepTimes {
  std::vector<Interval> counted, blocked;
};

StepTimes TimesOf(const StepAnalysis& steps) {
  std::vector<Interval> blocked;
  for (const CategoryTimeline::Segment& segment : steps.timeline.segments())
    if (segment.category == Category::kBlocked) blocked.push_back({segment.start, segment.end});
  StepTimes times;
  times.counted = steps.Counted();
  times.blocked = Intersection(times.counted, blocked);
  return times;
}

Key KeyOf(const WaitTable& table, size_t row, WaitCallers* callers) {
  const proto::WaitKind kind = proto::WaitKindOf(table.operation[row]);
  const auto number = static_cast<uint8_t>(kind);
  // What holds a lock is found by its object and by the code that waits.
  const uint64_t line = IsContention(kind) ? 0 : callers->Find(table.stack[row]);
  if (line != 0) return {number, 0, line};
  return {number, table.object[row], table.caller[row]};
}

void AddTrack(const Track& track, const StepTimes& steps, WaitCallers* callers,
              std::map<Key, Waits>* all) {
  const WaitTable& table = track.wait;
  for (size_t row = 0; row < table.rows(); ++row) {
    const uint8_t flags = proto::FlagsOf(table.operation[row]);
    const int64_t duration = table.duration_ns[row];
    Waits& waits = (*all)[KeyOf(table, row, callers)];
    waits.object = ++waits.count == 1 || waits.object == table.object[row] ? table.object[row] : 0;
    waits.total_ns += duration;
    if (duration >= waits.max_ns) {
      waits.max_ns = duration;
      waits.max_start_ns = table.end_ns[row] - duration;
      waits.max_tid = track.tid;
    }
    waits.timed_out += (flags & proto::kFlagTimedOut) != 0;
    waits.incomplete += (flags & proto::kFlagIncomplete) != 0;
    if (table.stack[row] > 1 && duration > waits.stack_ns) {
      waits.stack = table.stack[row];
      waits.stack_ns = duration;
    }
    waits.threads[track.tid] += duration;
    if (table.owner[row] != 0 && table.owner[row] != track.tid) {
      waits.holders[table.owner[row]] += duration;
    }
    if (!steps.counted.empty()) {
      const Interval span = {table.end_ns[row] - duration, table.end_ns[row]};
      waits.step_ns += CoveredLength(steps.counted, span);
      waits.step_blocked_ns += CoveredLength(steps.blocked, span);
    }
  }
}

// The longest first, each name once.
template <typename Names>
void AddNames(const Trace& trace, const Process& process, const std::map<int32_t, int64_t>& threads,
              Names* names) {
  std::vector<std::pair<int64_t, int32_t>> order;
  for (const auto& [tid, total] : threads) order.emplace_back(-total, tid);
  std::sort(order.begin(), order.end());
  for (const auto& [total, tid] : order) {
    const std::string name = HolderName(trace, process, tid);
    if (std::find(names->begin(), names->end(), name) == names->end()) *names->Add() = name;
  }
}

struct Row {
  results::Lock lock;
  size_t process = 0;
  uint32_t stack = 0;
};

void AddProcess(PassContext& context, size_t index, std::vector<Row>* rows) {
  const Process& process = context.process(index);
  const StepAnalysis& steps = context.steps(index);
  std::map<Key, Waits> all;
  WaitCallers callers(process);
  for (size_t i = 0; i < process.tracks.size(); ++i) {
    const bool stepping = steps.found() && steps.detected.track == i;
    if (process.tracks[i].wait.rows() == 0) continue;
    AddTrack(process.tracks[i], stepping ? TimesOf(steps) : StepTimes(), &callers, &all);
  }
  for (const auto& [key, waits] : all) {
    const auto kind = static_cast<proto::WaitKind>(std::get<0>(key));
    Row& row = rows->emplace_back();
    row.process = index;
    row.stack = waits.stack;
    results::Lock& lock = row.lock;
    lock.set_kind(std::string(WaitKindName(std::get<0>(key))));
    lock.set_contended(IsContention(kind));
    lock.set_count(waits.count);
    lock.set_total_ns(waits.total_ns);
    lock.set_mean_ns(waits.total_ns / static_cast<int64_t>(waits.count));
    lock.set_max_ns(waits.max_ns);
    lock.set_max_start_ns(waits.max_start_ns);
    lock.set_max_tid(waits.max_tid);
    SetProcess(process, &lock);
    lock.set_object(waits.object);
    lock.mutable_caller()->set_pc(std::get<2>(key));
    lock.set_thread_count(static_cast<uint32_t>(waits.threads.size()));
    lock.set_timed_out_count(waits.timed_out);
    lock.set_incomplete_count(waits.incomplete);
    if (steps.found()) {
      lock.set_step_ns(waits.step_ns);
      lock.set_step_blocked_ns(waits.step_blocked_ns);
    }
    AddNames(context.trace(), process, waits.threads, lock.mutable_threads());
    AddNames(context.trace(), process, waits.holders, lock.mutable_holders());
    int64_t known = 0;
    for (const auto& [tid, total] : waits.holders) known += total;
    lock.set_holder_known_ns(known);
  }
}

void AddKind(const results::Lock& lock, std::map<std::string, results::LockKind>* kinds) {
  results::LockKind& kind = (*kinds)[lock.kind()];
  kind.set_name(lock.kind());
  kind.set_contended(lock.contended());
  kind.set_count(kind.count() + lock.count());
  kind.set_total_ns(kind.total_ns() + lock.total_ns());
  kind.set_max_ns(std::max(kind.max_ns(), lock.max_ns()));
  kind.set_incomplete_count(kind.incomplete_count() + lock.incomplete_count());
}

}  // namespace

void ComputeLocks(PassContext& context, results::Locks* out, std::vector<size_t>* process_of_row,
                  std::vector<uint32_t>* stack_of_row) {
  std::vector<Row> rows;
  bool steps = false;
  for (const size_t index : context.selected()) {
    AddProcess(context, index, &rows);
    steps = steps || context.steps(index).found();
  }
  // What was contended first: other waits are mostly threads that have nothing to do.
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    if (a.lock.contended() != b.lock.contended()) return a.lock.contended();
    return a.lock.total_ns() > b.lock.total_ns();
  });
  std::map<std::string, results::LockKind> kinds;
  int64_t step_ns = 0;
  for (Row& row : rows) {
    AddKind(row.lock, &kinds);
    if (row.lock.contended()) {
      out->set_contended_count(out->contended_count() + row.lock.count());
      out->set_contended_ns(out->contended_ns() + row.lock.total_ns());
      step_ns += row.lock.step_ns();
    }
    process_of_row->push_back(row.process);
    stack_of_row->push_back(row.stack);
    *out->add_locks() = std::move(row.lock);
  }
  if (steps) out->set_step_contended_ns(step_ns);
  for (const auto& [name, kind] : kinds) *out->add_kinds() = kind;
}

void NameLock(PassContext& context, size_t process, uint32_t stack, results::Lock* lock,
              CallStackTable* table) {
  const uint64_t pc = lock->caller().pc();
  if (IsNamedFrame(pc)) lock->mutable_caller()->clear_pc();
  if (pc != 0) context.Resolve(process, pc, PcKind::kReturnAddress, lock->mutable_caller());
  lock->set_name(pc != 0 ? lock->caller().name() : "(unknown caller)");
  lock->set_call_stack(table->Add(process, stack));
}

Error RunLocks(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::Locks>();
  std::vector<size_t> processes;
  std::vector<uint32_t> stacks;
  ComputeLocks(context, out.get(), &processes, &stacks);
  CallStackTable table(&context, out->mutable_call_stacks());
  for (int i = 0; i < out->locks_size(); ++i) {
    const auto at = static_cast<size_t>(i);
    NameLock(context, processes[at], stacks[at], out->mutable_locks(i), &table);
  }
  context.FillMeta("locks", out->mutable_meta());
  FillWaitGraph(context, out.get());
  FillDeadlocks(context, out.get(), &table);
  context.FillCountConfidence(out->meta(), out->mutable_meta()->mutable_confidence());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
