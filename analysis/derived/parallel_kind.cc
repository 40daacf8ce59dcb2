// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/parallel_kind.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace gpuprof::analysis {
namespace {

constexpr std::pair<std::string_view, ParallelKind> kGroupWords[] = {
    {"dp", ParallelKind::kData},           {"ddp", ParallelKind::kData},
    {"fsdp", ParallelKind::kData},         {"hsdp", ParallelKind::kData},
    {"data", ParallelKind::kData},         {"shard", ParallelKind::kData},
    {"replicate", ParallelKind::kData},    {"zero", ParallelKind::kData},
    {"edp", ParallelKind::kData},          {"optimizer", ParallelKind::kData},
    {"tp", ParallelKind::kTensor},         {"tensor", ParallelKind::kTensor},
    {"etp", ParallelKind::kTensor},        {"pp", ParallelKind::kPipeline},
    {"pipeline", ParallelKind::kPipeline}, {"pipe", ParallelKind::kPipeline},
    {"stage", ParallelKind::kPipeline},    {"ep", ParallelKind::kExpert},
    {"moe", ParallelKind::kExpert},        {"eplb", ParallelKind::kExpert},
    {"cp", ParallelKind::kContext},        {"dcp", ParallelKind::kContext},
    {"pcp", ParallelKind::kContext},       {"context", ParallelKind::kContext},
    {"sp", ParallelKind::kContext},        {"sequence", ParallelKind::kContext},
    {"ulysses", ParallelKind::kContext}};

std::set<std::string> WordsOf(std::string_view name) {
  std::set<std::string> words;
  std::string word;
  const auto end = [&] {
    if (!word.empty()) words.insert(word);
    word.clear();
  };
  char before = 0;
  for (const char c : name) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    const bool is_lower = c >= 'a' && c <= 'z';
    // "dataParallel" has two words.
    if ((!is_upper && !is_lower) || (is_upper && before >= 'a' && before <= 'z')) end();
    if (is_upper || is_lower) word += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
    before = c;
  }
  end();
  return words;
}

bool IsRun(const std::vector<uint32_t>& ranks) {
  return !ranks.empty() && ranks.back() >= ranks.front() &&
         ranks.back() - ranks.front() + 1 == ranks.size();
}

uint64_t CountOf(const Communicator& group, CollectiveKind kind) {
  return group.of_kinds[static_cast<size_t>(kind)];
}

// A node has no more GPUs as a rule.
constexpr size_t kMostOfNode = 8;

ParallelGuess GuessByWork(const Communicator& group, size_t job_ranks) {
  const uint64_t messages =
      CountOf(group, CollectiveKind::kSend) + CountOf(group, CollectiveKind::kReceive);
  const uint64_t all = group.recorded_count;
  if (messages * 2 > all) return {ParallelKind::kPipeline, KindSource::kOperations};
  if (CountOf(group, CollectiveKind::kAllToAll) * 2 > all)
    return {ParallelKind::kExpert, KindSource::kOperations};
  const uint64_t reduces = CountOf(group, CollectiveKind::kAllReduce) +
                           CountOf(group, CollectiveKind::kReduceScatter) +
                           CountOf(group, CollectiveKind::kAllGather);
  if (reduces * 2 <= all || group.ranks.size() < 2) return {};
  if (job_ranks != 0 && group.ranks.size() == job_ranks)
    return {ParallelKind::kAll, KindSource::kRanks};
  if (!IsRun(group.ranks)) return {ParallelKind::kData, KindSource::kRanks};
  if (group.ranks.size() <= kMostOfNode) return {ParallelKind::kTensor, KindSource::kRanks};
  return {};
}

// Returns whether the group reduces, or gathers what was reduced.
bool Reduces(const Communicator& group) {
  return CountOf(group, CollectiveKind::kAllReduce) +
             CountOf(group, CollectiveKind::kReduceScatter) !=
         0;
}

}  // namespace

ParallelKind KindOfGroupName(std::string_view name) {
  const std::set<std::string> words = WordsOf(name);
  if (words.contains("embedding")) return ParallelKind::kEmbedding;
  std::set<ParallelKind> kinds;
  for (const auto& [word, kind] : kGroupWords)
    if (words.contains(std::string(word))) kinds.insert(kind);
  // "EXPERT_DATA_PARALLEL_GROUP" is of the data of experts, "DATA_PARALLEL_GROUP_WITH_CP" of data.
  const bool has_expert = words.contains("expert");
  if (has_expert && words.contains("model")) kinds.insert(ParallelKind::kExpert);
  if (has_expert && kinds.empty()) kinds.insert(ParallelKind::kExpert);
  if (words.contains("with") && kinds.size() == 2) kinds.erase(ParallelKind::kContext);
  if (kinds.size() > 1) return ParallelKind::kSeveral;
  if (kinds.size() == 1) return *kinds.begin();
  if (words.contains("model") && words.contains("parallel")) return ParallelKind::kSeveral;
  if (words.contains("world") || name == "default_pg" || name == "default")
    return ParallelKind::kAll;
  return ParallelKind::kUnknown;
}

std::vector<ParallelGuess> GuessKinds(const std::vector<const Communicator*>& groups,
                                      size_t job_ranks) {
  std::vector<ParallelGuess> guesses;
  bool has_data = false;
  for (const Communicator* group : groups) {
    ParallelGuess& guess = guesses.emplace_back();
    guess.kind = KindOfGroupName(group->description);
    if (guess.kind == ParallelKind::kUnknown) guess.kind = KindOfGroupName(group->name);
    if (guess.kind != ParallelKind::kUnknown) {
      guess.source = KindSource::kName;
    } else if (!group->name.empty()) {
      guess = GuessByWork(*group, job_ranks);
    }
    has_data |= guess.kind == ParallelKind::kData && group->size > 1;
  }
  // A program without a group for it reduces its gradients in the group of all ranks.
  for (size_t i = 0; i < groups.size(); ++i) {
    if (has_data || guesses[i].kind != ParallelKind::kAll || !Reduces(*groups[i])) continue;
    guesses[i] = {ParallelKind::kData, KindSource::kOperations};
  }
  return guesses;
}

}  // namespace gpuprof::analysis
