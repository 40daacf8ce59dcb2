// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The modules that XLA compiled, as an imported trace holds them. Plain data, any thread.

#pragma once

#include <cstdint>
#include <string>

namespace gpuprof::analysis {

struct HloModule {
  uint64_t program_id = 0;  // by which details of work name it
  std::string name;         // "jit_f(4)"
  std::string proto;        // bytes of a message xla.HloProto: analysis/hlo/program.h
};
// Bytes of all modules of a process: further modules are not kept.
inline constexpr uint64_t kMostHloBytes = uint64_t{256} << 20;

}  // namespace gpuprof::analysis
