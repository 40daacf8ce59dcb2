// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Demangled names of functions, for reading: `at::_ops::add::call(at::Tensor const&, c10::Scalar
// const&)` as `at::_ops::add::call`. JSON and CSV hold the whole name too; folded stacks hold it
// alone. The work is linear in a name's length. Pure; any thread.

#pragma once

#include <string>
#include <string_view>

namespace gpuprof::analysis {

// Returns a name without return type and parameters. Short template arguments stay, `<...>` stands
// for others. Namespaces that people never write are left out, and so are those in the middle of a
// long name. Names that are not C++ stay as they are.
std::string ShortFunctionName(std::string_view name);

// Returns the name of a framework's operation without the namespaces of autograd.
std::string ShortOpName(std::string_view name);

}  // namespace gpuprof::analysis
