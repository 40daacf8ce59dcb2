// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See tf_data.h.

#include "analysis/derived/tf_data.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "analysis/derived/op_names.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

constexpr std::string_view kIterator = "Iterator::";
constexpr std::string_view kSeparator = "::";

struct NamesOfClass {
  IteratorClass kind;
  // Beginnings of names.
  std::vector<std::string_view> names;
};

const std::vector<NamesOfClass>& Classes() {
  static const std::vector<NamesOfClass> classes = {
      {IteratorClass::kPython, {"Generator"}},
      {IteratorClass::kService, {"DataService", "Guzzler", "Reverb", "Courier"}},
      // TensorSlice and others are elements of memory, which may be read from there at last.
      {IteratorClass::kSource,
       {"TFRecord", "SSTable", "RecordIO", "TextLine", "FixedLengthRecord", "LMDB", "CSV", "Sql",
        "FromTensor", "TensorSlice", "Tensor", "Range", "ExternalDataset", "Spanner", "TFColumn",
        "MatchingFiles", "List"}},
      {IteratorClass::kParallel,
       {"ParallelMap", "ParallelInterleave", "ParallelBatch", "MapAndBatch", "ParseExample",
        "LegacyParallelInterleave", "ParallelFilter"}},
      {IteratorClass::kTransform, {"Map", "Interleave", "FlatMap"}},
      {IteratorClass::kShuffle, {"Shuffle"}},
      {IteratorClass::kPrefetch, {"Prefetch"}},
      {IteratorClass::kCache, {"Cache", "MemoryCache", "FileCache", "Snapshot", "Save", "Load"}},
      {IteratorClass::kBatch,
       {"Batch", "PaddedBatch", "Unbatch", "Filter", "Window", "GroupBy", "Rebatch", "Ragged",
        "DenseToSparse", "Bucket"}},
  };
  return classes;
}

// Returns the name of a mark without numbers of elements: an iterator is one, whatever it is at.
// "Iterator::Root::FlatMap::Generator" of "Iterator::Root::FlatMap[0]::Generator".
std::string PathOf(std::string_view mark) {
  std::string path;
  for (size_t i = 0; i < mark.size(); ++i) {
    if (mark[i] == '[') {
      const size_t end = mark.find_first_not_of("0123456789", i + 1);
      if (end != std::string_view::npos && end > i + 1 && mark[end] == ']') {
        i = end;
        continue;
      }
    }
    path += mark[i];
  }
  return path;
}

// Returns the name of an iterator of its path.
std::string NameOfPath(std::string_view path) {
  const size_t at = path.rfind(kSeparator);
  return std::string(at == std::string_view::npos ? path : path.substr(at + kSeparator.size()));
}

struct Call {
  Interval span;
  size_t iterator;
  size_t path_length;
  // The outer one first.
  bool operator<(const Call& other) const {
    if (span.start != other.span.start) return span.start < other.span.start;
    if (span.end != other.span.end) return span.end > other.span.end;
    return path_length < other.path_length;
  }
};

// Returns a list without the time of another. Both are sorted and disjoint.
std::vector<Interval> TimeWithout(std::span<const Interval> from, std::span<const Interval> taken) {
  std::vector<Interval> left;
  auto next = taken.begin();
  for (Interval rest : from) {
    while (next != taken.end() && next->end <= rest.start) ++next;
    for (auto cut = next; cut != taken.end() && cut->start < rest.end; ++cut) {
      if (cut->start > rest.start) left.push_back({rest.start, cut->start});
      rest.start = std::min(rest.end, cut->end);
    }
    if (rest.length() > 0) left.push_back(rest);
  }
  return left;
}

class PipelineFinder {
 public:
  explicit PipelineFinder(const Process& process) : process_(process) {}

