// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See function_name.h.

#include "analysis/symbols/function_name.h"

#include <array>
#include <cctype>

#include "analysis/base/display_width.h"
#include "analysis/symbols/cxx_parts.h"

namespace gpuprof::analysis {
namespace {

constexpr std::string_view kOperator = "operator";
// Namespaces that are never written in a program.
constexpr std::array<std::string_view, 3> kUnwritten = {
    "(anonymous namespace)::", "__cxx11::", "__1::"};
// Default template arguments.
constexpr std::array<std::string_view, 6> kDefaults = {"std::allocator<", "std::char_traits<",
                                                       "std::less<",      "std::hash<",
                                                       "std::equal_to<",  "std::default_delete<"};
constexpr std::string_view kString = "basic_string<char";

// Template arguments are shown up to this width. Longer text than the second is not read.
constexpr size_t kShownArguments = 24;
constexpr size_t kMostArguments = 400;
// Wider names lose the namespaces in their middle.
constexpr size_t kMostColumns = 80;

// Returns one template argument: "std::string" for what its alias stands for.
std::string ShortArgument(std::string_view text) {
  std::string word(text);
  for (const std::string_view name : kUnwritten) {
    for (size_t at = word.find(name); at != std::string::npos; at = word.find(name, at)) {
      word.erase(at, name.size());
    }
  }
  const size_t alias = word.find(kString);
  if (alias != std::string::npos) {
    const size_t open = alias + kString.find('<');
    word.replace(alias, SkipCxxBrackets(word, open) - alias, "string");
  }
  const size_t open = word.find('<');
  return open == std::string::npos ? word : word.substr(0, open) + "<...>";
}

// Returns the template arguments, brackets included: those that fit, without defaults.
std::string ShortArguments(std::string_view text) {
  if (text.size() > kMostArguments) return "<...>";
  std::string out;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    size_t end = 0;
    while (end < text.size() && text[end] != ',') {
      const bool opens = text[end] == '<' || text[end] == '(';
      end = opens ? SkipCxxBrackets(text, end) : end + 1;
    }
    std::string_view argument = text.substr(0, end);
    text.remove_prefix(end == text.size() ? end : end + 1);
    while (argument.starts_with(' ')) argument.remove_prefix(1);
    while (argument.ends_with(' ')) argument.remove_suffix(1);
    bool is_default = false;
    for (const std::string_view begin : kDefaults) is_default |= argument.starts_with(begin);
    if (is_default) continue;
    out += (out.empty() ? "" : ", ") + ShortArgument(argument);
  }
  return DisplayWidth(out) <= kShownArguments ? "<" + out + ">" : "<...>";
}

// Removes what is between the first and the last two components: a::...::y::z.
std::string FoldNamespaces(std::string name) {
  if (DisplayWidth(name) <= kMostColumns) return name;
  size_t first = std::string::npos, last = std::string::npos, before_last = std::string::npos;
  for (size_t at = 0; at < name.size();) {
    if (name[at] == '<' || name[at] == '(' || name[at] == '{') {
      at = SkipCxxBrackets(name, at);
    } else if (name.compare(at, 2, "::") == 0) {
      if (first == std::string::npos) first = at;
      before_last = last;
      last = at;
      at += 2;
    } else {
      ++at;
    }
  }
  if (before_last == std::string::npos || before_last <= first) return name;
  return name.substr(0, first + 2) + "..." + name.substr(before_last);
}

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class Shortener {
 public:
  explicit Shortener(std::string_view name) : name_(name) {}

  std::string Run() {
    while (at_ < name_.size()) Step();
    return Whole() ? out_ : std::string(name_);
  }

 private:
  bool Starts(std::string_view what) const { return name_.substr(at_, what.size()) == what; }

  // Brackets that do not pair belong to no C++ name.
  bool Whole() const { return !torn_ && !out_.empty(); }

  void Copy(size_t bytes) {
    out_ += name_.substr(at_, bytes);
    at_ += bytes;
  }

  void Step() {
    const char c = name_[at_];
    if (Starts(kOperator) && (at_ == 0 || !IsWord(name_[at_ - 1])) &&
        (at_ + kOperator.size() < name_.size() && !IsWord(name_[at_ + kOperator.size()]))) {
      Operator();
    } else if (const size_t unwritten = Unwritten(); unwritten != 0) {
      at_ += unwritten;
    } else if (Starts(kString) && (at_ == 0 || !IsWord(name_[at_ - 1]))) {
      at_ += kString.find('<');
      Skip('<', '>');
      out_ += "string";
    } else if (c == '<') {
      const size_t begin = at_;
      Skip('<', '>');
      if (!torn_) out_ += ShortArguments(name_.substr(begin, at_ - begin));
    } else if (c == '(') {
      Skip('(', ')');
      // What follows a parameter list is a local thing's name, or a qualifier nobody needs.
      if (!Starts("::")) at_ = name_.size();
    } else if (c == '{') {
      Braces();
    } else if (c == ' ') {
      out_.clear();  // what stood here was the return type
      ++at_;
    } else if (c == '[') {
      at_ = name_.size();  // "[clone .isra.0]", "[abi:cxx11]"
    } else {
      Copy(1);
    }
  }

  // Returns the bytes of a namespace here that is never written; 0: there is none.
  size_t Unwritten() const {
    for (const std::string_view name : kUnwritten) {
      if (Starts(name) && (at_ == 0 || !IsWord(name_[at_ - 1]) || name[0] == '(')) {
        return name.size();
      }
    }
    return 0;
  }

  // The name of an operator function, up to its parameters.
  void Operator() {
    Copy(kOperator.size());
    if (Starts("()")) return Copy(2);
    while (at_ < name_.size() && name_[at_] != '(') Copy(1);
  }

  // {lambda(int)#1}: as {lambda#1}.
  void Braces() {
    while (at_ < name_.size() && name_[at_] != '}') {
      if (name_[at_] == '(') {
        Skip('(', ')');
      } else if (name_[at_] == '<') {
        Skip('<', '>');
      } else {
        Copy(1);
      }
    }
    if (at_ == name_.size()) {
      torn_ = true;
    } else {
      Copy(1);
    }
  }

  // Past the bracket that closes the one here; the others within count too.
  void Skip(char open, char close) {
    int depth = 0;
    for (; at_ < name_.size(); ++at_) {
      const char c = name_[at_];
      if (c == '>' && name_[at_ - 1] == '-') continue;
      if (c == open) ++depth;
      if (c == close && --depth == 0) {
        ++at_;
        return;
      }
    }
    torn_ = true;
  }

  std::string_view name_;
  size_t at_ = 0;
  std::string out_;
  bool torn_ = false;
};

// Returns whether a name is that of a frame of Python: "file.py(12): function".
bool IsPythonFrame(std::string_view name) {
  for (size_t open = name.find('('); open != std::string_view::npos;
       open = name.find('(', open + 1)) {
    const size_t end = name.find_first_not_of("0123456789", open + 1);
    if (end != std::string_view::npos && end > open + 1 && name.substr(end, 3) == "): ")
      return true;
  }
  return false;
}

}  // namespace

std::string ShortFunctionName(std::string_view name) {
  if (IsPythonFrame(name)) return std::string(name);
  // Only C++ names have parameters; Rust's begin with a bracket.
  if (name.find('(') == std::string_view::npos || name.starts_with('<')) return std::string(name);
  return FoldNamespaces(Shortener(name).Run());
}

std::string ShortOpName(std::string_view name) {
  std::string out(name);
  for (const std::string_view noise : {"autograd::engine::", "torch::autograd::"}) {
    const size_t at = out.find(noise);
    if (at != std::string::npos) out.erase(at, noise.size());
  }
  return out;
}

}  // namespace gpuprof::analysis
