// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What /proc tells of a process and its ring file; recovery and ProcessIsAlive (recover.h) ask. Any
// thread; reads /proc only.

#pragma once

#include <cstdint>

#include "proto/ring.h"

namespace gpuprof::codec {

enum class RingUse {
  kGone,  // no such process, or it runs another program image now, or it does not carry our object
  kMapped,    // it maps this ring file
  kUnmapped,  // a process of that number and age lives and does not map this ring file
  kHidden,    // a process of that number and age lives and does not let itself be looked into
};
// `has_ring_file`: without one there is nothing to map, and a process in a namespace below counts
// by number and age alone. `number_here` gets the process's number for this caller, if it lives.
RingUse FindRingUse(int32_t pid, uint64_t start_id, bool has_ring_file = true,
                    int32_t* number_here = nullptr);

// Returns whether the ring file was made on this host, among the same process numbers. Only then
// does /proc tell for sure that its process is dead.
bool SharesProcessNumbers(const proto::RingFileHeader& header);

}  // namespace gpuprof::codec
