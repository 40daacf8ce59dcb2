// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The device's memory, which is the host's: what each address is, pools, and their truth.

#pragma once

#include "tests/fake_gpu/device/sink.h"

namespace fake_gpu {

// CUPTI's numbers.
enum class Space : uint8_t { kPageable = 1, kPinned = 2, kDevice = 3, kManaged = 5 };

struct Allocation {
  uint64_t address = 0, bytes = 0;
  Space space = Space::kPageable;
  CUcontext context = nullptr;
  CUmemoryPool pool = nullptr;
  // The program's own memory, made known by cuMemHostRegister.
  bool registered = false;
};

CUresult Allocate(CUcontext context, size_t bytes, Space space, CUstream stream, CUmemoryPool pool,
                  void** result);
CUresult Free(void* address, CUstream stream);
// What was allocated in the context goes with it; but memory of pools is of no context.
void FreeWithContext(CUcontext context);
CUresult Register(CUcontext context, void* address, size_t bytes);

// The allocation that holds the address; kPageable and nothing else when there is none.
Allocation AllocationOf(const void* address);
Space SpaceOf(const void* address);
uint64_t FreeMemory(int device);

CUresult CreatePool(int device, CUmemoryPool* pool);
CUresult DestroyPool(CUmemoryPool pool);
CUresult TrimPool(CUmemoryPool pool, size_t keep);
CUmemoryPool DefaultPool(int device);
CUmemoryPool CurrentPool(int device);
void SetCurrentPool(int device, CUmemoryPool pool);

}  // namespace fake_gpu
