// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds the bytes of an event's extended payloads, which are recorded as they are: no value is read
// in the program. On the program's threads: no lock, no allocation. Nothing is read outside of what
// the program said a payload's size is. Where it said none, its schema or type tells it; a string
// by itself ends with its zero.

#pragma once

#include <cstdint>

#include "inject/nvtx/payload_abi.h"
#include "inject/ranges/payloads.h"

namespace gpuprof::inject::nvtx {

void FindPayloads(const ranges::Text* domain, const PayloadData* payloads, uint64_t count,
                  ranges::Payloads* found) noexcept;

}  // namespace gpuprof::inject::nvtx
