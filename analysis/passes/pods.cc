// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `pods`: what a step of a job is made of, by rank and by step. See passes.h.

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/model/process_name.h"
#include "analysis/passes/device/device_steps.h"
#include "analysis/passes/job/common_steps.h"
#include "analysis/passes/job/equal_ranks.h"
#include "analysis/passes/job/rank_times.h"
#include "analysis/passes/passes.h"
#include "analysis/steps/statistics.h"
#include "proto/results/pods.pb.h"

namespace gpuprof::analysis {
namespace {

// Sets the columns of the parts, and their sum.
template <typename Row>
void SetTimes(const RankTimes& times, Row* row) {
  const auto part = [&](RankTime time) { return times[static_cast<size_t>(time)]; };
  row->set_input_ns(part(RankTime::kInput));
  row->set_forward_ns(part(RankTime::kForward));
  row->set_backward_ns(part(RankTime::kBackward));
  row->set_optimizer_ns(part(RankTime::kOptimizer));
  row->set_compute_ns(part(RankTime::kCompute));
  row->set_copy_ns(part(RankTime::kCopy));
  row->set_wait_ns(part(RankTime::kWait));
  row->set_transfer_ns(part(RankTime::kTransfer));
  row->set_host_ns(part(RankTime::kHost));
  row->set_other_ns(part(RankTime::kOther));
  int64_t sum = 0;
  for (const int64_t each : times) sum += each;
  row->set_step_ns(sum);
}

RankTimes MeanOf(const RankTimes& sums, size_t count) {
  RankTimes mean = sums;
  for (int64_t& part : mean) part /= static_cast<int64_t>(std::max<size_t>(count, 1));
  return mean;
}

class PodsFiller {
 public:
  PodsFiller(PassContext& context, const JobSteps& job, results::Pods* out)
      : context_(context), job_(job), common_(FindCommonSteps(job)), out_(*out) {}

  void Fill() {
    out_.set_rank_count(static_cast<uint32_t>(job_.ranks.size()));
    std::set<std::string> hosts;
    for (const RankSteps& rank : job_.ranks) hosts.insert(context_.process(rank.process).host);
    out_.set_host_count(static_cast<uint32_t>(hosts.size()));
    if (job_.ranks.empty()) return;
    out_.set_time(job_.ranks.front().device ? results::POD_TIME_DEVICE : results::POD_TIME_HOST);
    out_.set_arrivals(job_.has_arrivals ? results::POD_ARRIVALS_MATCHED
                                        : results::POD_ARRIVALS_UNKNOWN);
    SetClocks();
    out_.set_step_count(common_.size());
    for (const RankSteps& rank : job_.ranks) AddMean(rank);
    groups_ = GroupRanks(means_, errors_, job_.has_arrivals);
    for (const RankSteps& rank : job_.ranks) AddRank(rank);
    for (const RankGroup& group : groups_) AddGroup(group);
    for (const CommonStep& step : common_) AddStep(step);
    RankTimes sums = {};
    for (const RankTimes& mean : means_)
      for (size_t i = 0; i < kRankTimes; ++i) sums[i] += mean[i];
    results::PodGroup whole;
    SetTimes(MeanOf(sums, means_.size()), &whole);
    out_.set_step_ns(whole.step_ns());
    out_.set_wait_ns(whole.wait_ns());
    out_.set_wait_ratio(Ratio(whole.wait_ns(), whole.step_ns()));
  }

 private:
  const Process& ProcessOf(const RankSteps& rank) const { return context_.process(rank.process); }
  size_t IndexOf(const RankSteps& rank) const {
    return static_cast<size_t>(&rank - job_.ranks.data());
  }

  void SetClocks() {
    if (!job_.has_clocks) return;
    int64_t least = 0, most = 0;
    for (const RankSteps& rank : job_.ranks) {
      least = std::min(least, rank.clock_offset_ns);
      most = std::max(most, rank.clock_offset_ns);
    }
    out_.set_clock_spread_ns(most - least);
    out_.set_clock_error_ns(job_.clock_error_ns);
  }

  // Calls visit(step) for the rank's steps that count: the common ones, or all if there are none.
  template <typename Visit>
  void ForEachStep(const RankSteps& rank, Visit&& visit) const {
    for (const CommonStep& step : common_) visit(rank.steps[step.places[IndexOf(rank)]]);
    if (!common_.empty()) return;
    for (const RankStep& step : rank.steps) visit(step);
  }

