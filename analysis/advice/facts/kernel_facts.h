// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What rules about single kernels look at: the kernels of one device within the counted steps.
// Collectives are not among them. Pure.

#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "analysis/advice/facts/pieces.h"

namespace gpuprof::analysis {

// Launches that have something in common.
struct KernelGroup {
  Pieces pieces;  // saved_per_step_ns: if the part of their time that could be spared were spared
  // The launch that takes most of the time, by the short name of its kernel. Then figures
  // of this launch.
  std::string largest;
  // The longest launch of this kernel: in the typical step, if it runs there.
  Instance largest_launch;
  double figure = 0;    // what made it one of the group
  std::string limit;    // what limits its occupancy
  uint64_t blocks = 0;  // of its grid
  double waves = 0;
};

struct KernelFacts {
  int64_t total_ns = 0;          // of all kernels
  uint32_t multiprocessors = 0;  // 0: not known
  KernelGroup low_occupancy;     // figure: the occupancy that the launch allows
  KernelGroup few_blocks;        // figure: blocks over multiprocessors
  KernelGroup tails;             // figure: the part of the waves' time that has work
  KernelGroup wide_types;        // products of 32 bits
  KernelGroup drifting;          // figure: mean of the second half over the mean of the first
  KernelGroup layout;            // copies, casts and transpositions
  KernelGroup misaligned;        // largest: the shape; figure: the elements to be a multiple of
  KernelGroup attention;         // between the two products of an attention
  uint64_t attention_count = 0;  // how many softmaxes
  std::map<std::string, Instance> longest_launches;  // by full name, in the same sense
  Instance longest_collective;
  KernelGroup slowed;  // by collectives; figure: median next to one over the median alone
};

}  // namespace gpuprof::analysis
