// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A recording of real GPU work that the doubles play again: kineto_replay.py writes it, replay.cc
// reads it. Little-endian, without padding but what is named:
//
//   FileHeader
//   `strings` times: uint32_t length, that many bytes     names, of kernels and for readers
//   `rows` times: Row                                     by their ends
//
// Times are nanoseconds since the earliest start in the file. What the recording did not tell is 0.

#pragma once

#include <cstdint>

namespace fake_gpu_replay {

constexpr char kMagic[8] = {'g', 'p', 'u', 'p', 'l', 'a', 'y', '1'};

struct FileHeader {
  char magic[8];
  uint32_t strings;
  uint32_t rows;
};

enum RowType : uint32_t { kRuntimeCall = 1, kDriverCall = 2, kKernel = 3, kCopy = 4, kSet = 5 };

struct Row {
  uint32_t type;
  uint32_t name;  // index of a string
  uint64_t start, end;
  uint32_t correlation;
  // Of a call: the thread as the recording calls it, and CUPTI's callback id.
  uint32_t thread;
  uint32_t callback_id;
  // Of work on the device, from here on.
  uint32_t device, context, stream;
  // Of a copy between two devices: they, from and to, and the contexts there.
  uint32_t grid[3], block[3];
  uint32_t registers;
  uint32_t shared_memory;  // static and dynamic together
  uint32_t graph;
  // CUPTI's numbers: kind of copy, memory from << 8, memory to << 16.
  uint32_t memory;
  uint64_t graph_node;
  uint64_t bytes;
};

static_assert(sizeof(FileHeader) == 16);
static_assert(sizeof(Row) == 104);

}  // namespace fake_gpu_replay
