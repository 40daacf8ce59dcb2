// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/context_events.h"

namespace gpuprof::tracer::cupti {

bool ReadContextEvent(const Functions& functions, uint32_t id, const ResourceData& data,
                      ContextEvent* event) {
  if (id != kContextCreated && id != kContextDestroyStarting) return false;
  if (functions.get_context_id == nullptr || data.context == nullptr) return false;
  event->is_end = id == kContextDestroyStarting;
  return functions.get_context_id(data.context, &event->context) == kSuccess;
}

}  // namespace gpuprof::tracer::cupti
