// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the tracer finds in cubins, for matrix_opcodes_test.py:
//
//   cubin_ops FILE...   a line each function: file, name, kernel or function, mask of what its code
//                       holds, Signature.matrix_ops. Nothing of an architecture that is not known.
//   cubin_ops --time FILE...   ns for each KiB of code, and how much code that was

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "tracer/cupti/cubin.h"
#include "tracer/cupti/kernel_code.h"
#include "tracer/cupti/matrix_opcodes.h"

namespace {

using gpuprof::tracer::cupti::Cubin;
using gpuprof::tracer::cupti::CubinFunction;
using gpuprof::tracer::cupti::KernelCode;
using gpuprof::tracer::cupti::MatrixOpcodes;

std::string Contents(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

uint64_t CodeBytes(const std::string& bytes) {
  const Cubin cubin(bytes.data(), bytes.size());
  CubinFunction function;
  uint64_t sum = 0;
  for (uint32_t i = 0; i < cubin.sections(); ++i)
    sum += cubin.ReadFunction(i, &function) ? function.code_bytes : 0;
  return sum;
}

void Print(const char* path, const std::string& bytes) {
  const Cubin cubin(bytes.data(), bytes.size());
  const MatrixOpcodes opcodes(cubin.sm());
  const auto code = std::make_unique<KernelCode>();
  code->AddModule(bytes.data(), bytes.size());
  CubinFunction function;
  for (uint32_t i = 0; opcodes.is_known() && i < cubin.sections(); ++i) {
    if (!cubin.ReadFunction(i, &function)) continue;
    const std::string name(function.name, function.name_bytes);
    printf("%s %s %s %x %x\n", path, name.c_str(), function.is_kernel ? "kernel" : "function",
           opcodes.FindIn(function.code, function.code_bytes), code->MatrixOps(name.c_str()));
  }
}

void Time(const std::string& bytes) {
  constexpr int kRounds = 20;
  const auto code = std::make_unique<KernelCode>();
  const auto start = std::chrono::steady_clock::now();
  for (int round = 0; round < kRounds; ++round) code->AddModule(bytes.data(), bytes.size());
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  const double kib = static_cast<double>(CodeBytes(bytes)) / 1024;
  printf("%.1f ns/KiB of %.0f KiB of code\n", took.count() / kRounds / kib, kib);
}

}  // namespace

int main(int argc, char** argv) {
  const bool times = argc > 1 && strcmp(argv[1], "--time") == 0;
  for (int i = times ? 2 : 1; i < argc; ++i) {
    const std::string bytes = Contents(argv[i]);
    if (times) {
      Time(bytes);
    } else {
      Print(argv[i], bytes);
    }
  }
  return 0;
}
