// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How much memory a program of XLA takes while it runs, and for what. Sources are the places that
// XLA gave to buffers, and XLA's own simulation of the heap. Nothing is measured.
//
// Allocations are fixed, or temporary: fixed ones are there from the first instruction to the last.
// The heap has the temporary ones. Sizes are bytes; sums that do not fit become the largest number.
// Pure functions, any thread. Any program is safe.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/hlo/program.h"

namespace gpuprof::analysis::hlo {

// What an allocation is for. One that is a parameter and an output is a parameter.
enum class BufferUse : uint8_t { kParameter, kOutput, kConstant, kThreadLocal, kTemporary };
BufferUse UseOf(const BufferAllocation& allocation);

// Returns the part of an instruction's shape that a buffer holds.
const Shape& ShapeAt(const Shape& shape, const std::vector<int64_t>& index);

// A buffer with its place and life.
struct PlacedBuffer {
  const LogicalBuffer* buffer = nullptr;
  const BufferAllocation* allocation = nullptr;
  const Instruction* instruction = nullptr;  // null: the program does not have it
  const Instruction* last_reader = nullptr;  // null: no instruction, or not known
  int64_t offset = 0;                        // in the allocation
  int64_t bytes = 0, unpadded_bytes = 0;
  // Bytes of the peak. One of the buffers that share memory has them.
  int64_t peak_bytes = 0;
  // The first and the last moment of its life, in MemorySpace::moments.
  size_t first = 0, last = 0;
  bool has_life = false;       // false: XLA's simulation does not have it
  bool lives_to_end = false;   // nothing frees it
  bool shares_memory = false;  // of a buffer that was there before
};

// An instruction that takes memory of the heap, in the program's order.
struct HeapMoment {
  std::string_view instruction;
  int64_t bytes = 0;           // of all allocations, while it runs
  int64_t unpadded_bytes = 0;  // of the same buffers
};

// Memory of one kind. XLA numbers the kinds: 0 is the device's memory, and 5 the host's.
struct MemorySpace {
  int64_t number = 0;
  int64_t allocated_bytes = 0;  // of all allocations
  int64_t parameter_bytes = 0, output_bytes = 0, constant_bytes = 0, thread_local_bytes = 0,
          temporary_bytes = 0;
  int64_t aliased_bytes = 0;       // parameters in whose memory outputs are
  int64_t not_reusable_bytes = 0;  // no other buffer may use the memory
  int64_t peak_bytes = 0;          // fixed allocations, and the heap at its peak
  int64_t peak_unpadded_bytes = 0;
  size_t peak_moment = 0;         // in `moments`, if there are any
  int64_t unsimulated_bytes = 0;  // temporary allocations that count as if they were fixed
  uint64_t allocation_count = 0;
  std::vector<HeapMoment> moments;
  std::vector<PlacedBuffer> buffers;  // those with the most bytes of the peak first
};

struct ProgramMemory {
  std::vector<MemorySpace> spaces;  // by number
  int64_t peak_bytes() const;       // of all spaces
};

ProgramMemory MemoryOf(const Program& program);

}  // namespace gpuprof::analysis::hlo
