// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See kernel_family.h.

#include "analysis/symbols/kernel_family.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

#include "analysis/symbols/cxx_parts.h"
#include "analysis/symbols/family_rules.h"
#include "analysis/symbols/kernel_names.h"

namespace gpuprof::analysis {
namespace {

using results::KernelFamily;

// So much of an identifier is read.
constexpr size_t kMostLetters = 2048;
// So much of a name is read.
constexpr size_t kMostRead = 64 * 1024;
constexpr int kMostLaunchers = 8;

bool IsUpper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool IsLower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// Returns whether a word begins at `at`: "CUDAKernel" has two, "s16816gemm" one.
bool BeginsWord(std::string_view text, size_t at) {
  if (at == 0 || !IsWordChar(text[at - 1])) return true;
  if (!IsUpper(text[at])) return false;
  return IsLower(text[at - 1]) || (at + 1 < text.size() && IsLower(text[at + 1]));
}

// The words of an identifier, in small letters.
class Words {
 public:
  explicit Words(std::string_view text) {
    text = text.substr(0, kMostLetters);
    for (size_t at = 0; at < text.size();) {
      size_t end = at;
      while (end < text.size() && IsWordChar(text[end]) && (end == at || !BeginsWord(text, end)))
        ++end;
      if (end > at) Add(text.substr(at, end - at));
      at = std::max(end, at + 1);
    }
  }

  const std::vector<std::string>& list() const { return list_; }
  bool Has(std::string_view word) const {
    return std::find(list_.begin(), list_.end(), word) != list_.end();
  }

  // Returns whether a rule's words stand in the identifier.
  bool Match(std::string_view rule) const {
    const bool is_open_before = rule.starts_with('*'), is_open_behind = rule.ends_with('*');
    if (is_open_before) rule.remove_prefix(1);
    if (is_open_behind) rule.remove_suffix(1);
    for (size_t at = 0; at < letters_.size(); ++at) {
      if (!is_open_before && !begins_[at]) continue;
      const size_t end = MatchAt(rule, at, is_open_before);
      if (end != 0 && (is_open_behind || end == letters_.size() || begins_[end])) return true;
    }
    return false;
  }

 private:
  void Add(std::string_view text) {
    std::string word(text);
    for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    // A library's name, which has a word in it.
    if (word == "fbgemm") return;
    for (size_t i = 0; i < word.size(); ++i) begins_.push_back(i == 0);
    letters_ += word;
    list_.push_back(std::move(word));
  }

  // Returns the end of the match at `at`; 0: there is none.
  size_t MatchAt(std::string_view rule, size_t at, bool is_within_word) const {
    const size_t first = at;
    for (const char c : rule) {
      if (c == ' ') continue;
      if (at == letters_.size() || letters_[at] != c) return 0;
      if (is_within_word && at != first && begins_[at]) return 0;
      ++at;
    }
    return at;
  }

  std::vector<std::string> list_;
  std::string letters_;
  std::vector<bool> begins_;  // whether a word begins with the letter
};

KernelFamily Find(std::span<const FamilyRule> rules, const Words& words) {
  for (const FamilyRule& rule : rules) {
    if (words.Match(rule.words)) return rule.family;
  }
  return results::KERNEL_FAMILY_NONE;
}

KernelFamily Either(KernelFamily found, KernelFamily otherwise) {
  return found == results::KERNEL_FAMILY_NONE ? otherwise : found;
}

bool MatchesAny(const Words& words, std::initializer_list<std::string_view> rules) {
  return std::any_of(rules.begin(), rules.end(),
                     [&](std::string_view rule) { return words.Match(rule); });
}

// Returns what compiled code does whose name lists operations that it handles element by element.
KernelFamily FamilyOfFused(const Words& words) {
  bool has_operation = false, only_moves = true;
  for (const std::string& word : words.list()) {
    const auto is_in = [&](std::span<const std::string_view> list) {
      return std::find(list.begin(), list.end(), word) != list.end();
    };
    if (is_in(FusionWords()) || std::all_of(word.begin(), word.end(), IsDigit)) continue;
    has_operation = true;
    only_moves &= is_in(MovingWords());
  }
  return has_operation && only_moves ? results::KERNEL_FAMILY_COPY
                                     : results::KERNEL_FAMILY_ELEMENTWISE;
}

// Reads the names that TorchInductor gives: triton_red_fused_add_mean_3. The operations in them are
// what the code was made of, and none of them is a collective. NONE: it is another's name.
KernelFamily FamilyOfInductor(std::string_view name) {
  constexpr std::string_view kPrefix = "triton_";
  if (!name.starts_with(kPrefix)) return results::KERNEL_FAMILY_NONE;
  const std::string_view rest = name.substr(kPrefix.size());
  const std::string_view kind = rest.substr(0, rest.find('_'));
  const Words words(name);
  if (kind == "poi" || kind == "for") return FamilyOfFused(words);
  if (kind == "red" || kind == "per") {
    if (words.Match("soft max*")) return results::KERNEL_FAMILY_SOFTMAX;
    if (MatchesAny(words,
                   {"layer norm*", "rms norm*", "batch norm*", "group norm*", "var mean", "rsqrt"}))
      return results::KERNEL_FAMILY_NORMALISATION;
    return results::KERNEL_FAMILY_REDUCTION;
  }
  if (kind != "tem" && kind != "mm" && kind != "bmm") return results::KERNEL_FAMILY_NONE;
  if (words.Match("attention")) return results::KERNEL_FAMILY_ATTENTION;
  return MatchesAny(words, {"convolution*", "conv2d", "conv"}) ? results::KERNEL_FAMILY_CONVOLUTION
                                                               : results::KERNEL_FAMILY_MATRIX;
}

// Returns the opcode of "%x.1 = (f32[8]{0}, u32[]) all-gather-start(%y)"; "": there is none.
std::string_view OpcodeOf(std::string_view text) {
  constexpr std::string_view kIs = " = ";
  const size_t is = text.find(kIs);
  if (is == std::string_view::npos) return {};
  text.remove_prefix(is + kIs.size());
  size_t depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && depth > 0) --depth;
    if (c != ' ' || depth != 0) continue;
    const std::string_view rest = text.substr(at + 1);
    return rest.substr(0, rest.find('('));
  }
  return {};
}

