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
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {
namespace {

constexpr std::string_view kIterator = "Iterator::";

// Returns how many iterators a name leads through.
size_t DepthOf(std::string_view name) {
  size_t depth = 0;
  for (size_t at = name.find("::"); at != std::string_view::npos; at = name.find("::", at + 2))
    ++depth;
  return depth;
}

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

struct Root {
  uint64_t count = 0;
  int64_t total_ns = 0;
  Instance longest;
  std::map<size_t, std::vector<Interval>> spans;  // by process
};

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
  // By depth: the least is the consumer's.
  std::map<std::pair<size_t, std::string>, Root> roots;
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    const bool any = std::any_of(process.strings.begin(), process.strings.end(), [](const auto& s) {
      return std::string_view(s.second).starts_with(kIterator);
    });
    if (!any) continue;
    out.window_ns = std::max(out.window_ns, process.last_ns - process.first_ns);
    for (const Track& track : process.tracks) {
      const OpTable& ops = track.op;
      for (size_t i = 0; i < ops.rows(); ++i) {
        const std::string& name = process.String(ops.name[i]);
        if (!name.starts_with(kIterator)) continue;
        const std::string_view last = LastOf(name);
        if (last.starts_with("Prefetch")) out.has_prefetch = true;
        if (last == "Map") out.has_serial_map = true;
        Root& root = roots[{DepthOf(name), name}];
        ++root.count;
        root.total_ns += ops.duration_ns[i];
        root.spans[index].push_back({ops.end_ns[i] - ops.duration_ns[i], ops.end_ns[i]});
        if (ops.duration_ns[i] <= root.longest.duration_ns) continue;
        root.longest.start_ns = ops.end_ns[i] - ops.duration_ns[i];
        root.longest.duration_ns = ops.duration_ns[i];
        root.longest.tid = track.tid;
        root.longest.pid = process.pid;
        root.longest.host = process.host;
      }
    }
  }
  if (roots.empty()) return;
  auto& [key, root] = *roots.begin();
  out.root = key.second;
  out.count = root.count;
  out.total_ns = root.total_ns;
  out.longest = root.longest;
  out.mean_ns = root.total_ns / static_cast<int64_t>(root.count);
  Work work;
  for (auto& [index, spans] : root.spans)
    AddWork(context.process(index), UnionOf(std::move(spans)), &work);
  for (const auto& [name, ns] : work) {
    if (ns <= out.busiest_ns) continue;
    out.busiest = name;
    out.busiest_ns = ns;
  }
}

}  // namespace gpuprof::analysis
