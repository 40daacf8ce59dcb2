// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `ranges`: ranges that the program marked itself, with NVTX, with ITT or through a
// framework. Pushed ranges nest within their thread and domain. Started ranges belong to the
// process and each stands alone. Ranges of a framework nest as its operations do.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/derived/launched_time.h"
#include "analysis/derived/range_value_rows.h"
#include "analysis/model/names.h"
#include "analysis/passes/host/range_values.h"
#include "analysis/passes/kept_rows.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/recorder/unpaired_spans.h"
#include "analysis/passes/rows.h"
#include "analysis/steps/op_tree.h"
#include "analysis/steps/op_walk.h"
#include "analysis/steps/statistics.h"
#include "proto/results/ranges.pb.h"
#include "proto/step_names.h"

namespace gpuprof::analysis {
namespace {

using proto::RangeKind;

// A name that the program gave: one process's, and what of that.
struct Named {
  size_t owner;
  RangeKind kind;
  std::string domain;
  uint64_t number;
  auto operator<=>(const Named&) const = default;
};

// What a row stands for.
struct Key {
  std::string domain;
  std::string name;  // "" by domain
  RangeKind kind;
  bool operator<(const Key& other) const {
    return std::tie(domain, name, kind) < std::tie(other.domain, other.name, other.kind);
  }
};

struct Sums {
  std::vector<int64_t> durations;
  int64_t total_ns = 0;
  int64_t self_ns = 0;
  int64_t device_ns = 0;
  uint64_t incomplete = 0;
  uint64_t crossing = 0;
  std::set<std::pair<size_t, int32_t>> threads;  // owner (PassContext), tid
  std::set<size_t> processes;                    // owners
  uint32_t open = 0;  // ranges of it that are open, while the ranges of a thread are gone through
};

// An open range of the thread, while its rows are gone through by their begins.
struct Open {
  int64_t end_ns;
  Sums* sums;
};

static_assert(static_cast<int>(RangeKind::kMark) == results::RANGE_KIND_MARK);

bool IsName(RangeKind kind) { return kind >= RangeKind::kNameThread; }

results::RangeNameKind NameKindOf(RangeKind kind) {
  static_assert(static_cast<int>(RangeKind::kNameThread) == 4 &&
                static_cast<int>(RangeKind::kNameEvent) == 9);
  return static_cast<results::RangeNameKind>(static_cast<int>(kind) -
                                             static_cast<int>(RangeKind::kNameThread) +
                                             results::RANGE_NAME_THREAD);
}

// A thread of autograd, and when it runs backward passes for the thread that waits for them.
struct BackwardThread {
  size_t track;
  std::vector<Interval> passes;
};

std::vector<BackwardThread> BackwardThreadsOf(ProcessOps& ops, size_t trainer) {
  std::vector<BackwardThread> threads;
  for (size_t t = 0; t < ops.process().tracks.size(); ++t) {
    if (t == trainer || ops.process().tracks[t].is_stream) continue;
    std::vector<Interval> passes = ops.Backward(t);
    if (!passes.empty()) threads.push_back({t, std::move(passes)});
  }
  return threads;
}

// Returns the work that autograd's threads launched in these times: a launch belongs to the range
// that waits for it.
int64_t OfBackward(const LaunchedTime& launched, const std::vector<BackwardThread>& threads,
                   const std::vector<Interval>& spans) {
  int64_t sum = 0;
  for (const BackwardThread& thread : threads)
    sum += launched.Within(thread.track, Intersection(thread.passes, spans));
  return sum;
}

class Collector {
 public:
  Collector(PassContext& context, bool by_domain) : context_(context), by_domain_(by_domain) {}

  // Pids of two hosts may be the same: the owner tells processes apart.
  void AddProcess(size_t index) {
    const Process& process = context_.process(index);
    owner_ = context_.Owner(index);
    processes_[owner_] = &process;
    known_.clear();
    known_of_framework_.clear();
    const LaunchedTime launched(process, context_.calls(index));
    const size_t trainer = context_.steps(index).detected.track;
    const std::vector<BackwardThread> backward = BackwardThreadsOf(context_.ops(index), trainer);
    has_work_ = has_work_ || launched.HasWork();
    for (size_t t = 0; t < process.tracks.size(); ++t) {
      const Track& track = process.tracks[t];
      std::vector<size_t> pushed;
      const std::vector<std::pair<size_t, size_t>> values = ValuesOfRanges(track);
      for (size_t row = 0; row < track.range.rows(); ++row) {
        const RangeKind kind = proto::RangeKindOf(track.range.operation[row]);
        // Of a newer recorder, or damaged.
        if (RangeKindName(static_cast<uint32_t>(kind)).empty()) continue;
        if (IsName(kind)) {
          AddName(process, track.range, row, kind);
          continue;
        }
        Sums& sums = AddRow(process, track, row, kind);
        if (!values.empty()) AddValues(process, track, row, values[row]);
        if (kind == RangeKind::kPushPop) {
          pushed.push_back(row);
        } else {
          sums.total_ns += track.range.duration_ns[row];
        }
      }
      AddNested(process, track.range, std::move(pushed));
      AddRangesOfFramework(index, t);
      for (auto& [sums, spans] : spans_of_track_) {
        spans = UnionOf(std::move(spans));
        sums->device_ns += launched.Within(t, spans);
        if (t == trainer) sums->device_ns += OfBackward(launched, backward, spans);
      }
      spans_of_track_.clear();
    }
  }

