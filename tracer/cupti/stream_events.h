// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which handle a stream was made with, as CUPTI's resource callback tells it: the program, and with
// it NVTX, knows streams by their handles, and CUPTI's records by numbers. One event for each
// stream, which the drain takes out of the queue. What is lost of it is a name.
//
// The callbacks run inside CUDA on the program's threads, before the program has the handle.

#pragma once

#include <cstdint>

#include "tracer/cupti/abi.h"
#include "tracer/cupti/event_queue.h"
#include "tracer/cupti/library.h"

namespace gpuprof::tracer::cupti {

struct StreamEvent {
  uint64_t handle = 0;  // CUstream: comes again for another stream when this one is destroyed
  uint64_t ticks = 0;   // from which on it is this stream's
  uint32_t context = 0;
  uint32_t stream = 0;
};

using StreamEvents = EventQueue<StreamEvent, 1u << 12>;

// Whether this library can tell at all.
inline bool TellsStreams(const Functions& functions) {
  return functions.get_context_id != nullptr && functions.get_stream_id != nullptr;
}

// In a callback kStreamCreated, where TellsStreams. All but the ticks. False: it is not told.
bool ReadStreamEvent(const Functions& functions, const ResourceData& data, StreamEvent* event);

}  // namespace gpuprof::tracer::cupti
