// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Modules as a driver may hand them over: the tracer's reader of their machine code. What it finds
// lies inside, is found again by its name, and no function's instructions are missing in the
// verdict on its name, which is no verdict on the code as a whole where functions of one name
// differ.

#include <cstdint>
#include <map>
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
  std::map<std::string, uint32_t> functions;
  for (uint32_t i = 0; i < cubin.sections(); ++i) {
    if (cubin.ReadFunction(i, &function))
      ++functions[std::string(function.name, function.name_bytes)];
  }
  for (uint32_t i = 0; i < cubin.sections(); ++i) {
    if (!cubin.ReadFunction(i, &function)) continue;
    Check(function.code >= data && function.code + function.code_bytes <= data + size);
    const std::string name(function.name, function.name_bytes);
    const uint32_t verdict = code->MatrixOps(name.c_str());
    if (!opcodes.is_known()) Check(verdict == 0);
    if (verdict == 0) continue;
    const uint32_t ops = opcodes.FindIn(function.code, function.code_bytes);
    Check((ops & ~verdict) == 0);
    Check((verdict & gpuprof::proto::kCodeLookedAt) != 0 || functions[name] > 1);
  }
  return 0;
}
