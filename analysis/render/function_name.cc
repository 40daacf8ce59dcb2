// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/render/function_name.h"

#include <cctype>

namespace gpuprof::analysis {
namespace {

constexpr std::string_view kOperator = "operator";
constexpr std::string_view kAnonymous = "(anonymous namespace)";

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
    } else if (Starts(kAnonymous)) {
      Copy(kAnonymous.size());
    } else if (c == '<') {
      Skip('<', '>');
      out_ += "<...>";
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

}  // namespace

std::string ShortFunctionName(std::string_view name) {
  // Only C++ names have parameters; Rust's begin with a bracket.
  if (name.find('(') == std::string_view::npos || name.starts_with('<')) return std::string(name);
  return Shortener(name).Run();
}

}  // namespace gpuprof::analysis
