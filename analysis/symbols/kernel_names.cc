// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See kernel_names.h.

#include "analysis/symbols/kernel_names.h"

#include <algorithm>
#include <array>
#include <vector>

#include "analysis/base/display_width.h"
#include "analysis/symbols/cxx_parts.h"
#include "analysis/symbols/kernel_rules.h"
#include "analysis/symbols/kernel_words.h"
#include "analysis/symbols/library_names.h"

namespace gpuprof::analysis {
namespace {

// So much of a name is read: a name of megabytes says nothing more behind it.
constexpr size_t kMostRead = 64 * 1024;
constexpr int kMostHolders = 8;

bool HasArgs(const CxxName& name) { return !name.Args().empty(); }

std::string Expand(std::string_view layout, const CxxName& subject, std::string_view whole);

// Returns what a function object does, by its identifier.
std::string OpWord(const CxxPart& part, std::string_view whole) {
  for (const FunctorRule& rule : FunctorRules()) {
    if (rule.functor != part.ident) continue;
    CxxName only;
    only.parts.push_back(part);
    return Expand(rule.op, only, whole);
  }
  return StripAffixes(part.ident);
}

// Returns the component that names a function object. A lambda is named by the function around it.
const CxxPart* NamingPart(const CxxName& name) {
  for (const CxxPart& part : name.parts) {
    if (part.has_params && !part.ident.starts_with("operator") && !part.ident.starts_with("{"))
      return &part;
  }
  for (size_t i = name.parts.size(); i > 0; --i) {
    const std::string_view ident = name.parts[i - 1].ident;
    if (!ident.starts_with("operator") && !ident.starts_with("{")) return &name.parts[i - 1];
  }
  return nullptr;
}

// Joins types by commas, each once. Bool counts only when it is alone.
std::string JoinTypes(const std::vector<CxxName>& names) {
  std::vector<std::string> words;
  bool has_bool = false;
  for (const CxxName& name : names) {
    const std::string word = TypeWord(name);
    if (word == "bool") has_bool = true;
    if (word.empty() || word == "bool" ||
        std::find(words.begin(), words.end(), word) != words.end())
      continue;
    words.push_back(word);
  }
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ",") + word;
  return out.empty() && has_bool ? "bool" : out;
}

// Returns the types that a function object reads: of its template arguments, else of its lambda's
// parameters.
std::string ReadTypes(const CxxName& name, const CxxPart& naming) {
  constexpr std::string_view kLambda = "{lambda(";
  std::string types = JoinTypes(naming.args);
  const std::string_view last = name.Ident();
  if (!types.empty() || !last.starts_with(kLambda)) return types;
  const size_t end = SkipCxxBrackets(last, kLambda.size() - 1);
  return JoinTypes(ParseCxxList(last.substr(kLambda.size(), end - kLambda.size() - 1)));
}

// Returns the word for the argument of a call operator: "add" of operator()<ReduceAdd>.
std::string CallWord(const CxxName& name, std::string_view whole) {
  for (const CxxPart& part : name.parts) {
    if (!part.ident.starts_with("operator()") || part.args.empty() || part.args[0].parts.empty())
      continue;
    return OpWord(part.args[0].parts.back(), whole);
  }
  return {};
}

// Returns what stands for {op}: what a function object does and the type that it reads.
std::string FunctorWords(const CxxName& functor, std::string_view whole) {
  const CxxName* name = &functor;
  for (int i = 0; i < kMostHolders; ++i) {
    const CxxName* inner = nullptr;
    for (const CxxPart& part : name->parts) {
      for (const FunctorHolder& holder : FunctorHolders()) {
        if (holder.holder == part.ident && part.args.size() >= holder.argument)
          inner = &part.args[holder.argument - 1];
      }
    }
    if (inner == nullptr) break;
    name = inner;
  }
  const CxxPart* part = NamingPart(*name);
  if (part == nullptr) return {};
  const std::string_view ident = part->ident;
  const bool is_binary = ident == "BinaryFunctor";
  if ((is_binary || ident == "AUnaryFunctor" || ident == "BUnaryFunctor") &&
      part->args.size() > 3) {
    const CxxPart* inner = NamingPart(part->args.back());
    const std::vector<CxxName> read(part->args.begin(), part->args.begin() + 2);
    return (inner == nullptr ? "" : OpWord(*inner, whole)) + (is_binary ? " " : " scalar ") +
           JoinTypes(read);
  }
  std::string op = OpWord(*part, whole);
  std::string types = ReadTypes(*name, *part);
  const std::string with = CallWord(*name, whole);
  if (!with.empty()) op += " " + with;
  if (op.starts_with("cast to ")) return "cast " + types + "->" + op.substr(8);
  if (op.ends_with(" to")) return op.substr(0, op.size() - 3) + "->" + types;
  if (op == "copy" && whole.find("LoadWithCast") != std::string_view::npos) op = "cast";
  return op + " " + types;
}

// Finds the kernel's argument that is a function object, and returns its words.
std::string OpOf(const CxxName& subject, std::string_view whole) {
  for (const CxxName& arg : subject.Args()) {
    if (NumberOf(arg.Ident()).empty() && TypeWord(arg).empty() && arg.Ident() != "true" &&
        arg.Ident() != "false") {
      return FunctorWords(arg, whole);
    }
  }
  return {};
}

// Returns one template argument as a word.
std::string ArgWord(const CxxName& arg) {
  std::string word = TypeWord(arg);
  if (!word.empty()) return word;
  const std::string_view number = NumberOf(arg.Ident());
  if (!number.empty()) return std::string(number);
  for (const FunctorRule& rule : FunctorRules()) {
    if (rule.functor == arg.Ident()) return std::string(rule.op);
  }
  return StripAffixes(arg.Ident());
}

// Returns the argument at a path of numbers: "2", "2.1".
const CxxName* FindArg(const CxxName& subject, std::string_view path) {
  const CxxName* name = &subject;
  while (!path.empty()) {
    size_t number = 0;
    while (!path.empty() && path[0] >= '0' && path[0] <= '9') {
      number = number * 10 + static_cast<size_t>(path[0] - '0');
      path.remove_prefix(1);
    }
    const std::vector<CxxName>& args = name->Args();
    if (number == 0 || number > args.size()) return nullptr;
    name = &args[number - 1];
    if (!path.empty() && path[0] == '.') path.remove_prefix(1);
  }
  return name;
}

// Returns what stands for one {placeholder}.
std::string Placeholder(std::string_view key, const CxxName& subject, std::string_view whole) {
  if (key == "op") return OpOf(subject, whole);
  if (key == "cast") {
    const bool is_cast = whole.find("LoadWithCast") != std::string_view::npos &&
                         whole.find("direct_copy_kernel") == std::string_view::npos;
    return is_cast ? "cast" : "";
  }
  if (key == "type") return FindType(subject);
  if (key == "tile") return FindTile(subject);
  if (key == "scalar") return FindScalarOp(subject);
  if (key == "agent") {
    const auto& args = subject.Args();
    const auto found = std::find_if(args.begin(), args.end(), HasArgs);
    return found == args.end() ? "" : std::string(found->Ident());
  }
  const size_t end = key.find_first_of("?:!");
  const CxxName* arg = FindArg(subject, key.substr(0, end));
  if (arg == nullptr) return {};
  if (end == std::string_view::npos) return ArgWord(*arg);
  if (key[end] == ':') return FindType(*arg);
  if (key[end] == '!') return TypeWord(*arg).empty() ? ArgWord(*arg) : "";
  const std::string_view words = key.substr(end + 1);
  const size_t colon = std::min(words.find(':'), words.size());
  if (arg->Ident() == "true" || arg->Ident() == "1") return std::string(words.substr(0, colon));
  return std::string(words.substr(std::min(colon + 1, words.size())));
}

// Returns the words of a rule's layout. A word is left out when its placeholder finds nothing.
std::string Expand(std::string_view layout, const CxxName& subject, std::string_view whole) {
  std::string out;
  while (!layout.empty()) {
    const size_t end = std::min(layout.find(' '), layout.size());
    std::string_view rest = layout.substr(0, end);
    layout.remove_prefix(std::min(end + 1, layout.size()));
    std::string word;
    bool is_whole = true;
    while (!rest.empty()) {
      const size_t open = std::min(rest.find('{'), rest.size());
      word += rest.substr(0, open);
      rest.remove_prefix(open);
      if (rest.empty()) break;
      const size_t close = rest.find('}');
      const std::string found = Placeholder(rest.substr(1, close - 1), subject, whole);
      is_whole &= !found.empty();
      word += found;
      rest.remove_prefix(close + 1);
    }
    if (!is_whole) continue;
    while (!word.empty() && word.back() == ' ') word.pop_back();
    if (!word.empty()) out += (out.empty() ? "" : " ") + word;
  }
  return out;
}

bool Matches(std::string_view rule, const CxxName& name) {
  // "gemvx::kernel": the components before the last have to be there as well.
  size_t part = name.parts.size();
  for (size_t colons = rule.rfind("::"); colons != std::string_view::npos;
       colons = rule.rfind("::")) {
    if (part == 0 || name.parts[part - 1].ident != rule.substr(colons + 2)) return false;
    --part;
    rule = rule.substr(0, colons);
  }
  if (part == 0) return false;
  const std::string_view ident = name.parts[part - 1].ident;
  if (rule.ends_with("*")) return ident.starts_with(rule.substr(0, rule.size() - 1));
  return ident == rule;
}

// Returns the function of a kernel without a rule, and its first arguments.
std::string PlainFunction(const CxxName& name) {
  std::string out = name.parts.empty() ? std::string(name.text) : std::string(name.Ident());
  if (!name.parts.empty() && !name.parts.back().args.empty()) {
    std::string args;
    for (const CxxName& arg : name.parts.back().args) {
      std::string word = TypeWord(arg);
      if (word.empty()) word = NumberOf(arg.Ident());
      if (word.empty()) word = arg.Ident() == "decltype" ? arg.text : arg.Ident();
      if (word.empty()) continue;
      if (out.size() + args.size() + word.size() + 9 > kMostShortColumns) {
        args += args.empty() ? "..." : ", ...";
        break;
      }
      args += (args.empty() ? "" : ", ") + word;
    }
    out += "<" + args + ">";
  }
  return CutTo(out, kMostShortColumns);
}

// Returns X of kernels that only launch X: cutlass::Kernel2<X>, device_kernel<X>.
const CxxName* Launched(const CxxName& name) {
  constexpr std::array<std::string_view, 7> kLaunchers = {"Kernel",        "Kernel2",
                                                          "device_kernel", "enable_sm90_or_later",
                                                          "enable_sm90",   "enable_sm80_to_sm89",
                                                          "enable_sm80"};
  const CxxName* inner = &name;
  for (int i = 0; i < kMostHolders; ++i) {
    const bool is_launcher =
        std::find(kLaunchers.begin(), kLaunchers.end(), inner->Ident()) != kLaunchers.end();
    if (!is_launcher || inner->Args().size() != 1) break;
    inner = &inner->Args()[0];
  }
  return inner;
}

// Removes what compilers and runtimes put behind a name.
std::string_view Trim(std::string_view name) {
  constexpr std::string_view kDescriptor = ".kd";
  name = name.substr(0, kMostRead);
  name = name.substr(0, name.rfind(" [clone "));
  if (name.ends_with(kDescriptor)) name.remove_suffix(kDescriptor.size());
  return name;
}

bool IsOneIdentifier(std::string_view name) {
  return name.find_first_of("<(:") == std::string_view::npos;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Returns the end of "5ul" at `at`; `at`: there is no number with such an ending.
size_t EndOfSize(std::string_view name, size_t at) {
  size_t end = at;
  while (end < name.size() && IsDigit(name[end])) ++end;
  const size_t digits = end;
  while (end < name.size() && (name[end] == 'u' || name[end] == 'l')) ++end;
  const bool ends = end == name.size() || name[end] == ',' || name[end] == '>' || name[end] == ' ';
  return digits > at && end > digits && ends ? end : at;
}

// Returns whether a compiler names kernels so, and numbers them.
bool IsNumbered(std::string_view name) {
  return name.starts_with("triton_") || name.starts_with('%') ||
         name.find("fusion") != std::string_view::npos || name.starts_with("wrapped_") ||
         name.find('-') != std::string_view::npos;
}

}  // namespace

std::string NumberlessKernelName(std::string_view name) {
  if (IsOneIdentifier(name)) {
    size_t end = name.size();
    while (end > 0 && IsDigit(name[end - 1])) --end;
    const bool has_joint =
        end > 0 && end < name.size() && (name[end - 1] == '_' || name[end - 1] == '.');
    if (!has_joint || !IsNumbered(name)) return std::string(name);
    return std::string(name.substr(0, end)) + "#";
  }
  std::string out;
  for (size_t at = 0; at < name.size();) {
    const bool begins = at > 0 && (name[at - 1] == '<' || name[at - 1] == ' ');
    const size_t end = begins ? EndOfSize(name, at) : at;
    out += end == at ? std::string_view(name.substr(at, 1)) : std::string_view("#");
    at = end == at ? at + 1 : end;
  }
  return out;
}

std::string ShortKernelName(std::string_view full) {
  const std::string_view name = Trim(full);
  if (name.starts_with("%")) {  // an instruction of XLA: "%copy-start = (f32[5]...)"
    return CutTo(name.substr(1, name.find(" = ") - 1), kMostShortColumns);
  }
  if (IsOneIdentifier(name)) {
    const std::string known = ShortLibraryName(name);
    return known.empty() ? std::string(name) : known;
  }
  const CxxName parsed = ParseCxxName(name);
  const CxxName* kernel = Launched(parsed);
  std::string short_name = ShortLibraryName(kernel->Ident());
  for (const KernelFunctionRule& rule : KernelFunctionRules()) {
    if (!short_name.empty()) break;
    if (Matches(rule.function, *kernel)) short_name = Expand(rule.layout, *kernel, name);
  }
  if (short_name.empty()) short_name = PlainFunction(*kernel);
  return short_name.empty() ? CutTo(name, kMostShortColumns) : CutTo(short_name, kMostShortColumns);
}

}  // namespace gpuprof::analysis
