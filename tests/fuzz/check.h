// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What all fuzzers share: a condition that must hold.

#pragma once

#include <cstdlib>

namespace gpuprof::fuzz {

inline void Check(bool condition) {
  if (!condition) std::abort();
}

}  // namespace gpuprof::fuzz
