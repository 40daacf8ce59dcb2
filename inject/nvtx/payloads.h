// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds the bytes of an event's extended payloads. They are recorded as they are: no value is read
// in the program. On the program's threads: no lock, no allocation. Nothing is read outside of the
// size that the program gave. If it gave no size, the schema or the type has one. A string by
// itself ends with its zero.

#pragma once

#include <cstdint>

#include "inject/nvtx/payload_abi.h"
#include "inject/ranges/payloads.h"

namespace gpuprof::inject::nvtx {

void FindPayloads(const ranges::Text* domain, const PayloadData* payloads, uint64_t count,
                  ranges::Payloads* found) noexcept;

}  // namespace gpuprof::inject::nvtx
