// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See op_names.h.

#include "analysis/derived/op_names.h"

#include <algorithm>
#include <cctype>

namespace gpuprof::analysis {
namespace {

constexpr std::string_view kAutograd = "autograd::engine::evaluate_function: ";

bool BeginsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Cuts a separator and the digits behind it.
std::string_view WithoutNumber(std::string_view text, char separator) {
  size_t end = text.size();
  while (end > 0 && IsDigit(text[end - 1])) --end;
  const bool has_number = end < text.size() && end > 1 && text[end - 1] == separator;
  return has_number ? text.substr(0, end - 1) : text;
}

// Cuts what JAX writes behind the type: "dot_general[dimension_numbers=...]".
std::string_view WithoutBrackets(std::string_view text) { return text.substr(0, text.find('[')); }

// Returns whether slashes divide scopes: a name of a person's own may hold anything.
bool IsPath(std::string_view name) {
  const std::string_view head = WithoutBrackets(name.substr(0, name.find(':')));
  const size_t slash = head.find('/');
  return slash != std::string_view::npos && slash > 0 && head.front() != '[' &&
         head.find("://") == std::string_view::npos;
}

// Returns where the last component of a path begins. Slashes in parentheses divide nothing.
size_t LastComponent(std::string_view path) {
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '(') ++depth;
    if (path[i] == ')') --depth;
    if (path[i] == '/' && depth <= 0) start = i + 1;
  }
  return start;
}

std::string_view TypeOfPath(std::string_view path) {
  return WithoutNumber(path.substr(LastComponent(path)), '_');
}

}  // namespace

std::string OpTypeOf(std::string_view name) {
  if (BeginsWith(name, kAutograd)) name.remove_prefix(kAutograd.size());
  if (BeginsWith(name, "Iterator::")) return "Dataset";
  const size_t colon = name.find(':');
  const bool is_single = colon != std::string_view::npos && name.substr(colon, 2) != "::";
  if (is_single && colon + 1 < name.size() && name.find(' ') == std::string_view::npos) {
    const std::string_view type = name.substr(colon + 1);
    if (std::all_of(type.begin(), type.end(), IsWordChar)) return std::string(type);
  }
  if (is_single && colon + 1 == name.size()) name.remove_suffix(1);
  if (IsPath(name)) return std::string(TypeOfPath(WithoutBrackets(name)));
  const size_t space = name.rfind("::");
  const bool is_qualified = space != std::string_view::npos && space > 0 &&
                            std::all_of(name.begin(), name.end(), [](char c) {
                              return IsWordChar(c) || c == ':' || c == '.';
                            });
  if (is_qualified) name.remove_prefix(space + 2);
  // In place: the same operation.
  if (name.size() > 1 && name.back() == '_' && name[name.size() - 2] != '_') name.remove_suffix(1);
  return std::string(WithoutNumber(name, '#'));
}

std::string HloTypeOf(std::string_view name) { return std::string(WithoutNumber(name, '.')); }

std::vector<std::string_view> ScopesOf(std::string_view name) {
  std::vector<std::string_view> scopes;
  if (!IsPath(name)) return scopes;
  name = WithoutBrackets(name.substr(0, name.find(':')));
  const size_t last = LastComponent(name);
  size_t start = 0;
  int depth = 0;
  for (size_t i = 0; i < last; ++i) {
    if (name[i] == '(') ++depth;
    if (name[i] == ')') --depth;
    if (name[i] != '/' || depth > 0) continue;
    if (i > start) scopes.push_back(name.substr(start, i - start));
    start = i + 1;
  }
  return scopes;
}

bool IsCompiledRegion(std::string_view name) {
  constexpr std::string_view kStarts[] = {"Torch-Compiled Region", "CompiledFunction",
                                          "CompiledFxGraph", "## Call CompiledFxGraph"};
  return std::any_of(std::begin(kStarts), std::end(kStarts),
                     [&](std::string_view start) { return BeginsWith(name, start); }) ||
         IsCompiledKernel(name);
}

bool IsEagerRegion(std::string_view name) {
  return BeginsWith(name, "EagerExecute") || BeginsWith(name, "EagerLocalExecute") ||
         BeginsWith(name, "EagerKernelExecute");
}

bool IsCompiledKernel(std::string_view name) {
  constexpr std::string_view kStarts[] = {"triton_poi_", "triton_red_", "triton_per_",
                                          "triton_tem_", "triton_for_", "triton_mm_",
                                          "triton__",    "nvfuser_"};
  return std::any_of(std::begin(kStarts), std::end(kStarts),
                     [&](std::string_view start) { return BeginsWith(name, start); });
}

}  // namespace gpuprof::analysis
