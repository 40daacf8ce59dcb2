// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Mangled names of C++ and Rust as whatever file holds them. CUTLASS's kernels have names of
// thousands of characters, and a hostile name of a few hundred characters reads as gigabytes. Any
// thread, however small its stack.

#pragma once

#include <string>

namespace gpuprof::analysis {

// Returns the readable form of a mangled name. Returns "" if the name is not mangled, or if no
// person could read its form (over a million characters). Rust's names are those of both its
// manglings, v0
// (_R...) and legacy (_ZN...17h<hash>E), which comes without its hash. LLVM's suffix for a copied
// function (.llvm.123) is left out.
std::string DemangleName(const std::string& mangled);

// Returns the readable form of a symbol's name: demangled, without its version.
std::string Demangle(const char* name);

}  // namespace gpuprof::analysis
