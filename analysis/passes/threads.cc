// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `threads`: life, processor time and waits of every thread. See passes.h.

#include <algorithm>
#include <limits>

#include "analysis/model/process_name.h"
#include "analysis/passes/host/thread_usage.h"
#include "analysis/passes/passes.h"
#include "analysis/steps/statistics.h"
#include "analysis/steps/wait_kind.h"
#include "proto/results/threads.pb.h"

namespace gpuprof::analysis {
namespace {

int64_t BusyIn(ProcessOps& ops, size_t track) {
  int64_t total = 0;
  for (const Interval& interval : ops.tree(track).Busy()) total += interval.length();
  return total;
}

void FillWaits(const WaitTable& waits, results::Thread* row) {
  int64_t contended = 0, waiting = 0;
  for (size_t i = 0; i < waits.rows(); ++i) {
    const proto::WaitKind kind = proto::WaitKindOf(waits.operation[i]);
    (IsContention(kind) ? contended : waiting) += waits.duration_ns[i];
  }
  row->set_contended_ns(contended);
  row->set_waiting_ns(waiting);
}

void FillThread(PassContext& context, size_t index, size_t track_index, results::Thread* row) {
  const Process& process = context.process(index);
  const Track& track = process.tracks[track_index];
  const ThreadLife life = LifeOf(track);
  row->set_name(track.name);
  SetProcess(process, row);
  row->set_tid(track.tid);
  row->set_count(EventsOf(track));
  row->set_start_ns(life.span.start);
  row->set_end_ns(life.span.end);
  row->set_life_ns(life.span.length());
  row->set_start_seen(life.start_seen);
  row->set_exit_seen(life.exit_seen);
  row->set_tool(track.tool);
  row->set_lost_count(track.dropped);
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max();
  if (const auto usage = UsageWithin(track, life, {-kFar, kFar})) {
    row->set_cpu_ns(usage->cpu_ns);
    // Its clock and ours are not read at one moment: between two readings close by it may seem to
    // have run for longer than there was.
    row->set_cpu_ratio(std::min(Ratio(usage->cpu_ns, usage->covered_ns), 1.0));
    row->set_runqueue_wait_ns(usage->runqueue_wait_ns);
    row->set_runqueue_wait_ratio(Ratio(usage->runqueue_wait_ns, usage->runqueue_covered_ns));
  }
  if (track.Rows(proto::ChunkKind::kOp) > 0)
    row->set_op_ns(BusyIn(context.ops(index), track_index));
  row->set_op_ratio(Ratio(row->op_ns(), row->life_ns()));
  FillWaits(track.wait, row);
  if (life.creator) {
    row->set_created_by_tid(*life.creator);
    for (const Track& other : process.tracks) {
      if (other.tid == *life.creator) row->set_created_by(other.name);
    }
  }
  if (life.routine != 0) {
    context.Resolve(index, life.routine, PcKind::kExact, row->mutable_start());
  }
  for (const StepAnalysis& steps : context.all_steps(index)) {
    if (steps.found() && steps.detected.track == track_index) row->set_step_thread(true);
  }
}

void AddTo(const results::Thread& thread, results::ThreadProcess* sum) {
  if (thread.tool()) return;
  sum->set_count(sum->count() + thread.count());
  sum->set_op_ns(sum->op_ns() + thread.op_ns());
  sum->set_contended_ns(sum->contended_ns() + thread.contended_ns());
  if (!thread.has_cpu_ns()) return;
  sum->set_cpu_ns(sum->cpu_ns() + thread.cpu_ns());
  sum->set_runqueue_wait_ns(sum->runqueue_wait_ns() + thread.runqueue_wait_ns());
}

}  // namespace

Error RunThreads(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::Threads>();
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    results::ThreadProcess* sum = out->add_processes();
    SetProcess(process, sum);
    sum->set_ppid(process.ppid);
    sum->set_name(ProcessName(process));
    sum->set_role(context.role(index));
    sum->set_thread_count(process.ProgramThreads());
    sum->set_start_ns(process.first_ns);
    sum->set_end_ns(process.last_ns);
    std::vector<results::Thread> rows;
    for (size_t i = 0; i < process.tracks.size(); ++i) {
      if (process.tracks[i].is_stream) continue;
      FillThread(context, index, i, &rows.emplace_back());
      AddTo(rows.back(), sum);
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const results::Thread& a, const results::Thread& b) {
                       if (a.tool() != b.tool()) return b.tool();
                       if (a.cpu_ns() != b.cpu_ns()) return a.cpu_ns() > b.cpu_ns();
                       return a.count() > b.count();
                     });
    constexpr int64_t kFar = std::numeric_limits<int64_t>::max();
    if (const auto use = UseOf(process, {-kFar, kFar})) sum->set_cpu_ratio(use->busy);
    for (results::Thread& row : rows) *out->add_threads() = std::move(row);
  }
  context.FillCountMeta("threads", out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