  void Fill(results::Ranges* out) {
    for (auto& [key, sums] : groups_) {
      const bool is_mark = key.kind == RangeKind::kMark;
      if (is_mark) {
        out->set_mark_count(out->mark_count() + sums.durations.size());
      } else {
        out->set_count(out->count() + sums.durations.size());
      }
      FillRow(key, &sums, out->add_ranges());
    }
    SortFalling(out->mutable_ranges(),
                [](const auto& row) { return std::tuple(row.total_ns(), row.count()); });
    values_.Fill(by_domain_, out);
    for (const auto& [named, name] : names_) {
      results::RangeName* row = out->add_names();
      row->set_name(name);
      row->set_kind(NameKindOf(named.kind));
      row->set_number(named.number);
      row->set_domain(named.domain);
      SetProcess(*processes_[named.owner], row);
    }
  }

 private:
  Key KeyOf(const Process& process, const RangeTable& table, size_t row, RangeKind kind) const {
    return {process.String(table.domain[row]), by_domain_ ? "" : process.String(table.name[row]),
            kind};
  }

  // Ids of strings are a process's own: found by them, each row costs no comparison of texts.
  Sums& SumsOf(const Process& process, const RangeTable& table, size_t row, RangeKind kind) {
    Sums*& sums = known_[{table.domain[row], table.name[row], kind}];
    if (sums == nullptr) sums = &groups_[KeyOf(process, table, row, kind)];
    return *sums;
  }

  Sums& AddRow(const Process& process, const Track& track, size_t row, RangeKind kind) {
    const RangeTable& table = track.range;
    Sums& sums = SumsOf(process, table, row, kind);
    sums.durations.push_back(table.duration_ns[row]);
    sums.incomplete += (proto::FlagsOf(table.operation[row]) & proto::kFlagIncomplete) != 0;
    sums.crossing += table.begin_thread[row] != 0;
    sums.threads.emplace(owner_, track.tid);
    sums.processes.insert(owner_);
    // A range that another thread began or ended says nothing about the calls of this thread.
    if (kind != RangeKind::kMark && table.begin_thread[row] == 0)
      spans_of_track_[&sums].push_back(
          {table.end_ns[row] - table.duration_ns[row], table.end_ns[row]});
    return sums;
  }

  Sums& SumsOfFramework(const Process& process, uint32_t name) {
    Sums*& sums = known_of_framework_[name];
    if (sums == nullptr)
      sums = &groups_[{proto::kFrameworkDomain, by_domain_ ? "" : process.String(name),
                       RangeKind::kPushPop}];
    return *sums;
  }

  // Adds operations that the program named itself. Other operations may lie between a range and the
  // range around it.
  void AddRangesOfFramework(size_t index, size_t t) {
    const Process& process = context_.process(index);
    const OpTable& table = process.tracks[t].op;
    size_t first = 0;
    while (first < table.rows() && !IsUserRange(table, first)) ++first;
    if (first == table.rows()) return;
    const OpTree& tree = context_.ops(index).tree(t);
    std::vector<uint32_t> around(tree.rows(), OpTree::kNone);
    std::vector<Sums*> sums_of(tree.rows(), nullptr);
    for (size_t i = 0; i < tree.rows(); ++i) {
      const uint32_t row = tree.in_order(i);
      const uint32_t parent = tree.parent(row);
      if (parent != OpTree::kNone) around[row] = sums_of[parent] ? parent : around[parent];
      if (!IsUserRange(table, row)) continue;
      Sums& sums = SumsOfFramework(process, table.name[row]);
      sums_of[row] = &sums;
      sums.durations.push_back(table.duration_ns[row]);
      sums.incomplete += (proto::FlagsOf(table.operation[row]) & proto::kFlagIncomplete) != 0;
      sums.threads.emplace(owner_, process.tracks[t].tid);
      sums.processes.insert(owner_);
      const Interval span = {tree.start(row), tree.end(row)};
      spans_of_track_[&sums].push_back(span);
      sums.self_ns += span.length();
      if (around[row] != OpTree::kNone) sums_of[around[row]]->self_ns -= span.length();
    }
    const auto enter = [&](uint32_t row) {
      if (Sums* const sums = sums_of[row]; sums != nullptr && sums->open++ == 0)
        sums->total_ns += tree.end(row) - tree.start(row);
    };
    WalkOps(tree, enter, [&](uint32_t row) {
      if (sums_of[row] != nullptr) --sums_of[row]->open;
    });
  }

