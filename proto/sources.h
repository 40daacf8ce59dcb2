// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Every source of events, once: the name that --trace takes, and its bit of the word that hooks
// read. Both parsers of --trace, their messages and the analyses derive from this list.

#pragma once

#include <cstdint>

// X(constant, bit, name, needs, is_default, words, tables...)
//   needs: other sources without which it records nothing
//   words: what the help says behind the name
//   tables: those of proto/schema.h that hold its rows
//
// Numbers of bits are never used again. Two sources of one table stand next to each other.
#define GPUPROF_SOURCES(X)                                                                      \
  /* GPU activity, by CUPTI. */                                                                 \
  X(kSourceCuda, 6, "cuda", 0, true, "", kKernel, kMemcpy, kMemset, kApi, kSync, kDeviceMemory, \
    kGraphLaunch, kOverhead)                                                                    \
  X(kSourceLaunches, 8, "launches", ::gpuprof::proto::kSourceCuda, false,                       \
    " (the host's stack at each launch; not by default)", kLaunch)                              \
  X(kSourceUnifiedMemory, 10, "um", ::gpuprof::proto::kSourceCuda, false,                       \
    " (unified memory's faults and migrations; not by default)", kUnifiedMemory)                \
  X(kSourceHeap, 0, "heap", 0, true, "[=sampled[:BYTES]|exact|off]", kHeap)                     \
  X(kSourceMmap, 5, "mmap", 0, true, "", kMapping)                                              \
  X(kSourceLocks, 1, "locks", 0, true, "", kWait)                                               \
  /* Life of threads and processes. */                                                          \
  X(kSourceThreads, 2, "threads", 0, true, "", kThreadEvent)                                    \
  X(kSourceOps, 3, "ops", 0, true, "", kOp, kOpValue)                                           \
  X(kSourceTensors, 4, "tensors", 0, true, "", kTensor)                                         \
  X(kSourceNvtx, 7, "nvtx", 0, true, "", kRange)                                                \
  X(kSourceItt, 9, "itt", 0, true, "", kRange)                                                  \
  /* What NCCL tells its profiler plugin: marks. */                                             \
  X(kSourceNccl, 13, "nccl", 0, true, "", kRange)                                               \
  X(kSourceFiles, 11, "files", 0, false, " (reads of files; not by default)", kFileRead)        \
  /* Stacks of all threads, now and then. */                                                    \
  X(kSourceSamples, 12, "samples", 0, true, "", kSample)

namespace gpuprof::proto {

#define GPUPROF_DECLARE_SOURCE(constant, bit, ...) inline constexpr uint32_t constant = 1u << (bit);
GPUPROF_SOURCES(GPUPROF_DECLARE_SOURCE)
#undef GPUPROF_DECLARE_SOURCE

// What is recorded without --trace.
#define GPUPROF_DEFAULT_SOURCE(constant, bit, name, needs, is_default, ...) \
  | ((is_default) ? constant : 0u)
inline constexpr uint32_t kDefaultSources = 0u GPUPROF_SOURCES(GPUPROF_DEFAULT_SOURCE);
#undef GPUPROF_DEFAULT_SOURCE

// Asked for by --python, not by --trace: calls of Python functions (table kPython), and pauses of
// CPython's garbage collector (kGcPause).
inline constexpr uint32_t kSourcePythonCalls = 1u << 20;
inline constexpr uint32_t kSourcePythonGc = 1u << 21;

// The names in one literal, each with a comma behind it.
#define GPUPROF_SOURCE_NAME(constant, bit, name, ...) name ", "
#define GPUPROF_SOURCE_HELP(constant, bit, name, needs, is_default, words, ...) name words ", "

}  // namespace gpuprof::proto
