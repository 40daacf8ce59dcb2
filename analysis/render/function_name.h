// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Demangled names for reading: `at::_ops::add::call(at::Tensor const&, c10::Scalar const&)` as
// `at::_ops::add::call`. JSON and CSV keep the whole name. Pure; any thread.

#pragma once

#include <string>
#include <string_view>

namespace gpuprof::analysis {

// Without return type, parameters and template arguments (`<...>` stands for them). Names that are
// not of C++ stay as they are.
std::string ShortFunctionName(std::string_view name);

}  // namespace gpuprof::analysis
