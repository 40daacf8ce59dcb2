// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Copies memory of this process that other threads change or free meanwhile: the kernel copies, so
// a wrong address is an answer and no fault. Where a filter forbids process_vm_readv,
// /proc/self/mem is read. Tool threads with their own table of descriptors; one thread at a time.

#pragma once

#include <cstdint>

#include "tracer/own_memory.h"

namespace gpuprof::tracer {

class OwnReads {
 public:
  struct Part {
    uint64_t address;
    void* to;
    uint32_t bytes;
  };

  OwnReads();

  // False: not all of the bytes can be read.
  bool Read(uint64_t address, void* to, uint32_t bytes);
  template <typename Value>
  bool Read(uint64_t address, Value* to) {
    return Read(address, to, sizeof(Value));
  }
  // Copies parts in their order, as close together in time as possible. Returns how many were
  // copied whole before the first that was not.
  uint32_t ReadParts(const Part* parts, uint32_t count);

 private:
  OwnMemory memory_;
  int pid_;
  bool is_refused_ = false;  // process_vm_readv
};

}  // namespace gpuprof::tracer
