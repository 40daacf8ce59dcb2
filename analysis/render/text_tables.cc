// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of ops and threads. See text.h.

#include <algorithm>

#include "analysis/render/enum_word.h"
#include "analysis/render/figures.h"
#include "analysis/render/text.h"
#include "proto/results/ops.pb.h"
#include "proto/results/threads.pb.h"

namespace gpuprof::analysis {
using Align = TextTable::Align;

std::string OpsText(const results::Ops& result, const TextOptions& options) {
  if (result.ops().empty()) {
    return "No framework operation was recorded.\n" + MetaText(result.meta(), options);
  }
  std::string heading = FormatNumber(result.count()) + " operations, " +
                        FormatDuration(result.self_ns()) + " of thread time in them";
  if (result.has_step_count()) {
    heading += "; " + FormatNumber(result.step_count()) + " steps of " +
               FormatDuration(result.step_ns() /
                              static_cast<int64_t>(std::max<uint64_t>(result.step_count(), 1))) +
               " on average";
  }
  if (result.has_device_ns()) {
    heading += "; " + FormatDuration(result.device_ns() - result.device_outside_ns()) + " of " +
               FormatDuration(result.device_ns()) + " of GPU work was launched in them";
  }
  return Section(heading, OpRows(result.ops(), Shown(result.ops_size(), options), options), options,
                 result.ops_size()) +
         MetaText(result.meta(), options);
}

std::string ThreadsText(const results::Threads& result, const TextOptions& options) {
  TextTable processes;
  processes.AddColumn("pid", Align::kRight);
  processes.AddColumn("process", Align::kLeft, true);
  processes.AddColumn("role", Align::kLeft);
  for (const char* header :
       {"threads", "events", "cpu", "cores busy", "waiting for cpu", "contended"}) {
    processes.AddColumn(header, Align::kRight);
  }
  const Pids pid(result.processes());
  for (const results::ThreadProcess& p : result.processes()) {
    processes.AddRow({pid(p), p.name(), WordOf(p.role()), FormatNumber(p.thread_count()),
                      FormatNumber(p.count()), p.has_cpu_ns() ? FormatDuration(p.cpu_ns()) : "-",
                      p.has_cpu_ratio() ? FormatReal(p.cpu_ratio()) : "-",
                      p.has_runqueue_wait_ns() ? FormatDuration(p.runqueue_wait_ns()) : "-",
                      FormatDuration(p.contended_ns())});
  }
  TextTable threads;
  threads.AddColumn("pid", Align::kRight);
  threads.AddColumn("tid", Align::kRight);
  threads.AddColumn("thread", Align::kLeft, true);
  for (const char* header :
       {"life", "cpu", "busy", "waiting for cpu", "in ops", "contended", "waiting", "events"}) {
    threads.AddColumn(header, Align::kRight);
  }
  threads.AddColumn("created by", Align::kLeft);
  for (int i = 0; i < Shown(result.threads_size(), options); ++i) {
    const results::Thread& t = result.threads(i);
    std::string name = t.name();
    if (t.step_thread()) name += " (steps)";
    if (t.tool()) name += " (profiler)";
    threads.AddRow({pid(t), std::to_string(t.tid()), name, FormatDuration(t.life_ns()),
                    t.has_cpu_ns() ? FormatDuration(t.cpu_ns()) : "-",
                    t.has_cpu_ratio() ? FormatPercent(t.cpu_ratio()) : "-",
                    t.has_runqueue_wait_ns() ? FormatDuration(t.runqueue_wait_ns()) : "-",
                    FormatDuration(t.op_ns()), FormatDuration(t.contended_ns()),
                    FormatDuration(t.waiting_ns()), FormatNumber(t.count()),
                    !t.created_by().empty()  ? t.created_by()
                    : t.has_created_by_tid() ? std::to_string(t.created_by_tid())
                                             : ""});
  }
  return Section("Processes", processes, options, 0) +
         Section("Threads", threads, options, result.threads_size()) +
         MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
