// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Puts schemas and enumerations of payloads into the form that a trace has. The program registers
// each once, often before anything is recorded. Any thread: no lock, no allocation.

#pragma once

#include <cstdint>

#include "inject/nvtx/payload_abi.h"
#include "inject/ranges/messages.h"

namespace gpuprof::inject::nvtx {

// Keeps a definition and returns its id. `id` is the chained tool's; if it is 0, the program's own
// id counts, or else a new one. A definition that makes no sense or finds no room is not kept.
uint64_t DefineSchema(const ranges::Text* domain, const SchemaAttributes* attributes,
                      uint64_t id) noexcept;
uint64_t DefineEnum(const ranges::Text* domain, const EnumAttributes* attributes,
                    uint64_t id) noexcept;

}  // namespace gpuprof::inject::nvtx