  void AddMean(const RankSteps& rank) {
    RankTimes sums = {}, errors = {};
    std::array<double, kRankTimes> squares = {};
    size_t count = 0;
    ForEachStep(rank, [&](const RankStep& step) {
      ++count;
      for (size_t i = 0; i < kRankTimes; ++i) {
        sums[i] += step.times[i];
        squares[i] += static_cast<double>(step.times[i]) * static_cast<double>(step.times[i]);
      }
    });
    for (size_t i = 0; i < kRankTimes && count > 1; ++i) {
      const auto n = static_cast<double>(count);
      const double mean = static_cast<double>(sums[i]) / n;
      const double variance = std::max(0.0, squares[i] / n - mean * mean);
      errors[i] = static_cast<int64_t>(std::sqrt(variance / (n - 1)));
    }
    counts_.push_back(count);
    means_.push_back(MeanOf(sums, count));
    errors_.push_back(errors);
  }

  // The place of the rank's group.
  size_t GroupOf(size_t rank) const {
    const auto found = std::find_if(groups_.begin(), groups_.end(), [&](const RankGroup& group) {
      return std::binary_search(group.ranks.begin(), group.ranks.end(), rank);
    });
    return static_cast<size_t>(found - groups_.begin());
  }

  void AddRank(const RankSteps& rank) {
    const size_t index = IndexOf(rank), group = GroupOf(index);
    results::PodRank* row = out_.add_ranks();
    SetProcess(ProcessOf(rank), row);
    row->set_name(ProcessName(ProcessOf(rank)));
    if (const auto number = RankOf(ProcessOf(rank))) row->set_rank(number->number);
    if (rank.device) row->set_device(*rank.device);
    row->set_group_row(static_cast<uint32_t>(group + 1));
    row->set_step_count(counts_[index]);
    row->set_clock_offset_ns(rank.clock_offset_ns);
    SetTimes(means_[index], row);
    const auto outlier = groups_[group].outlier_time;
    row->set_outlier(outlier.has_value());
    if (!outlier) return;
    const auto part = static_cast<size_t>(*outlier);
    row->set_outlier_time(std::string(RankTimeName(*outlier)));
    row->set_outlier_ns(means_[index][part] - groups_.front().mean[part]);
  }

  void AddGroup(const RankGroup& group) {
    results::PodGroup* row = out_.add_groups();
    std::set<std::string> hosts;
    std::vector<uint32_t> numbers;
    for (const size_t rank : group.ranks) {
      const Process& process = ProcessOf(job_.ranks[rank]);
      hosts.insert(process.host);
      if (const auto number = RankOf(process)) numbers.push_back(number->number);
    }
    // Several devices of one process have one number.
    const bool have_numbers = numbers.size() == group.ranks.size() &&
                              std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end();
    row->set_name(have_numbers              ? RankWords(numbers)
                  : group.ranks.size() == 1 ? ProcessName(ProcessOf(job_.ranks[group.ranks[0]]))
                                            : std::to_string(group.ranks.size()) + " processes");
    row->set_rank_count(static_cast<uint32_t>(group.ranks.size()));
    row->set_host_count(static_cast<uint32_t>(hosts.size()));
    row->set_outlier(group.outlier_time.has_value());
    if (group.outlier_time) row->set_outlier_time(std::string(RankTimeName(*group.outlier_time)));
    SetTimes(group.mean, row);
  }

  void AddStep(const CommonStep& common) {
    results::PodStep* row = out_.add_steps();
    row->set_number(common.number);
    RankTimes sums = {};
    std::vector<int64_t> lengths, own;
    for (size_t i = 0; i < job_.ranks.size(); ++i) {
      const RankStep& step = job_.ranks[i].steps[common.places[i]];
      for (size_t part = 0; part < kRankTimes; ++part) sums[part] += step.times[part];
      lengths.push_back(step.span.length());
      own.push_back(OwnTime(step.times));
    }
    SetTimes(MeanOf(sums, job_.ranks.size()), row);
    const RankSteps& first = job_.ranks.front();
    row->set_start_ns(first.steps[common.places.front()].span.start + first.clock_offset_ns);
    row->set_max_ns(*std::max_element(lengths.begin(), lengths.end()));
    row->set_min_ns(*std::min_element(lengths.begin(), lengths.end()));
    const auto slowest = std::max_element(own.begin(), own.end());
    row->set_slowest_name(
        ProcessName(ProcessOf(job_.ranks[static_cast<size_t>(slowest - own.begin())])));
    row->set_slowest_ns(*slowest - Samples(own).median());
  }

  PassContext& context_;
  const JobSteps& job_;
  const std::vector<CommonStep> common_;
  std::vector<RankTimes> means_, errors_;  // by rank
  std::vector<size_t> counts_;
  std::vector<RankGroup> groups_;
  results::Pods& out_;
};

}  // namespace

Error RunPods(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::Pods>();
  const JobSteps job = FindJobSteps(context);
  PodsFiller(context, job, out.get()).Fill();
  context.FillCountMeta("pods", out->mutable_meta());
  AddTooMuchWorkNote(context, out->mutable_meta());
  context.LimitToEvents(out->mutable_meta()->mutable_confidence());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
