// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Takes a readable C++ name apart: components, template arguments, parameter lists. Names come from
// files of others. So the work is linear in their length, and nesting and memory are bounded. A
// name that was cut off in its middle gives its existing parts. Pure; any thread.

#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace gpuprof::analysis {

struct CxxName;

// One component of a qualified name: "sum_functor<float>::operator()(x)" has two.
struct CxxPart {
  std::string_view
      ident;  // "sum_functor", "{lambda(float)#1}", "operator()", "128", "unsigned int"
  std::vector<CxxName> args;  // template arguments
  std::string_view params;    // between the parentheses of a parameter list
  bool has_params = false;
};

// A type, a value or a function. The return type of a function is not kept.
struct CxxName {
  std::vector<CxxPart> parts;
  std::string_view text;  // the whole name, as it was written

  // Returns the last component's identifier, "" without a component.
  std::string_view Ident() const { return parts.empty() ? std::string_view() : parts.back().ident; }
  // Returns the template arguments of the last component that has any; empty without arguments.
  const std::vector<CxxName>& Args() const;
};

// Views point into `text`.
CxxName ParseCxxName(std::string_view text);

// Parses the types in a list of parameters: "float, bool" of a lambda.
std::vector<CxxName> ParseCxxList(std::string_view text);

// Returns the position behind the bracket that closes the one at `at`, or the end of `text`.
// Brackets of the same kind within are counted too; "->" closes nothing.
size_t SkipCxxBrackets(std::string_view text, size_t at);

}  // namespace gpuprof::analysis
