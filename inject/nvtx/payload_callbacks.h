// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The functions that calls of NVTX's payload extension reach. On the program's threads. As those of
// callbacks.h they call the chained tool's first and return what it returned; a tool without them
// gets nothing, and the program what NVTX then says.

#pragma once

#include <cstdint>

#include "inject/nvtx/payload_abi.h"

namespace gpuprof::inject::nvtx {

// By PayloadId.
intptr_t PayloadCallback(unsigned id) noexcept;

// A chained tool's function; 0 and 1 are none.
void SetChainedPayload(unsigned id, intptr_t slot) noexcept;

}  // namespace gpuprof::inject::nvtx