  std::vector<DataPipeline> Find() {
    std::vector<uint32_t> ids;
    for (const auto& [id, text] : process_.strings)
      if (std::string_view(text).starts_with(kIterator)) ids.push_back(id);
    if (ids.empty()) return {};
    for (const uint32_t id : ids) paths_.emplace(PathOf(process_.String(id)), 0);
    for (auto& [path, index] : paths_) {
      index = iterators_.size();
      iterators_.emplace_back();
      iterators_.back().path = path;
      iterators_.back().name = NameOfPath(path);
    }
    for (auto& [path, index] : paths_) iterators_[index].parent = ParentOf(path);
    spans_.resize(iterators_.size());
    durations_.resize(iterators_.size());
    for (const uint32_t id : ids) by_id_[id] = paths_.at(PathOf(process_.String(id)));
    for (const Track& track : process_.tracks) AddTrack(track);
    for (std::vector<Interval>& spans : spans_) spans = UnionOf(std::move(spans));
    int64_t sum = 0;
    for (const Interval& span : python_) sum += span.length();
    python_ = UnionOf(std::move(python_));
    python_at_once_ = Ratio(sum, std::max<int64_t>(TotalLength(python_), 1));
    std::vector<DataPipeline> pipelines;
    for (size_t i = 0; i < iterators_.size(); ++i)
      if (!iterators_[i].parent && iterators_[i].count != 0) pipelines.push_back(PipelineOf(i));
    std::stable_sort(
        pipelines.begin(), pipelines.end(),
        [](const DataPipeline& a, const DataPipeline& b) { return a.waited_ns > b.waited_ns; });
    return pipelines;
  }

 private:
  std::optional<size_t> ParentOf(std::string_view path) const {
    for (size_t at = path.rfind(kSeparator); at != std::string_view::npos && at != 0;
         at = path.rfind(kSeparator, at - 1)) {
      const auto found = paths_.find(path.substr(0, at));
      if (found != paths_.end()) return found->second;
    }
    return std::nullopt;
  }

  void AddTrack(const Track& track) {
    std::vector<Call> calls;
    const OpTable& ops = track.op;
    for (size_t i = 0; i < ops.rows(); ++i) {
      const uint32_t name = ops.name[i];
      const Interval span = {ops.end_ns[i] - ops.duration_ns[i], ops.end_ns[i]};
      const auto found = by_id_.find(name);
      if (found != by_id_.end()) {
        calls.push_back({span, found->second, iterators_[found->second].path.size()});
      } else if (IsPython(name)) {
        python_.push_back(span);
      }
    }
    std::sort(calls.begin(), calls.end());
    std::set<size_t> seen;
    std::vector<Call> open;
    for (const Call& call : calls) {
      while (!open.empty() && open.back().span.end <= call.span.start) open.pop_back();
      DataIterator& iterator = iterators_[call.iterator];
      ++iterator.count;
      iterator.total_ns += call.span.length();
      iterator.self_ns += call.span.length();
      if (!open.empty()) iterators_[open.back().iterator].self_ns -= call.span.length();
      if (call.span.length() > iterator.max_ns) {
        iterator.max_ns = call.span.length();
        iterator.max_start_ns = call.span.start;
        iterator.max_tid = track.tid;
      }
      if (seen.insert(call.iterator).second) ++iterator.threads;
      spans_[call.iterator].push_back(call.span);
      durations_[call.iterator].push_back(call.span.length());
      open.push_back(call);
    }
  }

  bool IsPython(uint32_t name) {
    const auto [found, is_new] = is_python_.try_emplace(name, false);
    if (is_new) {
      const std::string type = OpTypeOf(process_.String(name));
      found->second = type == "PyFunc" || type == "EagerPyFunc" || type == "PyFuncStateless";
    }
    return found->second;
  }

  DataPipeline PipelineOf(size_t root) {
    DataPipeline pipeline;
    const std::vector<Interval>& waits = spans_[root];
    pipeline.waits = waits;
    pipeline.waits_ns = durations_[root];
    std::sort(pipeline.waits_ns.begin(), pipeline.waits_ns.end());
    pipeline.waited_ns = TotalLength(waits);
    pipeline.window_ns = waits.back().end - waits.front().start;
    Divide(root, waits);
    AddWithChildren(root, std::nullopt, 0, &pipeline);
    const auto most = std::max_element(
        pipeline.iterators.begin(), pipeline.iterators.end(),
        [](const DataIterator& a, const DataIterator& b) { return a.waited_ns < b.waited_ns; });
    pipeline.blamed = static_cast<size_t>(most - pipeline.iterators.begin());
    pipeline.filled = FilledIn(pipeline);
    std::vector<std::vector<Interval>> python = {python_};
    for (size_t i = 0; i < iterators_.size(); ++i)
      if (RootOf(i) == root && ClassOfIterator(iterators_[i].name) == IteratorClass::kPython)
        python.push_back(spans_[i]);
    pipeline.python_at_once = python_at_once_;
    pipeline.python_ns = TotalLength(Intersection(waits, UnionOfAll(std::move(python))));
    return pipeline;
  }

