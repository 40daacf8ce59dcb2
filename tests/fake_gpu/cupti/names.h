// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Names of callbacks and results, taken from the headers at hand while building.

#pragma once

#include <cstdint>

namespace fake_gpu_cupti {

// Null when there is none.
const char* CallbackName(uint32_t domain, uint32_t id);
const char* ResultName(uint32_t result);

}  // namespace fake_gpu_cupti
