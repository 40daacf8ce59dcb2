// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/stream_events.h"

namespace gpuprof::tracer::cupti {

bool ReadStreamEvent(const Functions& functions, const ResourceData& data, StreamEvent* event) {
  // The null stream has no handle of its own that could be named.
  if (data.context == nullptr || data.stream == nullptr) return false;
  event->handle = reinterpret_cast<uintptr_t>(data.stream);
  return functions.get_context_id(data.context, &event->context) == kSuccess &&
         functions.get_stream_id(data.context, data.stream, /*per_thread=*/0, &event->stream) ==
             kSuccess;
}

}  // namespace gpuprof::tracer::cupti
