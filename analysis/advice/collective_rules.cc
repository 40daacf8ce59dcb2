// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about the messages of collectives, and the libraries that send them. See rules.h.

#include <algorithm>
#include <string>
#include <string_view>

#include "analysis/advice/rule_parts.h"
#include "analysis/render/figures.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

using results::Finding;

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

std::string RankText(const RankPlace& rank) {
  return "Pid " + std::to_string(rank.pid) + " on device " + std::to_string(rank.device);
}

}  // namespace

std::optional<Finding> SmallMessages(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  const Pieces& small = device.small_messages;
  if (Ratio(small.total_ns, device.messages_ns) < facts.limits("CO-004.min_comm_share"))
    return std::nullopt;
  std::optional<Finding> finding =
      MakeOfPieces(facts, small, "all.min_gain", "CO-004", "Collectives send many small messages",
                   "a part of these collectives takes no time");
  if (!finding) return std::nullopt;
  finding->mutable_confidence()->set_level(
      std::min(finding->confidence().level(), results::LEVEL_MEDIUM));
  finding->mutable_confidence()->set_reason("a part of this time may be waits for other ranks");
  finding->add_evidence(CountPerStep(device, small.count) + " collectives have less than " +
                        FormatBytes(static_cast<uint64_t>(facts.limits("CO-004.max_bytes"))) +
                        ", " + FormatBytes(small.bytes / small.count) + " in the mean. They take " +
                        FormatPercent(Ratio(small.total_ns, device.messages_ns)) +
                        " of the collectives' time.");
  finding->add_evidence("The longest: " + InstanceText(small.longest) + ".");
  AddFix(facts,
         {"Join messages: one collective over a buffer, or ncclGroupStart and ncclGroupEnd.",
          "Join messages: larger bucket_cap_mb of DistributedDataParallel, one flat buffer for "
          "metrics, torch.distributed's coalescing manager.",
          "Join messages: experimental_hints of tf.distribute with larger bytes_per_pack.",
          "Join messages: reduce one concatenated array, or let XLA combine collectives."},
         &*finding);
  finding->set_caveat("The gain assumes that joined messages take a part of this time.");
  return finding;
}

std::optional<Finding> SlowBackend(const AdviceFacts& facts) {
  if (!facts.device || !HasSteps(facts) || facts.ops->ops().empty()) return std::nullopt;
  std::string name;
  double count = 0;
  const int64_t gloo = OpsPerStep(facts, "gloo:", &name, &count);
  if (Ratio(gloo, facts.overview->steps().mean_ns()) >= facts.limits("CO-007.min_share")) {
    Finding finding = Make("CO-007", "Collectives run on the host, by Gloo", results::LEVEL_MEDIUM,
                           "which data they carry is not recorded");
    finding.set_severity(results::SEVERITY_MEDIUM);
    finding.add_evidence(PartOfStep(facts, gloo) + " is in " + FormatReal(count) +
                         " collectives of Gloo; the longest are " + name + ".");
    finding.add_fix(
        "Use NCCL for tensors of GPUs: torch.distributed.init_process_group(\"nccl\"), or "
        "\"cpu:gloo,cuda:nccl\" for both.");
    return finding;
  }
  const int64_t parallel = OpsPerStep(facts, "DataParallel.forward", &name, &count);
  if (parallel == 0 || facts.overview->gpu().device_count() < 2) return std::nullopt;
  Finding finding = Make("CO-007", "One process drives several GPUs by DataParallel",
                         results::LEVEL_HIGH, "the operation was recorded");
  finding.set_severity(results::SEVERITY_MEDIUM);
  finding.add_evidence(FormatReal(count) + " a step: DataParallel.forward, on " +
                       FormatNumber(facts.overview->gpu().device_count()) +
                       " GPUs. It copies the model to each GPU in each step, and one thread of "
                       "Python launches for all.");
  finding.add_fix("Use torch.nn.parallel.DistributedDataParallel: one process for each GPU.");
  return finding;
}

std::optional<Finding> LateRank(const AdviceFacts& facts) {
  if (!HasWholeSteps(facts)) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  const RankFacts& ranks = device.ranks;
  const double last = Ratio(ranks.late_count, ranks.matched_count);
  if (ranks.matched_count == 0 ||
      static_cast<double>(ranks.matched_count) < facts.limits("CO-002.min_collectives") ||
      last < facts.limits("CO-002.min_last"))
    return std::nullopt;
  const int64_t gain = ranks.late_ns / static_cast<int64_t>(device.series.count());
  if (Share(device, gain) < facts.limits("CO-002.min_share")) return std::nullopt;
  Finding finding = MakeOfDevice(device, "CO-002", "One rank is late at the collectives");
  SetGain(facts, Bound(gain, "the wait for the last rank"), &finding);
  finding.add_evidence(RankText(ranks.late) + " is the last of " + FormatNumber(ranks.rank_count) +
                       " ranks at " + FormatNumber(ranks.late_count) + " of " +
                       FormatNumber(ranks.matched_count) + " collectives (" + FormatPercent(last) +
                       "). It comes " + FormatDuration(gain) + " a step after the rank before it.");
  finding.add_fix("Ask what holds this rank up: `gpuprof advise --pid " +
                  std::to_string(ranks.late.pid) +
                  "`. A rank with little work on its GPU and a late host is slow, too.");
  finding.set_caveat(
      "Clocks of machines were put right by the ends of collectives, which all ranks see at once.");
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
  Finding finding = MakeOfDevice(device, "CO-008", "Ranks compute for different times");
  SetGain(facts, Bound(gain, "what the slowest rank computes beyond the mean"), &finding);
  finding.add_evidence(RankText(ranks.slowest) + " computes for " +
                       FormatDuration(ranks.slowest_ns) + " a step. " + RankText(ranks.fastest) +
                       " computes for " + FormatDuration(ranks.fastest_ns) + ". The mean of " +
                       FormatNumber(ranks.rank_count) + " ranks is " +
                       FormatDuration(ranks.mean_ns) + ".");
  finding.add_fix(
      "Give all ranks the same work: batches of equal numbers of tokens, stages of a pipeline of "
      "equal time. Divide tables and experts by their cost.");
  return finding;
}

}  // namespace gpuprof::analysis
