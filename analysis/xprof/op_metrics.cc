// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See op_metrics.h.

#include "analysis/xprof/op_metrics.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "analysis/xprof/figures.h"

namespace gpuprof::analysis::xprof {

Summary Summarize(const std::vector<double>& values) {
  Summary summary;
  if (values.empty()) return summary;
  double sum = 0, squares = 0;
  summary.minimum = std::numeric_limits<double>::max();
  // XProf begins with the smallest positive number. So a single 0 is not all the same, and its
  // spread is 0 by 0: the pages say "-nan".
  summary.maximum = std::numeric_limits<double>::min();
  for (const double value : values) {
    sum += value;
    squares += value * value;
    summary.minimum = std::min(summary.minimum, value);
    summary.maximum = std::max(summary.maximum, value);
  }
  const auto count = static_cast<double>(values.size());
  summary.average = sum / count;
  if (summary.minimum != summary.maximum)
    summary.deviation = std::sqrt((squares - std::pow(sum, 2.0) / count) / (count - 1));
  return summary;
}

OpMetrics& OpMetricsDb::Find(uint64_t program_id, std::string_view name) {
  const auto [at, is_new] = index_.try_emplace({program_id, std::string(name)}, ops.size());
  if (is_new) {
    OpMetrics& op = ops.emplace_back();
    op.program_id = program_id;
    op.name = name;
  }
  return ops[at->second];
}

void OpMetricsDb::Close(uint64_t span_ps) {
  total_time_ps = std::max(op_time_ps, span_ps);
  OpMetrics& idle = ops.emplace_back();
  idle.name = idle.category = kIdle;
  idle.time_ps = idle.self_time_ps = total_time_ps - op_time_ps;
}

void OpMetricsDb::Combine(const OpMetricsDb& other) {
  total_time_ps += other.total_time_ps;
  op_time_ps += other.op_time_ps;
  enqueue_ps += other.enqueue_ps;
  enqueue_begins_ps += other.enqueue_begins_ps;
  for (const OpMetrics& from : other.ops) {
    OpMetrics& to = Find(from.program_id, from.name);
    if (to.category.empty()) to.category = from.category;
    if (to.provenance.empty()) to.provenance = from.provenance;
    to.is_eager = to.is_eager || from.is_eager;
    to.occurrences += from.occurrences;
    to.time_ps += from.time_ps;
    to.self_time_ps += from.self_time_ps;
    to.AddCosts(from);
    if (to.expression.empty()) to.expression = from.expression;
    if (to.shared_name.empty()) to.shared_name = from.shared_name;
    if (to.source_file.empty()) {
      to.source_file = from.source_file;
      to.source_line = from.source_line;
      to.stack = from.stack;
    }
  }
}

std::vector<const OpMetrics*> SortedOps(const OpMetricsDb& db, size_t most) {
  std::vector<const OpMetrics*> sorted;
  for (const OpMetrics& op : db.ops) sorted.push_back(&op);
  std::stable_sort(sorted.begin(), sorted.end(), [](const OpMetrics* x, const OpMetrics* y) {
    return x->self_time_ps != y->self_time_ps ? x->self_time_ps > y->self_time_ps
                                              : x->name < y->name;
  });
  if (sorted.size() > most) sorted.resize(most);
  return sorted;
}

OpMetricsDb FrameworkOps(const OpMetricsDb& devices, bool with_idle) {
  OpMetricsDb db;
  for (const OpMetrics& from : devices.ops) {
    std::string_view name = from.name, type;
    if (from.IsIdle()) {
      if (!with_idle) continue;
      type = kIdle;
    } else if (!from.provenance.empty()) {
      const OpName op = ParseOpName(from.provenance);
      name = op.name;
      type = op.type;
    }
    OpMetrics& to = db.Find(0, name);
    if (to.category.empty()) to.category = type.empty() ? "Unknown" : type;
    to.is_eager = from.is_eager;
    to.occurrences = std::max(to.occurrences, from.occurrences);
    to.time_ps += from.time_ps;
    to.self_time_ps += from.self_time_ps;
    to.flops += from.flops;
    to.model_flops += from.model_flops;
    to.bytes += from.bytes;
  }
  db.op_time_ps = devices.op_time_ps;
  db.total_time_ps = with_idle ? devices.total_time_ps : devices.op_time_ps;
  return db;
}

}  // namespace gpuprof::analysis::xprof
