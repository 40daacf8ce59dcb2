// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Facts about the gaps of a device (analysis/advice/idle_facts.h).

#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "analysis/passes/fact_source.h"
#include "analysis/passes/idle_gaps.h"
#include "analysis/symbols/short_names.h"

namespace gpuprof::analysis {
namespace {

using LateByName = std::unordered_map<uint32_t, int64_t>;

std::map<std::string, int64_t> WithNames(const Process& process, const LateByName& late) {
  std::map<std::string, int64_t> named;
  for (const auto& [name, ns] : late) named[process.String(name)] += ns;
  return named;
}

}  // namespace

void FillIdleFacts(PassContext& context, size_t index, const results::DeviceSeries& series,
                   IdleFacts* facts) {
  IdleGaps gaps(context, index);
  const IdleSpan* longest = nullptr;
  LateByName by_op, by_function;
  for (const IdleSpan& span : gaps.spans()) {
    const bool counts = span.device == series.device() && span.start_ns >= series.start_ns() &&
                        span.start_ns < series.end_ns();
    if (!counts) continue;
    facts->gaps.push_back({span.duration_ns, span.late_ns});
    if (longest == nullptr || span.duration_ns > longest->duration_ns) longest = &span;
    if (span.during_op != 0) by_op[span.during_op] += span.late_ns;
    if (span.during_function != 0) by_function[span.during_function] += span.late_ns;
  }
  facts->late_by_op = WithNames(gaps.process(), by_op);
  facts->late_by_function = WithNames(gaps.process(), by_function);
  if (longest == nullptr) return;
  facts->longest = gaps.Describe(*longest);
  const std::string name = facts->longest.name();
  facts->longest.set_short_name(ShortKernelNames({name}).at(name));
}

}  // namespace gpuprof::analysis
