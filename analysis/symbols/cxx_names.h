// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Mangled names of C++ as whatever file holds them: CUTLASS's kernels have names of thousands of
// characters, and a hostile one of a few hundred reads as gigabytes. Any thread, however small its
// stack.

#pragma once

#include <string>

namespace gpuprof::analysis {

// The readable form of a name that begins with _Z; empty where it has none, or one that nobody
// could read (over a million characters).
std::string DemangleCxx(const std::string& mangled);

}  // namespace gpuprof::analysis
