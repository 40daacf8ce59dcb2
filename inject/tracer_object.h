// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds and loads libgpuprof_tracer.so, and is the Host that it talks to.

#pragma once

#include "tracer/tracer.h"

namespace gpuprof::inject {

// Loads the tracer object the first time. Null: it cannot be loaded; the reason was said once. May
// wait for the loader's lock: control thread, or an exiting thread.
const tracer::Api* LoadTracer() noexcept;

// Returns the table that LoadTracer returned before, without loading.
const tracer::Api* LoadedTracer() noexcept;

}  // namespace gpuprof::inject