  void AddValues(const Process& process, const Track& track, size_t row,
                 std::pair<size_t, size_t> values) {
    const Key key =
        KeyOf(process, track.range, row, proto::RangeKindOf(track.range.operation[row]));
    for (size_t i = values.first; i < values.second; ++i) {
      values_.Add(process, track.range_value, i, {key.domain, key.name, key.kind, ""});
    }
  }

  void AddName(const Process& process, const RangeTable& table, size_t row, RangeKind kind) {
    names_[{owner_, kind, process.String(table.domain[row]), table.payload[row]}] =
        process.String(table.name[row]);
  }

  // What each thread pushed, begins before ends: the stack of open ranges tells parents, and
  // whether a range lies within another of its row.
  void AddNested(const Process& process, const RangeTable& table, std::vector<size_t> rows) {
    const auto start = [&](size_t row) { return table.end_ns[row] - table.duration_ns[row]; };
    std::sort(rows.begin(), rows.end(), [&](size_t x, size_t y) {
      return std::tuple(start(x), proto::OpDepthOf(table.operation[x]), x) <
             std::tuple(start(y), proto::OpDepthOf(table.operation[y]), y);
    });
    std::map<uint32_t, std::vector<Open>> open;  // by domain
    for (const size_t row : rows) {
      std::vector<Open>& stack = open[table.domain[row]];
      const size_t depth = proto::OpDepthOf(table.operation[row]);
      // The recorder's own depth decides where times are equal.
      while (!stack.empty() && (stack.back().end_ns <= start(row) || stack.size() > depth)) {
        --stack.back().sums->open;
        stack.pop_back();
      }
      Sums& sums = SumsOf(process, table, row, RangeKind::kPushPop);
      const int64_t duration = table.duration_ns[row];
      if (sums.open++ == 0) sums.total_ns += duration;
      sums.self_ns += duration;
      if (!stack.empty()) stack.back().sums->self_ns -= duration;
      stack.push_back({table.end_ns[row], &sums});
    }
    for (const auto& [domain, stack] : open)
      for (const Open& each : stack) --each.sums->open;
  }

  void FillRow(const Key& key, Sums* sums, results::Range* row) const {
    row->set_name(by_domain_ ? key.domain : key.name);
    row->set_domain(key.domain);
    row->set_kind(static_cast<results::RangeKind>(key.kind));
    row->set_total_ns(sums->total_ns);
    // It is not known what was launched within ranges that another thread ended.
    const bool has_calls = key.kind != RangeKind::kMark && sums->crossing < sums->durations.size();
    if (has_work_ && has_calls) row->set_device_ns(sums->device_ns);
    if (key.kind == RangeKind::kPushPop) row->set_self_ns(sums->self_ns);
    const Samples durations(std::move(sums->durations));
    row->set_count(durations.size());
    row->set_mean_ns(durations.mean());
    row->set_median_ns(durations.median());
    row->set_min_ns(durations.min());
    row->set_max_ns(durations.max());
    row->set_thread_count(static_cast<uint32_t>(sums->threads.size()));
    row->set_process_count(static_cast<uint32_t>(sums->processes.size()));
    row->set_incomplete_count(sums->incomplete);
    row->set_crossing_count(sums->crossing);
  }

  PassContext& context_;
  bool by_domain_;
  bool has_work_ = false;                       // a process launched work on a GPU
  size_t owner_ = 0;                            // of the process that is being added
  std::map<size_t, const Process*> processes_;  // by owner
  std::map<Key, Sums> groups_;
  std::map<std::tuple<uint32_t, uint32_t, RangeKind>, Sums*> known_;
  std::map<uint32_t, Sums*> known_of_framework_;           // by string id
  std::map<Sums*, std::vector<Interval>> spans_of_track_;  // of the thread that is being added
  RangeValues values_;
  std::map<Named, std::string> names_;
};

}  // namespace

Error RunRanges(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  const std::string by = context.By("name");
  auto ranges = std::make_unique<results::Ranges>(
      KeptRows<results::Ranges>(context.kept_of_all(), by, [&](results::Ranges* rows) {
        Collector collector(context, by == "domain");
        for (const size_t index : context.selected()) collector.AddProcess(index);
        collector.Fill(rows);
      }));
  ranges->set_by(by);
  context.FillCountMeta("ranges", ranges->mutable_meta());
  AddUnpairedNotes(context, SpanSubject::kRanges, ranges->mutable_meta());
  *result = std::move(ranges);
  return {};
}

}  // namespace gpuprof::analysis
