// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about the messages of collectives, and the libraries that send them. See rules.h.

#include <algorithm>
#include <string>
#include <string_view>

#include "analysis/advice/rules/rule_parts.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

// Returns the time a step of the operations whose names begin so, and the name with most of the
// time.
int64_t OpsPerStep(const AdviceFacts& facts, std::string_view begin, std::string* name,
                   double* per_step) {
  int64_t total = 0, most = 0;
  for (const results::Op& op : facts.ops->ops()) {
    if (!op.name().starts_with(begin) || op.count_per_step() <= 0) continue;
    const auto each = op.total_ns() / static_cast<int64_t>(std::max<uint64_t>(op.count(), 1));
    const auto ns = static_cast<int64_t>(static_cast<double>(each) * op.count_per_step());
    total += ns;
    *per_step += op.count_per_step();
    if (ns <= most) continue;
    most = ns;
    *name = op.name();
  }
  return total;
}

Argument RankText(const RankPlace& rank) {
  return say::Phrase(
      {"CO-002.rank", {say::Name(rank.name), say::Plain(rank.pid), say::Plain(rank.device)}});
}

}  // namespace

std::optional<Finding> SmallMessages(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  const Pieces& small = device.small_messages;
  if (Ratio(small.total_ns, device.messages_ns) < facts.limits("CO-004.min_comm_share"))
    return std::nullopt;
  std::optional<Finding> finding =
      MakeOfPieces(facts, small, "all.min_gain", "CO-004.name", "CO-004.gain");
  if (!finding) return std::nullopt;
  finding->level = std::min(finding->level, results::LEVEL_MEDIUM);
  finding->reason = {"CO-004.reason"};
  finding->Evidence("CO-004.collectives_less_mean_take",
                    {CountPerStep(device, small.count),
                     say::Bytes(static_cast<uint64_t>(facts.limits("CO-004.max_bytes"))),
                     say::Bytes(small.bytes / small.count),
                     say::Percent(Ratio(small.total_ns, device.messages_ns))});
  finding->Evidence("CO-004.longest", {InstanceText(small.longest)});
  AddFix(facts, "CO-004.join_messages_collective_over", &*finding);
  finding->Caveat("CO-004.caveat");
  return finding;
}

std::optional<Finding> SlowBackend(const AdviceFacts& facts) {
  if (!facts.device || !HasSteps(facts) || facts.ops->ops().empty()) return std::nullopt;
  std::string name;
  double count = 0;
  const int64_t gloo = OpsPerStep(facts, "gloo:", &name, &count);
  if (Ratio(gloo, facts.overview->steps().mean_ns()) >= facts.limits("CO-007.min_share")) {
    Finding finding = Make("CO-007.name", results::LEVEL_MEDIUM, {"CO-007.reason"});
    finding.severity = results::SEVERITY_MEDIUM;
    finding.Evidence("CO-007.collectives_gloo_longest",
                     {PartOfStep(facts, gloo), say::Real(count), say::Name(name)});
    finding.Fix("CO-007.use_nccl_tensors_gpus");
    return finding;
  }
  const int64_t parallel = OpsPerStep(facts, "DataParallel.forward", &name, &count);
  if (parallel == 0 || facts.overview->gpu().device_count() < 2) return std::nullopt;
  Finding finding =
      Make("CO-007.name_data_parallel", results::LEVEL_HIGH, {"CO-007.reason_data_parallel"});
  finding.severity = results::SEVERITY_MEDIUM;
  finding.Evidence("CO-007.step_dataparallel_forward_gpus",
                   {say::Real(count), say::Count(facts.overview->gpu().device_count())});
  finding.Fix("CO-007.use_torch_nn_parallel");
  return finding;
}

std::optional<Finding> LateRankOfDevice(const AdviceFacts& facts) {
  if (!facts.late_rank || !facts.late_rank->device || !HasWholeSteps(facts)) return std::nullopt;
  const LateRank& late = *facts.late_rank;
  const DeviceFacts& device = *facts.device;
  const int64_t gain = late.lead_ns / static_cast<int64_t>(device.series.count());
  Finding finding = MakeOfDevice(device, "CO-002.name");
  SetGain(facts, Bound(gain, "CO-002.gain"), &finding);
  finding.Evidence("CO-002.last",
                   {RankText({late.name, late.pid, *late.device}), say::Count(late.rank_count),
                    say::Count(late.count), say::Count(late.of)});
  finding.Evidence("CO-002.behind", {say::Duration(gain)});
  finding.Evidence("CO-002.waited", {say::Duration(late.caused_ns)});
  finding.Fix("CO-002.ask_holds_rank_up", {say::Plain(late.pid)});
  finding.Caveat("CO-002.caveat");
  return finding;
}

std::optional<Finding> LateRankOfHost(const AdviceFacts& facts) {
  if (!facts.late_rank || facts.late_rank->device) return std::nullopt;
  const LateRank& late = *facts.late_rank;
  Finding finding = Make("CO-010.name", results::LEVEL_HIGH, {"CO-010.reason"});
  finding.Evidence("CO-010.last",
                   {say::Name(late.name), say::Plain(late.pid), say::Count(late.rank_count),
                    say::Count(late.count), say::Count(late.of)});
  int64_t gain = late.lead_ns;
  if (HasSteps(facts)) {
    gain /= static_cast<int64_t>(facts.overview->steps().count());
    finding.Evidence("CO-010.behind_in_step", {PartOfStep(facts, gain)});
  } else {
    finding.Evidence("CO-010.behind", {say::Duration(gain)});
  }
  finding.Evidence("CO-010.waited", {say::Duration(late.caused_ns)});
  SetGain(facts, Bound(gain, "CO-010.gain"), &finding);
  finding.Fix("CO-010.ask_holds_rank_up", {say::Plain(late.pid)});
  finding.Caveat("CO-010.caveat");
  return finding;
}

std::optional<Finding> UnequalRanks(const AdviceFacts& facts) {
  if (!HasWholeSteps(facts)) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  const RankFacts& ranks = device.ranks;
  const int64_t spread = ranks.slowest_ns - ranks.fastest_ns;
  if (Ratio(spread, ranks.slowest_ns) < facts.limits("CO-008.min_spread")) return std::nullopt;
  // Equal ranks all take the mean.
  const int64_t gain = ranks.slowest_ns - ranks.mean_ns;
  if (Share(device, gain) < facts.limits("all.min_gain")) return std::nullopt;
  Finding finding = MakeOfDevice(device, "CO-008.name");
  SetGain(facts, Bound(gain, "CO-008.gain"), &finding);
  finding.Evidence("CO-008.computes_step_computes_mean",
                   {RankText(ranks.slowest), say::Duration(ranks.slowest_ns),
                    RankText(ranks.fastest), say::Duration(ranks.fastest_ns),
                    say::Count(ranks.rank_count), say::Duration(ranks.mean_ns)});
  finding.Fix("CO-008.give_ranks_same_work");
  return finding;
}

}  // namespace gpuprof::analysis
