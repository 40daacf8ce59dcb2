// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See op_name.h.

#include "analysis/xprof/op_name.h"

#include <algorithm>
#include <charconv>

namespace gpuprof::analysis::xprof {
namespace {

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsAlnum(char c) { return IsLower(c) || IsUpper(c) || IsDigit(c); }
char ToLower(char c) { return IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

template <typename Test>
bool All(std::string_view text, Test test) {
  return std::all_of(text.begin(), text.end(), test);
}

std::string_view LastOf(std::string_view text, char separator) {
  const size_t at = text.rfind(separator);
  return at == std::string_view::npos ? text : text.substr(at + 1);
}

bool IsNumber(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text.front() == '-') return false;
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

// The last part of a path, without the number that makes it unique.
std::string_view TypeInPath(std::string_view path) {
  const std::string_view last = LastOf(path, '/');
  const std::string_view suffix = LastOf(last, '_');
  if (!IsNumber(suffix)) return last;
  // A name that is nothing but a number leaves nothing before it.
  if (suffix.size() == last.size()) return last;
  return last.substr(0, last.size() - suffix.size() - 1);
}

bool IsJaxOpType(std::string_view type) {
  if (type.empty() || !(IsLower(type.front()) || type.front() == '_')) return false;
  const size_t open = type.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", 1);
  if (open == std::string_view::npos) return true;
  const std::string_view rest = type.substr(open);
  // A dot of a regular expression matches no line feed.
  return rest.size() >= 2 && rest.front() == '[' && rest.back() == ']' &&
         rest.find('\n') == std::string_view::npos;
}

// Looks at the parts of a path, except for the last one: it is the operation.
bool HasGradientScope(std::string_view path) {
  for (size_t end = path.find('/'); end != std::string_view::npos; end = path.find('/')) {
    const std::string_view scope = path.substr(0, end);
    if (scope == "gradient_tape" || scope.starts_with("gradients")) return true;
    path.remove_prefix(end + 1);
  }
  return false;
}

OpName CopyOf(std::string_view text) {
  struct Copy {
    std::string_view begin, type;
    OpCategory category;
  };
  static constexpr Copy kCopies[] = {
      {"memcpyhtod", "MemcpyHToD", OpCategory::kMemcpyHToD},
      {"memcpydtoh", "MemcpyDToH", OpCategory::kMemcpyDToH},
      {"memcpydtod", "MemcpyDToD", OpCategory::kMemcpyDToD},
      {"memcpyhtoh", "MemcpyHToH", OpCategory::kMemcpyHToH},
  };
  for (const Copy& copy : kCopies)
    if (StartsWithIgnoringCase(text, copy.begin)) return {copy.category, text, copy.type};
  return {OpCategory::kUnknown, text, {}};
}

}  // namespace

bool StartsWithIgnoringCase(std::string_view text, std::string_view begin) {
  return text.size() >= begin.size() &&
         std::equal(begin.begin(), begin.end(), text.begin(),
                    [](char x, char y) { return ToLower(x) == ToLower(y); });
}

bool IsTensorFlowOpName(std::string_view name) {
  if (name.empty() || !(IsAlnum(name.front()) || name.front() == '.')) return false;
  return All(name.substr(1), [](char c) {
    return IsAlnum(c) || std::string_view("_./>-").find(c) != std::string_view::npos;
  });
}

bool IsTensorFlowOpType(std::string_view type) {
  if (type.empty() || !(IsUpper(type.front()) || type.front() == '_')) return false;
  return All(type.substr(1), [](char c) { return IsAlnum(c) || c == '_'; });
}

bool IsJaxOp(std::string_view name, std::string_view type) {
  return !name.empty() && IsJaxOpType(type) &&
         LastOf(name, '/').find(type) != std::string_view::npos;
}

bool IsOfGradient(std::string_view name, std::string_view type) {
  if (IsTensorFlowOpType(type) && IsTensorFlowOpName(name)) return HasGradientScope(name);
  return (type.empty() || IsJaxOp(name, type)) &&
         (name.starts_with("transpose(") || name.find("/transpose(") != std::string_view::npos);
}

OpName ParseOpName(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return CopyOf(text);
  const std::string_view left = text.substr(0, colon), right = text.substr(colon + 1);
  if (left == "Iterator") return {OpCategory::kTfData, text, "Dataset"};
  if (IsTensorFlowOpName(left) && IsTensorFlowOpType(right))
    return {OpCategory::kTensorFlow, left, right};
  const std::string_view type = right.empty() ? TypeInPath(left) : right;
  if (IsJaxOpType(type)) return {OpCategory::kJax, left, type.substr(0, type.find('['))};
  if (right.empty()) return {OpCategory::kTensorFlow, left, type};
  return {OpCategory::kUnknown, text, {}};
}

}  // namespace gpuprof::analysis::xprof
