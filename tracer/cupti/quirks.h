// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What single releases of CUPTI need done differently, or do wrong: one table of it. What no
// release makes us change is not in it.
//
// Any thread.

#pragma once

#include <cstdint>

#include "tracer/cupti/text.h"

namespace gpuprof::tracer::cupti {

enum QuirkAction : uint32_t {
  // A request for a buffer is never refused: beyond the limit come spare ones, whose records are
  // counted and let go.
  kNeverRefuseBuffers = 1u << 0,
  // Each thread holds a buffer: they are smaller, and more may be out.
  kSmallBuffers = 1u << 1,
  // Answers of "not ready" are left out of the records of waits.
  kLeaveOutQueries = 1u << 2,
  // It asks the driver when a buffer is read: that is done before the driver goes.
  kReadsWithDriver = 1u << 4,
  // Nothing that we could do: the trace tells of it.
  kTell = 1u << 3,
};

struct Quirk {
  uint32_t first, last;  // of cuptiGetVersion, both included
  uint32_t action;
  const char* fact;
  const char* source;
};

// QuirkActions of this release; kTell alone is none.
uint32_t QuirksOf(uint32_t version);
// Adds "; " and each fact that is only told.
void AddWarnings(uint32_t version, Text* text);
// "12.9", as the toolkit that brought it is called; "?" where it is not known.
void AddRelease(uint32_t version, Text* text);

}  // namespace gpuprof::tracer::cupti
