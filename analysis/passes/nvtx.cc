// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `nvtx`: ranges that the program marked itself. Pushed ranges nest within their thread
// and domain; started ranges belong to the process and each stands alone.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/model/names.h"
#include "analysis/passes/nvtx_values.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/rows.h"
#include "analysis/passes/unpaired_spans.h"
#include "analysis/steps/statistics.h"
#include "proto/results/nvtx.pb.h"

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
  uint64_t incomplete = 0;
  uint64_t crossing = 0;
  std::set<std::pair<size_t, int32_t>> threads;  // owner (PassContext), tid
  std::set<size_t> processes;                    // owners
};

// An open range of the thread, while its rows are gone through by their begins.
struct Open {
  int64_t end_ns;
  Sums* sums;
};

bool IsName(RangeKind kind) { return kind >= RangeKind::kNameThread; }

class Collector {
 public:
  explicit Collector(bool by_domain) : by_domain_(by_domain) {}

  // Pids of two hosts may be the same: `owner` tells processes apart.
  void AddProcess(size_t owner, const Process& process) {
    owner_ = owner;
    processes_[owner] = &process;
    known_.clear();
    for (const Track& track : process.tracks) {
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
    }
  }

  void Fill(results::Nvtx* out) {
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
      results::NvtxName* row = out->add_names();
      const std::string_view kind = RangeKindName(static_cast<uint32_t>(named.kind));
      row->set_name(name);
      row->set_kind(std::string(kind.substr(5)));  // name_
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
    return sums;
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
        stack.pop_back();
      }
      Sums& sums = SumsOf(process, table, row, RangeKind::kPushPop);
      const int64_t duration = table.duration_ns[row];
      const bool within = std::any_of(stack.begin(), stack.end(),
                                      [&](const Open& each) { return each.sums == &sums; });
      if (!within) sums.total_ns += duration;
      sums.self_ns += duration;
      if (!stack.empty()) stack.back().sums->self_ns -= duration;
      stack.push_back({table.end_ns[row], &sums});
    }
  }

  void FillRow(const Key& key, Sums* sums, results::NvtxRange* row) const {
    row->set_name(by_domain_ ? key.domain : key.name);
    row->set_domain(key.domain);
    row->set_kind(std::string(RangeKindName(static_cast<uint32_t>(key.kind))));
    row->set_total_ns(sums->total_ns);
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

  bool by_domain_;
  size_t owner_ = 0;                            // of the process that is being added
  std::map<size_t, const Process*> processes_;  // by owner
  std::map<Key, Sums> groups_;
  std::map<std::tuple<uint32_t, uint32_t, RangeKind>, Sums*> known_;
  NvtxValues values_;
  std::map<Named, std::string> names_;
};

}  // namespace

Error RunNvtx(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  const std::string by = context.By("name");
  auto nvtx = std::make_unique<results::Nvtx>();
  Collector collector(by == "domain");
  for (const size_t index : context.selected())
    collector.AddProcess(context.Owner(index), context.process(index));
  collector.Fill(nvtx.get());
  nvtx->set_by(by);
  context.FillCountMeta("nvtx", nvtx->mutable_meta());
  AddUnpairedNotes(context, SpanSubject::kRanges, nvtx->mutable_meta());
  *result = std::move(nvtx);
  return {};
}

}  // namespace gpuprof::analysis
