// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads the process's own memory by way of the kernel: where the program may be changing or freeing
// what is read, a wrong address is an answer and not a fault. Tool threads only.

#pragma once

#include <cstdint>

namespace gpuprof::tracer {

class OwnMemory {
 public:
  OwnMemory();
  ~OwnMemory();
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;

  // How many of the bytes from this address on could be read, 0 for none (no /proc, not mapped).
  uint32_t Read(const void* address, void* to, uint32_t bytes) const;

 private:
  int descriptor_;
};

}  // namespace gpuprof::tracer
