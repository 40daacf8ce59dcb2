// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See short_names.h.

#include "analysis/symbols/short_names.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/symbols/kernel_names.h"
#include "analysis/symbols/kernel_rules.h"

namespace gpuprof::analysis {
namespace {

// Of each name so much is compared.
constexpr size_t kMostCompared = 16 * 1024;
// Wider differences become a number.
constexpr size_t kMostSuffix = 24;

// Without the list of parameters, which repeats the template arguments.
std::string_view WithoutParameters(std::string_view name) {
  if (!name.ends_with(')')) return name;
  size_t depth = 0;
  for (size_t at = name.size(); at > 0; --at) {
    if (name[at - 1] == ')') ++depth;
    if (name[at - 1] == '(' && --depth == 0) return name.substr(0, at - 1);
  }
  return name;
}

// Identifiers and numbers, or the pieces of them between underscores.
std::vector<std::string_view> WordsOf(std::string_view name, bool in_pieces) {
  name = name.substr(0, kMostCompared);
  const auto is_word = [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || (!in_pieces && c == '_');
  };
  std::vector<std::string_view> words;
  for (size_t at = 0; at < name.size();) {
    size_t end = at;
    while (end < name.size() && is_word(name[end])) ++end;
    if (end > at) words.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

std::string ShownWord(std::string_view word) {
  for (const TypeRule& rule : TypeRules()) {
    if (rule.type == word) return std::string(rule.word);
  }
  return std::string(word);
}

// The words in which the names differ, those that are enough to tell all apart; nothing when the
// names are not built alike or differ in long words.
std::vector<std::string> Differences(const std::vector<std::string>& names, bool in_pieces) {
  std::vector<std::vector<std::string_view>> words;
  for (const std::string& name : names)
    words.push_back(WordsOf(WithoutParameters(name), in_pieces));
  for (const auto& of_name : words) {
    if (of_name.size() != words[0].size()) return {};
  }
  std::vector<std::string> suffixes(names.size());
  size_t told_apart = 1;
  for (size_t i = 0; i < words[0].size() && told_apart < names.size(); ++i) {
    std::vector<std::string> longer = suffixes;
    for (size_t n = 0; n < names.size(); ++n) longer[n] += " " + ShownWord(words[n][i]);
    const size_t now = std::set<std::string>(longer.begin(), longer.end()).size();
    if (now <= told_apart) continue;
    told_apart = now;
    suffixes = std::move(longer);
  }
  const bool is_short =
      std::all_of(suffixes.begin(), suffixes.end(),
                  [](const std::string& suffix) { return suffix.size() <= kMostSuffix; });
  if (told_apart < names.size() || !is_short) return {};
  return suffixes;
}

// FNV-1a.
uint64_t HashOf(std::string_view text) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

std::string Hex(uint64_t value, size_t digits) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (size_t i = 0; i < digits; ++i) out += kDigits[value >> (60 - 4 * i) & 15];
  return out;
}

}  // namespace

std::map<std::string, std::string> ShortKernelNames(const std::set<std::string>& names) {
  std::map<std::string, std::vector<std::string>> by_short;
  for (const std::string& name : names) by_short[ShortKernelName(name)].push_back(name);
  std::set<std::string> taken;
  for (const auto& [short_name, of_it] : by_short) taken.insert(short_name);
  std::map<std::string, std::string> result;
  for (const auto& [short_name, of_it] : by_short) {
    if (of_it.size() == 1) {
      result[of_it[0]] = short_name;
      continue;
    }
    std::vector<std::string> suffixes = Differences(of_it, false);
    if (suffixes.empty()) suffixes = Differences(of_it, true);
    for (size_t i = 0; i < of_it.size(); ++i) {
      std::string told = suffixes.empty() ? std::string() : short_name + suffixes[i];
      for (size_t digits = 4; told.empty() || !taken.insert(told).second; digits += 4) {
        // Sixteen digits that are taken too: such a pair was made on purpose, and is counted.
        told = short_name + " #" +
               (digits <= 16 ? Hex(HashOf(of_it[i]), digits) : std::to_string(digits));
      }
      result[of_it[i]] = std::move(told);
    }
  }
  return result;
}

}  // namespace gpuprof::analysis
