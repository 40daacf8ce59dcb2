// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Puts what the program registers for its payloads, schemas and enumerations, into the form that a
// trace has of it. The program does that once, often before anything is recorded. Any thread: no
// lock, no allocation.

#pragma once

#include <cstdint>

#include "inject/nvtx/payload_abi.h"
#include "inject/ranges/messages.h"

namespace gpuprof::inject::nvtx {

// `id`: the chained tool's, or 0, and then the one that the program chose or a new one. Returns the
// id. What makes no sense or finds no room is not known.
uint64_t DefineSchema(const ranges::Text* domain, const SchemaAttributes* attributes,
                      uint64_t id) noexcept;
uint64_t DefineEnum(const ranges::Text* domain, const EnumAttributes* attributes,
                    uint64_t id) noexcept;

}  // namespace gpuprof::inject::nvtx
