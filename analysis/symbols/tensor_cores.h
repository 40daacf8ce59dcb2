// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Whether a kernel uses the tensor cores. The answer comes from its machine code if the recorder
// saw the code being loaded, else from its name. A launch may still not reach an instruction in the
// code: "yes" means that the kernel is made to use the tensor cores.
//
// Libraries name the instruction (hmma, wgmma), its shape (s16816) or the class of the algorithm
// (tensorop, simt, ffma) in the names of their matrix products. A name without these words leaves
// the question open, and the answer says so. XProf's list ends with Ampere and counts every
// xmma_gemm, also those of plain FFMA.
//
// Pure functions.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuprof::analysis {

enum class TensorCores : uint8_t { kUnknown, kUnused, kUsed };

enum class TensorCoreEvidence : uint8_t { kNone, kCode, kName, kDevice };

struct TensorCoreVerdict {
  TensorCores use = TensorCores::kUnknown;
  TensorCoreEvidence kind = TensorCoreEvidence::kNone;
  // What the verdict rests on: "SASS: " and instructions, a piece of the name, or words.
  std::string evidence;
  // The operands' type: fp64, tf32, bf16, fp16, fp8, fp4, int8, int1; "": not known, or not used.
  std::string_view input;
};

// Finds out whether a kernel uses tensor cores. `name` is demangled or the library's own form.
// `compute_major` is the device's; 0: not known. `matrix_ops` as in proto::Signature; 0: the code
// was not seen.
TensorCoreVerdict TensorCoresOf(std::string_view name, uint32_t compute_major, uint32_t matrix_ops);

// Returns whether a kernel is of a family that writes "f16" for all numbers of 16 bits: cuDNN's
// attention.
bool NamesBothHalfTypes(std::string_view name);

}  // namespace gpuprof::analysis
