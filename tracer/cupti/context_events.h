// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// When contexts come and go, as CUPTI's resource callbacks tell it: with a context goes the memory
// that was allocated in it, of which no record tells. One event each, which the drain takes out of
// the queue.
//
// The callbacks run inside CUDA on the program's threads.

#pragma once

#include <cstdint>

#include "tracer/cupti/abi.h"
#include "tracer/cupti/event_queue.h"
#include "tracer/cupti/library.h"

namespace gpuprof::tracer::cupti {

struct ContextEvent {
  uint64_t ticks = 0;
  uint32_t context = 0;
  bool is_end = false;
};

using ContextEvents = EventQueue<ContextEvent, 1u << 10>;

// In a callback kContextCreated or kContextDestroyStarting. All but the ticks. False: it is another
// callback, or the library does not tell which context it is.
bool ReadContextEvent(const Functions& functions, uint32_t id, const ResourceData& data,
                      ContextEvent* event);

}  // namespace gpuprof::tracer::cupti
