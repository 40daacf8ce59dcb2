// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Modules as a driver may hand them over: the tracer's reader of their machine code. What it finds
// lies inside, is found again by its name, and one module never contradicts itself into a verdict.

#include <cstdint>
#include <memory>
#include <string>

#include "proto/matrix_ops.h"
#include "tests/fuzz/temp_files.h"
#include "tracer/cupti/cubin.h"
#include "tracer/cupti/kernel_code.h"
#include "tracer/cupti/matrix_opcodes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using gpuprof::fuzz::Check;
  namespace cupti = gpuprof::tracer::cupti;
  // Facts are kept for the life of a process: a table for each input.
  const auto code = std::make_unique<cupti::KernelCode>();
  code->AddModule(data, size);
  const cupti::Cubin cubin(data, size);
  const cupti::MatrixOpcodes opcodes(cubin.sm());
  cupti::CubinFunction function;
  for (uint32_t i = 0; i < cubin.sections(); ++i) {
    if (!cubin.ReadFunction(i, &function)) continue;
    Check(function.code >= data && function.code + function.code_bytes <= data + size);
    const std::string name(function.name, function.name_bytes);
    const uint32_t verdict = code->MatrixOps(name.c_str());
    if (!opcodes.is_known()) Check(verdict == 0);
    if (verdict == 0) continue;
    const uint32_t ops = opcodes.FindIn(function.code, function.code_bytes);
    Check((verdict & gpuprof::proto::kCodeLookedAt) != 0 && (ops & ~verdict) == 0);
  }
  return 0;
}
