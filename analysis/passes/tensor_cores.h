// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Whether a kernel uses the tensor cores: by its machine code where the recorder saw that being
// loaded, else as far as its name tells. What is in the code may still not be reached by a launch:
// "yes" means that the kernel is made to use them.
//
// Libraries put the instruction (hmma, wgmma), its shape (s16816) or the class of the algorithm
// (tensorop, simt, ffma) into the names of their matrix products; a name without any of it leaves
// the question open, and the answer says so. XProf's list ends with Ampere and counts every
// xmma_gemm, those of plain FFMA too.
//
// Pure functions.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuprof::analysis {

enum class TensorCores : uint8_t { kUnknown, kUnused, kUsed };

struct TensorCoreVerdict {
  TensorCores use = TensorCores::kUnknown;
  // What the verdict rests on: "SASS: " and instructions, a piece of the name, or words.
  std::string evidence;
  // Of the operands: fp64, tf32, bf16, fp16, fp8, fp4, int8, int1; "": not told, or not used.
  std::string_view input;
};

// `name` demangled or as the library gives it. `compute_major` of the device; 0: not known.
// `matrix_ops` as in proto::Signature; 0: the code was not seen.
TensorCoreVerdict TensorCoresOf(std::string_view name, uint32_t compute_major, uint32_t matrix_ops);

std::string_view TensorCoresName(TensorCores use);  // "yes", "no", "unknown"

}  // namespace gpuprof::analysis
