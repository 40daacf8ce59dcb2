// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See cxx_parts.h.

#include "analysis/symbols/cxx_parts.h"

#include <array>
#include <cctype>
#include <utility>

namespace gpuprof::analysis {
namespace {

constexpr int kDeepest = 48;
constexpr size_t kMostNames = 20'000;
constexpr std::string_view kOperator = "operator";
constexpr std::array<std::string_view, 2> kAnonymous = {"(anonymous namespace)", "{anonymous}"};

bool IsWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool IsModifier(std::string_view word) {
  return word == "unsigned" || word == "signed" || word == "long" || word == "short";
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  // Up to a comma or bracket that belongs to whoever asked.
  CxxName Name(int depth) {
    CxxName name;
    name.parts.emplace_back();
    const size_t begin = at_;
    while (at_ < text_.size() && !EndsName()) Step(depth, &name);
    name.text = text_.substr(begin, at_ - begin);
    while (!name.text.empty() && name.text.back() == ' ') name.text.remove_suffix(1);
    while (!name.parts.empty() && IsEmpty(name.parts.back())) name.parts.pop_back();
    return name;
  }

  // Names between commas.
  std::vector<CxxName> List(int depth) {
    std::vector<CxxName> names;
    while (at_ < text_.size()) {
      while (at_ < text_.size() && text_[at_] == ' ') ++at_;
      CxxName name = Name(depth);
      if (!name.parts.empty()) names.push_back(std::move(name));
      if (at_ >= text_.size() || text_[at_] != ',') break;
      ++at_;
    }
    return names;
  }

 private:
  static bool IsEmpty(const CxxPart& part) {
    return part.ident.empty() && part.args.empty() && !part.has_params;
  }

  bool EndsName() const {
    const char c = text_[at_];
    return c == ',' || c == '>' || c == ')' || c == '}' || c == ']';
  }

  bool Starts(std::string_view what) const { return text_.substr(at_, what.size()) == what; }

  std::string_view Take(size_t bytes) {
    const std::string_view taken = text_.substr(at_, bytes);
    at_ += taken.size();
    return taken;
  }

  void Step(int depth, CxxName* name) {
    CxxPart& part = name->parts.back();
    for (const std::string_view anonymous : kAnonymous) {
      if (Starts(anonymous)) {
        part.ident = Take(anonymous.size());
        return;
      }
    }
    if (Starts("::")) {
      at_ += 2;
      if (!IsEmpty(part)) name->parts.emplace_back();
      return;
    }
    switch (text_[at_]) {
      case '<':
        return Arguments(depth, &part);
      case '(':
        return Parentheses(depth, name);
      case '{':
        part.ident = Take(SkipCxxBrackets(text_, at_) - at_);
        return;
      case '[':
        at_ = SkipCxxBrackets(text_, at_);
        return;
      case ' ':
        return Space(name);
      case '*':
      case '&':
        ++at_;
        return;
      default:
        return Word(name);
    }
  }

  void Arguments(int depth, CxxPart* part) {
    if (depth >= kDeepest || names_ >= kMostNames) {
      at_ = SkipCxxBrackets(text_, at_);
      return;
    }
    ++at_;
    std::vector<CxxName> args = List(depth + 1);
    names_ += args.size();
    part->args = std::move(args);
    if (at_ < text_.size() && text_[at_] == '>') ++at_;
  }

  // A cast before a value, parameters behind a name, or a function whose address is meant.
  void Parentheses(int depth, CxxName* name) {
    CxxPart& part = name->parts.back();
    if (part.ident.empty() && at_ > 0 && text_[at_ - 1] == '&' && depth < kDeepest) {
      ++at_;
      name->parts = Name(depth + 1).parts;
      if (name->parts.empty()) name->parts.emplace_back();
      if (at_ < text_.size() && text_[at_] == ')') ++at_;
      return;
    }
    const size_t begin = at_ + 1;
    at_ = SkipCxxBrackets(text_, at_);
    if (part.ident.empty()) return;
    part.has_params = true;
    const bool is_closed = text_[at_ - 1] == ')';
    part.params = text_.substr(begin, at_ - begin - (is_closed && at_ > begin ? 1 : 0));
  }

  // A qualifier, a type of several words, or a return type.
  void Space(CxxName* name) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (at_ == text_.size() || EndsName()) return;
    if (Starts("[")) return;
    size_t end = at_;
    while (end < text_.size() && IsWord(text_[end])) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    CxxPart& part = name->parts.back();
    if (word == "const" || word == "volatile" || word == "noexcept") {
      at_ = end;
    } else if (name->parts.size() == 1 && !word.empty() &&
               IsModifier(part.ident.substr(part.ident.rfind(' ') + 1))) {
      // "unsigned int": the words stand next to each other.
      part.ident = std::string_view(
          part.ident.data(), static_cast<size_t>(word.data() + word.size() - part.ident.data()));
      at_ = end;
    } else if (!word.empty() || Starts("(anonymous") || Starts("{")) {
      if (part.ident == "const") {
        part = {};
      } else {
        name->parts.assign(1, {});
      }
    }
  }

  void Word(CxxName* name) {
    CxxPart& part = name->parts.back();
    if (Starts(kOperator) && part.ident.empty() &&
        (at_ + kOperator.size() >= text_.size() || !IsWord(text_[at_ + kOperator.size()]))) {
      return Operator(&part);
    }
    const size_t begin = at_;
    while (at_ < text_.size() && !EndsName() &&
           std::string_view("<({[ *&").find(text_[at_]) == std::string_view::npos) {
      if (Starts("::")) break;
      ++at_;
    }
    if (part.has_params || !part.args.empty()) name->parts.emplace_back();
    name->parts.back().ident = text_.substr(begin, at_ - begin);
  }

  void Operator(CxxPart* part) {
    const size_t begin = at_;
    at_ += kOperator.size();
    if (Starts("()")) {
      at_ += 2;
    } else {
      while (at_ < text_.size() && text_[at_] != '(' && text_[at_] != ',') ++at_;
    }
    part->ident = text_.substr(begin, at_ - begin);
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t names_ = 0;
};

}  // namespace

const std::vector<CxxName>& CxxName::Args() const {
  static const std::vector<CxxName> kNone;
  for (size_t i = parts.size(); i > 0; --i) {
    if (!parts[i - 1].args.empty()) return parts[i - 1].args;
  }
  return kNone;
}

CxxName ParseCxxName(std::string_view text) {
  CxxName name = Parser(text).Name(0);
  return name;
}

std::vector<CxxName> ParseCxxList(std::string_view text) { return Parser(text).List(0); }

size_t SkipCxxBrackets(std::string_view text, size_t at) {
  // Within parentheses ">" compares; within angle brackets it closes.
  const char open = text[at];
  const char close = open == '(' ? ')' : open == '<' ? '>' : open == '{' ? '}' : ']';
  size_t depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '>' && text[at - 1] == '-') continue;
    if (c == open) ++depth;
    if (c == close && --depth == 0) return at + 1;
  }
  return at;
}

}  // namespace gpuprof::analysis
