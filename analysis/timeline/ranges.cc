// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// When devices had no work in a range, and what Python called in it. See timeline.h.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "analysis/timeline/parts.h"

namespace gpuprof::analysis::timeline {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Gaps that are told one by one: the longest.
constexpr size_t kMostGaps = 1000;
// Functions of more callers are of no use to a person, and the tree must end.
constexpr size_t kMostNodes = 1'000'000;

Error CheckRange(const Selection& selection) {
  if (std::isfinite(selection.start_ns) && std::isfinite(selection.end_ns)) return {};
  return UsageError("A time of the question is not a number. Give nanoseconds.");
}

void KeepLongest(std::vector<Gap>* gaps) {
  std::stable_sort(gaps->begin(), gaps->end(), [](const Gap& x, const Gap& y) {
    return x.end_ns - x.start_ns > y.end_ns - y.start_ns;
  });
  if (gaps->size() > kMostGaps) gaps->resize(kMostGaps);
}

// Finds the gaps of one device. Time before its first work and behind its last is no gap.
DeviceGaps GapsOf(Timeline::Parts* parts, const std::vector<uint32_t>& tracks,
                  const Selection& selection) {
  struct Work {
    double start, end;
    uint32_t name;
  };
  const double from = selection.start_ns, to = selection.end_ns;
  std::vector<Work> all;
  double first = kInfinity, last = -kInfinity;
  uint64_t left_out = 0;
  for (const uint32_t track : tracks) {
    SpanTrack& spans = *parts->SpansOf(track);
    if (const auto bounds = spans.Bounds()) {
      first = std::min(first, bounds->first);
      last = std::max(last, bounds->last);
    }
    left_out += spans.LeftOut(from, to);
    spans.Within(from, to, [&](const Span& span) {
      all.push_back({span.start, span.end, span.name});
    });
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Work& x, const Work& y) { return x.start < y.start; });
  DeviceGaps gaps;
  gaps.left_out = left_out;
  // Work before the range: the range begins within the device's time.
  double covered = first < from ? from : kInfinity;
  const double begin = std::min(covered, all.empty() ? kInfinity : all.front().start);
  const auto add = [&](double until, const std::string& next) {
    if (until <= covered) return;
    gaps.idle_ns += until - covered;
    ++gaps.gap_count;
    gaps.gaps.push_back({covered, until, next});
    if (gaps.gaps.size() > 4 * kMostGaps) KeepLongest(&gaps.gaps);
  };
  for (const Work& work : all) {
    add(std::min(work.start, to), parts->names.text(work.name));
    covered = covered == kInfinity ? work.end : std::max(covered, work.end);
  }
  if (last > to) {
    add(to, "");
    covered = std::max(covered, to);
  }
  KeepLongest(&gaps.gaps);
  gaps.window_ns = std::max(0.0, std::min(covered, to) - std::max(begin, from));
  return gaps;
}

// The tree of calls. A call ends with its caller at the latest.
class TreeMaker {
 public:
  TreeMaker() { AddNode(0, 0); }

  void BeginTrack() { open_.clear(); }
  void Add(const Span& span, double from, double to) {
    while (!open_.empty() && open_.back().end <= span.start) open_.pop_back();
    const double until = std::min({span.end, open_.empty() ? to : open_.back().end, to});
    const double time = until - std::max(span.start, from);
    const uint32_t caller = open_.empty() ? 0 : open_.back().node;
    const uint32_t node = NodeOf(caller, span.name);
    self_[node] += time;
    if (caller != 0) self_[caller] -= time;
    open_.push_back({node, until});
  }
  CallTree Take(const NameTable& names) {
    CallTree tree;
    for (size_t i = 0; i < name_.size(); ++i)
      tree.names.push_back(i == 0 ? "" : names.text(name_[i]));
    tree.caller = std::move(caller_);
    tree.self_ns = std::move(self_);
    return tree;
  }

 private:
  struct Open {
    uint32_t node;
    double end;
  };
  uint32_t AddNode(uint32_t caller, uint32_t name) {
    name_.push_back(name);
    caller_.push_back(caller);
    self_.push_back(0);
    return static_cast<uint32_t>(name_.size() - 1);
  }
  uint32_t NodeOf(uint32_t caller, uint32_t name) {
    const uint64_t key = uint64_t{caller} << 32 | name;
    const auto known = nodes_.find(key);
    if (known != nodes_.end()) return known->second;
    if (name_.size() >= kMostNodes) return caller;
    return nodes_[key] = AddNode(caller, name);
  }

  std::vector<uint32_t> name_, caller_;
  std::vector<double> self_;
  std::unordered_map<uint64_t, uint32_t> nodes_;
  std::vector<Open> open_;
};

}  // namespace

Error Timeline::Gaps(const Selection& selection, std::vector<DeviceGaps>* answer) {
  if (Error error = CheckRange(selection)) return error;
  std::vector<std::pair<uint32_t, uint32_t>> order;  // of processes with devices
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> devices;
  for (const TrackInfo& info : parts_->info.tracks) {
    if (info.kind != TrackKind::kStream || !info.device || !parts_->IsSelected(info, selection))
      continue;
    std::vector<uint32_t>& list = devices[{info.process, *info.device}];
    if (list.empty()) order.emplace_back(info.process, *info.device);
    list.push_back(info.id);
  }
  std::vector<DeviceGaps> made;
  for (const auto& place : order) {
    DeviceGaps gaps = GapsOf(parts_.get(), devices[place], selection);
    gaps.process = place.first;
    gaps.device = place.second;
    if (gaps.window_ns > 0 || gaps.left_out != 0) made.push_back(std::move(gaps));
  }
  parts_->EndQuestion();
  *answer = std::move(made);
  return {};
}

Error Timeline::Calls(const Selection& selection, CallTree* answer) {
  if (Error error = CheckRange(selection)) return error;
  TreeMaker tree;
  uint64_t left_out = 0;
  for (const TrackInfo& info : parts_->info.tracks) {
    if (info.kind != TrackKind::kPython || !parts_->IsSelected(info, selection)) continue;
    tree.BeginTrack();
    SpanTrack& spans = *parts_->SpansOf(info.id);
    left_out += spans.LeftOut(selection.start_ns, selection.end_ns);
    spans.Within(selection.start_ns, selection.end_ns,
                 [&](const Span& span) { tree.Add(span, selection.start_ns, selection.end_ns); });
  }
  *answer = tree.Take(parts_->names);
  answer->left_out = left_out;
  parts_->EndQuestion();
  return {};
}

}  // namespace gpuprof::analysis::timeline
