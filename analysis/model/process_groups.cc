// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/model/process_groups.h"

#include <charconv>
#include <optional>

namespace gpuprof::analysis {
namespace {

constexpr std::string_view kRanksWord = "ranks ", kGroupWord = " of group ";
constexpr size_t kMostRanksOfList = 1'000'000;

// Takes a number from the begin of the text.
std::optional<uint32_t> TakeRank(std::string_view* text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc()) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return number;
}

bool TakeMark(std::string_view* text, char mark) {
  if (text->empty() || text->front() != mark) return false;
  text->remove_prefix(1);
  return true;
}

// Adds "8", "0-3" or "16-30:2".
bool TakeRanks(std::string_view* text, std::vector<uint32_t>* ranks) {
  const std::optional<uint32_t> first = TakeRank(text);
  if (!first) return false;
  std::optional<uint32_t> last = first, stride = 1;
  if (TakeMark(text, '-')) {
    last = TakeRank(text);
    if (TakeMark(text, ':')) stride = TakeRank(text);
  }
  if (!last || !stride || *stride == 0 || *last < *first) return false;
  if ((*last - *first) / *stride >= kMostRanksOfList - ranks->size()) return false;
  for (uint64_t rank = *first; rank <= *last; rank += *stride)
    ranks->push_back(static_cast<uint32_t>(rank));
  return true;
}

}  // namespace

std::string ShortRankList(const std::vector<uint32_t>& ranks) {
  std::string text;
  for (size_t i = 0; i < ranks.size();) {
    // A run has one distance between its ranks. Two ranks are a run only if they are neighbours.
    size_t end = i + 1;
    const uint32_t stride = end < ranks.size() && ranks[end] > ranks[i] ? ranks[end] - ranks[i] : 0;
    while (stride != 0 && end < ranks.size() && ranks[end] > ranks[end - 1] &&
           ranks[end] - ranks[end - 1] == stride)
      ++end;
    if (end - i < 3 && stride != 1) end = i + 1;
    if (!text.empty()) text += ',';
    text += std::to_string(ranks[i]);
    if (end - i > 1) text += '-' + std::to_string(ranks[end - 1]);
    if (end - i > 1 && stride != 1) text += ':' + std::to_string(stride);
    i = end;
  }
  return text;
}

std::vector<uint32_t> ReadRankList(std::string_view text) {
  std::vector<uint32_t> ranks;
  do {
    if (!TakeRanks(&text, &ranks)) return {};
  } while (TakeMark(&text, ','));
  if (!text.empty()) return {};
  return ranks;
}

std::string GroupNote(const ProcessGroup& group) {
  std::string text = std::string(kRanksWord) + ShortRankList(group.ranks);
  text += std::string(kGroupWord) + group.name;
  return group.description.empty() ? text : text + ", " + group.description;
}

std::vector<ProcessGroup> GroupsOf(const Process& process) {
  std::vector<ProcessGroup> groups;
  size_t left = kMostRanksOfList;  // a damaged note may name many
  for (const proto::Note& note : process.health.note()) {
    std::string_view text = note.text();
    const size_t at = text.find(kGroupWord);
    if (note.source() != kGroupNoteSource || at == std::string_view::npos ||
        !text.starts_with(kRanksWord))
      continue;
    ProcessGroup group;
    group.ranks = ReadRankList(text.substr(kRanksWord.size(), at - kRanksWord.size()));
    if (group.ranks.size() > left) group.ranks.clear();
    left -= group.ranks.size();
    text.remove_prefix(at + kGroupWord.size());
    const size_t comma = text.find(", ");
    group.name = text.substr(0, comma);
    if (comma != std::string_view::npos) group.description = text.substr(comma + 2);
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace gpuprof::analysis
