// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What an entry of a schema is made of, by its type and flags alone: how it is read, and how much
// room it takes. Called while schemas are registered, on any thread; no lock, no allocation.

#pragma once

#include <cstdint>

#include "inject/nvtx/payload_abi.h"
#include "inject/nvtx/schemas.h"

namespace gpuprof::inject::nvtx {

struct Form {
  uint32_t bytes = 0;  // of all elements; 0: not known
  uint32_t align = 1;
  uint32_t elements = 0;  // of an array that is read; 0: it is none
  Reading reading = Reading::kLeftOut;
  uint8_t unit = 1;  // bytes of one character of a text
};

// Of a single value.
Form FormOfType(uint64_t type) noexcept;
// Of an entry in whose place no schema stands. `defined`: an enumeration; null: none is known.
Form FormOf(const SchemaEntry& entry, const Definition* defined) noexcept;

}  // namespace gpuprof::inject::nvtx
