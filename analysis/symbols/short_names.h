// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Short names of all kernels of one result, so that they tell the kernels apart. For passes, which
// put them next to the full names. Pure; any thread.

#pragma once

#include <map>
#include <set>
#include <string>

namespace gpuprof::analysis {

// Returns the short name of each full name. If different names would get the same short name, their
// difference is added: "mul scalar f32 strided BUnaryFunctor". If the difference is long, a number
// made from the full name is added: "#3f2a". The result depends on the names alone.
std::map<std::string, std::string> ShortKernelNames(const std::set<std::string>& names);

// Sets `short_name` of every row from its `name`.
template <typename Rows>
void SetShortKernelNames(Rows* rows) {
  std::set<std::string> names;
  for (const auto& row : *rows) names.insert(row.name());
  const std::map<std::string, std::string> short_names = ShortKernelNames(names);
  for (auto& row : *rows) row.set_short_name(short_names.at(row.name()));
}

}  // namespace gpuprof::analysis
