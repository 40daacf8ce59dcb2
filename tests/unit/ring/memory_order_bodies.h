// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The two threads of memory_order_test.cc: the product's own functions, compiled so that the memory
// model sees each of their accesses.

#pragma once

#include <cstdint>
#include <vector>

#include "proto/codec/record_sorter.h"
#include "proto/ring.h"
#include "tests/unit/ring/ring_model.h"

namespace gpuprof {

// Writes event 1, 2, ...; returns how many were not lost.
uint64_t ProduceAll(proto::RingHeader* ring, const std::vector<Way>& ways,
                    const std::vector<std::vector<proto::Record>>& groups);

// Comes `times` times and takes what is there, as the drain thread does; returns the position.
uint64_t Drain(proto::RingHeader* ring, codec::RecordSorter* sorter, uint64_t position, int times);

// A consumer with a fault: its tail runs ahead of what it has read.
void FreeTooEarly(proto::RingHeader* ring, codec::RecordSorter* sorter);

}  // namespace gpuprof
