// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Mangled names that are too long for the C++ runtime's own demangler, as CUTLASS's kernels have.
// Any thread, however small its stack.

#pragma once

#include <string>

namespace gpuprof::analysis {

// The readable form of a name that begins with _Z; empty where it has none.
std::string DemangleLong(const std::string& mangled);

}  // namespace gpuprof::analysis
