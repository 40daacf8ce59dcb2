// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Addresses inside of activity records that a client follows, and a look at what is there. Any
// thread; an address that leads nowhere harms nothing.

#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/fake_gpu/recorder/buffer_file.h"

namespace fake_gpu_recorder {

struct Field {
  uint32_t offset;  // in the record
  PointerType type;
};
constexpr size_t kMostFields = 2;

// Of this record of so many bytes, those that are not null. Returns their number.
size_t FieldsOf(const uint8_t* record, size_t bytes, Field (&fields)[kMostFields]);

// Copies what is at the address: a string without its end, or an owned block. Returns its length,
// at most `room`; below 0: nothing can be read there.
long ReadData(uint64_t address, PointerType type, char* to, size_t room);

}  // namespace fake_gpu_recorder
