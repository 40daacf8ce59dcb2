// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See tensor_history.h.

#include "analysis/passes/memory/tensor_history.h"

#include <algorithm>

namespace gpuprof::analysis {
namespace {

constexpr uint64_t kRuns = 160;  // of three moments each
constexpr uint64_t kFewChanges = 3 * kRuns;
constexpr size_t kNamedOwners = 8;

uint64_t Bytes(int64_t bytes) { return static_cast<uint64_t>(std::max<int64_t>(bytes, 0)); }

int64_t LiveOf(const std::vector<int64_t>& live, uint32_t owner) {
  return owner < live.size() ? live[owner] : 0;
}

}  // namespace

void TensorHistory::Since::Add(uint32_t owner, int64_t bytes) {
  if (owner >= bytes_.size()) {
    bytes_.resize(owner + 1, 0);
    is_touched_.resize(owner + 1, false);
  }
  if (!is_touched_[owner]) touched_.push_back(owner);
  is_touched_[owner] = true;
  bytes_[owner] += bytes;
}

void TensorHistory::Since::Clear() {
  for (const uint32_t owner : touched_) {
    bytes_[owner] = 0;
    is_touched_[owner] = false;
  }
  touched_.clear();
}

TensorHistory::TensorHistory(uint64_t changes) : run_changes_(changes / kRuns + 1) {}

void TensorHistory::Change(int64_t time_ns, uint32_t owner, int64_t bytes) {
  owner = std::min(owner, kMostOwners);
  if (order_ < kFewChanges) first_.push_back({time_ns, owner, bytes});
  const uint64_t run = std::min(order_ / run_changes_, kRuns - 1);
  if (run != run_) EndRun();
  run_ = run;
  if (owner >= live_.size()) live_.resize(owner + 1, 0);
  live_[owner] += bytes;
  total_ += bytes;
  ++order_;
  if (!is_open_ || total_ > highest_.total) {
    highest_ = {time_ns, order_, total_, {}};
    since_highest_.Clear();
  } else {
    since_highest_.Add(owner, bytes);
  }
  if (!is_open_ || total_ < lowest_.total) {
    lowest_ = {time_ns, order_, total_, {}};
    since_lowest_.Clear();
  } else {
    since_lowest_.Add(owner, bytes);
  }
  last_ = {time_ns, order_, total_, {}};
  is_open_ = true;
}

void TensorHistory::Restart(int64_t time_ns) {
  for (uint32_t owner = 0; owner < live_.size(); ++owner)
    if (live_[owner] != 0) Change(time_ns, owner, -live_[owner]);
}

void TensorHistory::EndRun() {
  if (!is_open_) return;
  const bool is_rising = lowest_.order < highest_.order;
  if (is_rising) Keep(lowest_, since_lowest_);
  Keep(highest_, since_highest_);
  if (lowest_.order > highest_.order) Keep(lowest_, since_lowest_);
  if (last_.order > kept_.back().order) Keep(last_, Since());
  is_open_ = false;
}

void TensorHistory::Keep(const Moment& moment, const Since& since) {
  kept_.push_back(moment);
  std::vector<int64_t>& live = kept_.back().live;
  live = live_;
  for (uint32_t owner = 0; owner < live.size(); ++owner) live[owner] -= since.Of(owner);
}

void TensorHistory::KeepAll() {
  kept_.clear();
  std::vector<int64_t> live;
  int64_t total = 0;
  for (const Event& event : first_) {
    if (event.owner >= live.size()) live.resize(event.owner + 1, 0);
    live[event.owner] += event.bytes;
    total += event.bytes;
    kept_.push_back({event.time_ns, kept_.size(), total, live});
  }
}

std::vector<uint32_t> TensorHistory::Ranked() const {
  std::vector<std::pair<int64_t, uint32_t>> peaks;
  for (uint32_t owner = 0; owner < std::min<size_t>(live_.size(), kMostOwners); ++owner) {
    int64_t peak = 0;
    for (const Moment& moment : kept_) peak = std::max(peak, LiveOf(moment.live, owner));
    if (peak > 0) peaks.emplace_back(peak, owner);
  }
  std::stable_sort(peaks.begin(), peaks.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<uint32_t> ranked;
  for (size_t i = 0; i < std::min(kNamedOwners, peaks.size()); ++i)
    ranked.push_back(peaks[i].second);
  return ranked;
}

void TensorHistory::Finish(const std::vector<std::string>& names, results::TensorHistory* out) {
  EndRun();
  if (order_ <= kFewChanges) KeepAll();
  for (const Moment& moment : kept_) {
    out->add_time_ns(moment.time_ns);
    out->add_live_bytes(Bytes(moment.total));
  }
  std::vector<int64_t> others;
  for (const Moment& moment : kept_) others.push_back(moment.total);
  for (const uint32_t owner : Ranked()) {
    results::TensorOwner* row = out->add_owners();
    if (owner < names.size()) row->set_name(names[owner]);
    for (size_t i = 0; i < kept_.size(); ++i) {
      const int64_t live = LiveOf(kept_[i].live, owner);
      row->add_live_bytes(Bytes(live));
      others[i] -= live;
    }
  }
  if (std::none_of(others.begin(), others.end(), [](int64_t bytes) { return bytes > 0; })) return;
  results::TensorOwner* row = out->add_owners();
  row->set_is_others(true);
  for (const int64_t bytes : others) row->add_live_bytes(Bytes(bytes));
}

}  // namespace gpuprof::analysis
