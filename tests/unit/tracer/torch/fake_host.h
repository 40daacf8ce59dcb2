// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Stands for the inject object: rings in memory, one a thread, that nobody drains until the test
// reads them.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/record.h"
#include "proto/ring.h"
#include "tracer/tracer.h"

namespace gpuprof::torch_test {

inline constexpr uint32_t kRingRecords = 1u << 18;

// One host a process; `records` a ring, a power of two.
const tracer::Host* FakeHost(uint32_t records = kRingRecords);
// What the hooks' recording word is in the product.
void SetRecording(bool on);
// As inject does it: the thread's rings are new afterwards.
void ForgetRings();
// The calling thread counts as one of gpuprof's.
void AdoptThread();

struct Op {
  uint32_t ring;
  uint64_t name;
  std::string text;  // empty: undefined
  uint64_t start;
  uint64_t end;
  uint32_t depth;
  uint32_t scope;
};
// All ops in all rings, and the definitions; frees the rings' space. Call while nothing is written.
std::vector<Op> TakeOps();

uint32_t RingCount();
proto::RingHeader* Ring(uint32_t number);
uint64_t DroppedRecords();
uint64_t StringRecords();
void* ToldReporter();

}  // namespace gpuprof::torch_test