  size_t RootOf(size_t index) const {
    while (iterators_[index].parent) index = *iterators_[index].parent;
    return index;
  }

  std::vector<size_t> ChildrenOf(size_t index) const {
    std::vector<size_t> children;
    for (size_t i = 0; i < iterators_.size(); ++i)
      if (iterators_[i].parent == index) children.push_back(i);
    return children;
  }

  // Divides time in which the program waited for an iterator among it and those below it. Of two
  // that were at work at once the one that worked longer has the time.
  void Divide(size_t index, std::vector<Interval> waits) {
    std::vector<std::pair<int64_t, size_t>> children;
    for (const size_t child : ChildrenOf(index)) {
      const int64_t length = TotalLength(Intersection(waits, spans_[child]));
      if (length > 0) children.emplace_back(-length, child);
    }
    std::sort(children.begin(), children.end());
    for (const auto& [length, child] : children) {
      std::vector<Interval> part = Intersection(waits, spans_[child]);
      waits = TimeWithout(waits, part);
      Divide(child, std::move(part));
    }
    iterators_[index].waited_ns = TotalLength(waits);
  }

  // A buffer that is full gives an element for each one that it takes: its calls are short.
  static std::optional<size_t> FilledIn(const DataPipeline& pipeline) {
    const int64_t longest = pipeline.waits_ns.back();
    for (std::optional<size_t> at = pipeline.blamed; at; at = pipeline.iterators[*at].parent) {
      const DataIterator& iterator = pipeline.iterators[*at];
      const bool has_longest = iterator.max_ns * 5 >= longest * 4;
      const int64_t mean = iterator.total_ns / static_cast<int64_t>(iterator.count);
      if (ClassOfIterator(iterator.name) == IteratorClass::kShuffle && has_longest &&
          iterator.max_ns >= 10 * mean)
        return at;
    }
    return std::nullopt;
  }

  // Returns what was waited for an iterator and those below it.
  int64_t WaitedBelow(size_t index) const {
    int64_t sum = iterators_[index].waited_ns;
    for (const size_t child : ChildrenOf(index)) sum += WaitedBelow(child);
    return sum;
  }

  void AddWithChildren(size_t index, std::optional<size_t> parent, size_t depth,
                       DataPipeline* pipeline) const {
    DataIterator& row = pipeline->iterators.emplace_back(iterators_[index]);
    row.parent = parent;
    row.depth = depth;
    const size_t place = pipeline->iterators.size() - 1;
    std::vector<std::pair<int64_t, size_t>> children;
    for (const size_t child : ChildrenOf(index)) children.emplace_back(-WaitedBelow(child), child);
    std::sort(children.begin(), children.end());
    for (const auto& [waited, child] : children) AddWithChildren(child, place, depth + 1, pipeline);
  }

  const Process& process_;
  std::map<std::string, size_t, std::less<>> paths_;
  std::map<uint32_t, size_t> by_id_;
  std::map<uint32_t, bool> is_python_;
  std::vector<DataIterator> iterators_;
  std::vector<std::vector<Interval>> spans_;  // of all threads
  std::vector<std::vector<int64_t>> durations_;
  std::vector<Interval> python_;  // functions of Python within tf.data
  double python_at_once_ = 0;
};

}  // namespace

IteratorClass ClassOfIterator(std::string_view iterator) {
  for (const NamesOfClass& each : Classes()) {
    for (const std::string_view name : each.names)
      if (iterator.starts_with(name)) return each.kind;
  }
  return IteratorClass::kOther;
}

bool IsAsynchronous(std::string_view iterator) {
  const IteratorClass kind = ClassOfIterator(iterator);
  return kind == IteratorClass::kPrefetch || kind == IteratorClass::kParallel ||
         kind == IteratorClass::kService;
}

std::vector<DataPipeline> FindDataPipelines(const Process& process) {
  return PipelineFinder(process).Find();
}

size_t CountOfLongWaits(const DataPipeline& pipeline) {
  const std::vector<int64_t>& waits = pipeline.waits_ns;
  int64_t all = 0, sum = 0;
  for (const int64_t wait : waits) all += wait;
  size_t count = 0;
  while (count < waits.size() && sum * 10 < all * 9) sum += waits[waits.size() - ++count];
  return count * 10 <= waits.size() ? count : 0;
}

}  // namespace gpuprof::analysis