// Returns whether XLA names instructions so: "%fusion.3", "all-reduce.12", "loop_add_fusion".
bool IsOfXla(std::string_view name) {
  if (name.starts_with('%')) return true;
  if (name.find_first_of("<(: ") != std::string_view::npos) return false;
  const size_t dot = name.rfind('.');
  const bool is_numbered =
      dot != std::string_view::npos && dot + 1 < name.size() &&
      std::all_of(name.begin() + static_cast<std::ptrdiff_t>(dot) + 1, name.end(), IsDigit);
  return is_numbered || name.find('-') != std::string_view::npos ||
         name.find("fusion") != std::string_view::npos || name.starts_with("wrapped_");
}

KernelFamily FamilyOfInstruction(std::string_view text) {
  const Words words(text.substr(0, text.find(" = ")));
  if (words.Has("fusion") || words.Has("wrapped")) {
    if (words.Match("soft max*")) return results::KERNEL_FAMILY_SOFTMAX;
    if (MatchesAny(words, {"convolution*", "conv"})) return results::KERNEL_FAMILY_CONVOLUTION;
    if (MatchesAny(words, {"dot", "gemm*", "*gemm"})) return results::KERNEL_FAMILY_MATRIX;
    if (words.Match("reduce*")) return results::KERNEL_FAMILY_REDUCTION;
    if (MatchesAny(words, {"scatter", "gather", "sort"})) return results::KERNEL_FAMILY_INDEX;
    const bool is_named =
        std::any_of(words.list().begin(), words.list().end(), [](const std::string& word) {
          const auto fusion = FusionWords();
          return std::find(fusion.begin(), fusion.end(), word) == fusion.end() &&
                 !std::all_of(word.begin(), word.end(), IsDigit);
        });
    return is_named ? FamilyOfFused(words) : results::KERNEL_FAMILY_OTHER;
  }
  KernelFamily found = Find(InstructionFamilies(), words);
  if (found == results::KERNEL_FAMILY_NONE) found = Find(FunctionFamilies(), words);
  if (found != results::KERNEL_FAMILY_NONE) return found;
  const std::string_view opcode = OpcodeOf(text);
  return Either(opcode.empty() ? found : Find(InstructionFamilies(), Words(opcode)),
                results::KERNEL_FAMILY_OTHER);
}

// Returns whether the components of `space` stand in the path of a name.
bool IsInNamespace(const CxxName& name, std::string_view space) {
  std::vector<std::string_view> wanted;
  while (true) {
    const size_t end = std::min(space.find("::"), space.size());
    wanted.push_back(space.substr(0, end));
    if (end == space.size()) break;
    space.remove_prefix(end + 2);
  }
  if (name.parts.size() <= wanted.size()) return false;
  const auto is_same = [](const CxxPart& part, std::string_view word) {
    return part.ident == word;
  };
  return std::search(name.parts.begin(), name.parts.end() - 1, wanted.begin(), wanted.end(),
                     is_same) != name.parts.end() - 1;
}

// Returns X of a kernel that only launches X; null: it does not.
const CxxName* LaunchedBy(const CxxName& name) {
  const auto launchers = KernelLaunchers();
  if (std::find(launchers.begin(), launchers.end(), name.Ident()) == launchers.end())
    return nullptr;
  const std::vector<CxxName>& args = name.Args();
  if (args.size() == 1) return args.data();
  const auto found = std::find_if(args.begin(), args.end(), [](const CxxName& arg) {
    return !arg.Args().empty() && !arg.parts.empty();
  });
  return found == args.end() ? nullptr : &*found;
}

