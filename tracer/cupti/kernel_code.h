// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What is known of kernels' machine code: which tensor-core instructions it holds. Each module that
// is loaded while a capture runs is read once, where CUDA has it, and of each function a few bits
// are kept by the hash of its name; no code is. A kernel "uses" what its code holds, whether or not
// a launch comes by there.
//
// Add runs inside of CUDA on the program's threads, several at a time: no heap, no lock, nobody
// waits. MatrixOps is the drain's. A forked child has no CUDA and asks nothing.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/cupti/cubin.h"

namespace gpuprof::tracer::cupti {

class KernelCode {
 public:
  // A megabyte, of which untouched pages take no memory. Functions beyond three quarters of it are
  // not known.
  static constexpr uint32_t kSlots = 1u << 16;
  static constexpr uint32_t kMost = kSlots / 4 * 3;
  // Of one module: functions beyond it are not known. At gigabytes a second, this is the longest
  // that a load of a module can be held up: some tens of milliseconds.
  static constexpr uint64_t kMostCodeBytes = 64u << 20;

  // The bytes need to be there during the call only.
  void AddModule(const void* cubin, size_t bytes);

  // As Signature.matrix_ops of the trace. What several modules have under one name, be it for
  // several architectures, is taken together. 0 where it is not known: the code was not seen, or
  // what the kernel lacks another function of the module has, which it may call.
  uint32_t MatrixOps(const char* name) const;

 private:
  struct Slot {
    std::atomic<uint64_t> key{0};  // of the name; 0: free
    std::atomic<uint32_t> facts{0};
  };

  bool AddFunctions(const Cubin& cubin, uint32_t* callable);
  void Add(const char* name, size_t bytes, uint32_t facts);
  // Null: not there.
  const Slot* Find(uint64_t key) const;

  Slot slots_[kSlots];
  std::atomic<uint32_t> used_{0};
};

}  // namespace gpuprof::tracer::cupti
