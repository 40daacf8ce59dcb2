// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Facts about tf.data: how long the program waits for the outermost iterator, and what works
// meanwhile. See host_facts.h.

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/advice/facts/host_facts.h"
#include "analysis/derived/leaf_spans.h"
#include "analysis/derived/tf_data.h"
#include "analysis/passes/host/input_sources.h"
#include "analysis/steps/interval.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

constexpr std::string_view kIterator = "Iterator::";

// Returns the last iterator of a name: "MapAndBatch".
std::string_view LastOf(std::string_view name) {
  const size_t at = name.rfind("::");
  return at == std::string_view::npos ? name : name.substr(at + 2);
}

// Returns the type of an operation of TensorFlow, "MatMul" of "layer/MatMul:MatMul". Empty: the row
// is the runtime's own.
std::string_view OpTypeOf(std::string_view name) {
  const size_t at = name.rfind(':');
  const bool is_type = at != std::string_view::npos && at != 0 && name[at - 1] != ':' &&
                       at + 1 < name.size() && name[at + 1] != ' ';
  return is_type ? name.substr(at + 1) : "";
}

// What worked while the program waited, by name: an iterator, or the type of an operation.
using Work = std::map<std::string, int64_t>;

void AddWork(const Process& process, const std::vector<Interval>& waits, Work* work) {
  for (const Track& track : process.tracks) {
    const OpTable& ops = track.op;
    for (const LeafSpan& leaf : LeafSpans(ops.end_ns, ops.duration_ns)) {
      const std::string& name = process.String(ops.name[leaf.row]);
      const bool is_iterator = name.starts_with(kIterator);
      const std::string_view last = is_iterator ? LastOf(name) : OpTypeOf(name);
      // The root only hands on what the iterators in it made.
      if (last.empty() || (is_iterator && (IsAsynchronous(last) || last == "Root"))) continue;
      const int64_t ns = CoveredLength(waits, leaf.span);
      if (ns > 0) (*work)[is_iterator ? name : std::string(last)] += ns;
    }
  }
}

}  // namespace

void FillIteratorFacts(PassContext& context, InputFacts* facts) {
  IteratorFacts& out = facts->iterators;
  const Process* process = nullptr;
  DataPipeline longest;
  for (const size_t index : context.selected()) {
    std::vector<DataPipeline> found = FindDataPipelines(context.process(index));
    if (found.empty() || (process != nullptr && found[0].waited_ns <= longest.waited_ns)) continue;
    process = &context.process(index);
    longest = std::move(found[0]);
  }
  if (process == nullptr) return;
  const DataIterator& root = longest.iterators.front();
  out.root = root.path;
  out.count = root.count;
  out.total_ns = root.total_ns;
  out.mean_ns = root.total_ns / static_cast<int64_t>(root.count);
  out.window_ns = process->last_ns - process->first_ns;
  out.longest.start_ns = root.max_start_ns;
  out.longest.duration_ns = root.max_ns;
  out.longest.tid = root.max_tid;
  out.longest.pid = process->pid;
  out.longest.host = process->host;
  const DataIterator& blamed = longest.iterators[longest.blamed];
  out.blamed = blamed.name;
  out.blamed_ratio = Ratio(blamed.waited_ns, longest.waited_ns);
  for (const DataIterator& iterator : longest.iterators) {
    if (ClassOfIterator(iterator.name) == IteratorClass::kPrefetch) out.has_prefetch = true;
    if (iterator.name == "Map") out.has_serial_map = true;
  }
  const InputAccount account = DatasetAccount(longest);
  if (longest.filled && WaitsForEpochs(account)) {
    out.filled = longest.iterators[*longest.filled].name;
    out.first_ns = Samples(account.firsts_ns).max();
    out.other_ns = account.wait_ns;
  }
  out.sure_gain_ns = SureGainNs(account);
  Work work;
  AddWork(*process, longest.waits, &work);
  for (const auto& [name, ns] : work) {
    if (ns <= out.busiest_ns) continue;
    out.busiest = name;
    out.busiest_ns = ns;
  }
}

}  // namespace gpuprof::analysis