bool AppliesFunctors(const Words& words) {
  return words.Match("*elementwise") || words.Match("multi tensor apply*");
}

// Returns what a kernel applies to each element. That it converts as it loads does not count.
std::string FunctorOf(std::string_view name) {
  constexpr std::string_view kConverts = " cast";
  std::string functor = ShortKernelName(name);
  if (functor.ends_with(kConverts)) functor.resize(functor.size() - kConverts.size());
  return functor;
}

// Returns "a::b" of "_ZN1a1bI...": a name that the demangler does not know. Other names stay.
std::string PathOf(std::string_view name) {
  constexpr std::string_view kNested = "_ZN", kPlain = "_Z";
  if (!name.starts_with(kPlain)) return std::string(name);
  std::string path;
  std::string_view rest = name.substr(name.starts_with(kNested) ? kNested.size() : kPlain.size());
  while (!rest.empty() && IsDigit(rest.front())) {
    size_t length = 0;
    while (!rest.empty() && IsDigit(rest.front()) && length < kMostRead) {
      length = length * 10 + static_cast<size_t>(rest.front() - '0');
      rest.remove_prefix(1);
    }
    path += (path.empty() ? "" : "::") + std::string(rest.substr(0, length));
    rest.remove_prefix(std::min(length, rest.size()));
  }
  return path.empty() ? std::string(name) : path;
}

KernelFamily FamilyOfFunction(std::string_view name) {
  const CxxName parsed = ParseCxxName(name);
  std::vector<const CxxName*> levels = {&parsed};
  for (int i = 0; i < kMostLaunchers; ++i) {
    const CxxName* inner = LaunchedBy(*levels.back());
    if (inner == nullptr) break;
    levels.push_back(inner);
  }
  for (const FamilyRule& rule : NamespaceFamilies()) {
    const bool is_in = std::any_of(levels.begin(), levels.end(), [&](const CxxName* level) {
      return IsInNamespace(*level, rule.words);
    });
    if (is_in) return rule.family;
  }
  for (size_t i = levels.size(); i > 0; --i) {
    const Words words(levels[i - 1]->Ident());
    const KernelFamily found = Find(FunctionFamilies(), words);
    if (found == results::KERNEL_FAMILY_NONE) continue;
    if (found != results::KERNEL_FAMILY_ELEMENTWISE || !AppliesFunctors(words)) return found;
    return Either(Find(FunctorFamilies(), Words(FunctorOf(name))), found);
  }
  return results::KERNEL_FAMILY_OTHER;
}

// The first of a family is its word.
struct WordOfFamily {
  std::string_view word;
  KernelFamily family;
};

constexpr WordOfFamily kWords[] = {
    {"matrix", results::KERNEL_FAMILY_MATRIX},
    {"convolution", results::KERNEL_FAMILY_CONVOLUTION},
    {"attention", results::KERNEL_FAMILY_ATTENTION},
    {"normalisation", results::KERNEL_FAMILY_NORMALISATION},
    {"normalization", results::KERNEL_FAMILY_NORMALISATION},
    {"softmax", results::KERNEL_FAMILY_SOFTMAX},
    {"reduction", results::KERNEL_FAMILY_REDUCTION},
    {"elementwise", results::KERNEL_FAMILY_ELEMENTWISE},
    {"copy", results::KERNEL_FAMILY_COPY},
    {"cast", results::KERNEL_FAMILY_COPY},
    {"layout", results::KERNEL_FAMILY_COPY},
    {"embedding", results::KERNEL_FAMILY_EMBEDDING},
    {"routing", results::KERNEL_FAMILY_ROUTING},
    {"index", results::KERNEL_FAMILY_INDEX},
    {"sort", results::KERNEL_FAMILY_INDEX},
    {"random", results::KERNEL_FAMILY_RANDOM},
    {"optimizer", results::KERNEL_FAMILY_OPTIMIZER},
    {"collective", results::KERNEL_FAMILY_COLLECTIVE},
    {"other", results::KERNEL_FAMILY_OTHER},
};

}  // namespace

KernelFamily KernelFamilyOf(std::string_view name) {
  name = name.substr(0, kMostRead);
  const KernelFamily inductor = FamilyOfInductor(name);
  if (inductor != results::KERNEL_FAMILY_NONE) return inductor;
  if (IsOfXla(name)) return FamilyOfInstruction(name);
  return FamilyOfFunction(PathOf(name));
}

KernelFamily FamilyOfWord(std::string_view word) {
  for (const WordOfFamily& each : kWords) {
    if (each.word == word) return each.family;
  }
  return results::KERNEL_FAMILY_NONE;
}

std::string_view FamilyWord(KernelFamily family) {
  for (const WordOfFamily& each : kWords) {
    if (each.family == family) return each.word;
  }
  return {};
}

}  // namespace gpuprof::analysis
