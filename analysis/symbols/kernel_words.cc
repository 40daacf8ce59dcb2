// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See kernel_words.h.

#include "analysis/symbols/kernel_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "analysis/symbols/kernel_rules.h"

namespace gpuprof::analysis {
namespace {

constexpr std::string_view kDigits = "0123456789";

bool IsNumber(std::string_view ident) {
  return !ident.empty() && (kDigits.find(ident[0]) != std::string_view::npos ||
                            (ident[0] == '-' && ident.size() > 1));
}

// The first type of numbers in the tree for which `wanted` holds.
template <typename Predicate>
std::string FindTypeIf(const CxxName& name, Predicate wanted) {
  std::string word = TypeWord(name);
  if (!word.empty() && wanted(word)) return word;
  for (const CxxPart& part : name.parts) {
    for (const CxxName& arg : part.args) {
      std::string found = FindTypeIf(arg, wanted);
      if (!found.empty()) return found;
    }
  }
  return {};
}

}  // namespace

std::string_view NumberOf(std::string_view ident) {
  if (ident.starts_with("_")) ident.remove_prefix(1);
  if (!IsNumber(ident)) return {};
  return ident.substr(0, std::min(ident.find_first_not_of("-0123456789."), ident.size()));
}

std::string TypeWord(const CxxName& name) {
  const std::string_view ident = name.Ident();
  if (ident == "OpaqueType" && !name.Args().empty())
    return std::string(NumberOf(name.Args()[0].Ident())) + "B";
  if (ident == "complex" && !name.Args().empty())
    return name.Args()[0].Ident() == "double" ? "c128" : "c64";
  for (const TypeRule& rule : TypeRules()) {
    if (rule.type == ident) return std::string(rule.word);
  }
  return {};
}

std::string FindType(const CxxName& name) {
  const std::string real = FindTypeIf(name, [](const std::string& word) {
    return word[0] != 'i' && word[0] != 'u' && word != "bool";
  });
  return real.empty() ? FindTypeIf(name, [](const std::string& word) { return word != "bool"; })
                      : real;
}

std::string FindTile(const CxxName& name) {
  constexpr std::array<std::string_view, 4> kShapes = {"tuple", "GemmShape", "sequence", "Shape"};
  const std::vector<CxxName>& args = name.Args();
  if (std::find(kShapes.begin(), kShapes.end(), name.Ident()) != kShapes.end() && args.size() > 1) {
    std::string tile;
    bool is_more_than_one = false;
    for (size_t i = 0; i < args.size() && i < 3; ++i) {
      const std::string_view number =
          NumberOf(args[i].Args().empty() ? args[i].Ident() : args[i].Args()[0].Ident());
      if (number.empty()) break;
      is_more_than_one |= number != "1";
      tile += (i == 0 ? "" : "x") + std::string(number);
    }
    if (is_more_than_one && tile.find('x') != std::string::npos) return tile;
  }
  for (const CxxPart& part : name.parts) {
    for (const CxxName& arg : part.args) {
      std::string found = FindTile(arg);
      if (!found.empty()) return found;
    }
  }
  return {};
}

std::string FindScalarOp(const CxxName& name) {
  constexpr std::string_view kScalar = "scalar_", kOp = "_op";
  std::string_view ident = name.Ident();
  if (ident.starts_with(kScalar)) {
    ident.remove_prefix(kScalar.size());
    if (ident.ends_with(kOp)) ident.remove_suffix(kOp.size());
    return std::string(ident);
  }
  for (const CxxPart& part : name.parts) {
    for (const CxxName& arg : part.args) {
      std::string found = FindScalarOp(arg);
      if (!found.empty()) return found;
    }
  }
  return {};
}

std::string StripAffixes(std::string_view ident) {
  for (const std::string_view prefix : FunctorPrefixes()) {
    if (ident.starts_with(prefix)) ident.remove_prefix(prefix.size());
  }
  for (const std::string_view suffix : FunctorSuffixes()) {
    if (!ident.ends_with(suffix) || ident.size() == suffix.size()) continue;
    ident.remove_suffix(suffix.size());
    break;
  }
  // CamelCase becomes snake_case, unless it has underscores already.
  if (ident.find('_') != std::string_view::npos) return std::string(ident);
  std::string out;
  for (size_t i = 0; i < ident.size(); ++i) {
    const auto c = static_cast<unsigned char>(ident[i]);
    const bool is_new_word = i > 0 && std::isupper(c) != 0 &&
                             std::islower(static_cast<unsigned char>(ident[i - 1])) != 0;
    if (is_new_word) out += '_';
    out += static_cast<char>(std::tolower(c));
  }
  return out;
}

}  // namespace gpuprof::analysis
