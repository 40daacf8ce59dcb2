// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Single values of NVTX payloads: from little-endian bytes of a predefined type to 64 bits or to
// UTF-8. The caller has checked that the bytes are there.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// Returns 1 to 8 bytes as a number.
uint64_t UnsignedOf(std::string_view bytes);
uint64_t SignedOf(std::string_view bytes);

bool IsInteger(uint64_t type);

// Reads a value that is neither a string nor a handle. False: types of this kind are not read (128
// bits, long double, TF32).
bool ReadNumber(uint64_t type, std::string_view bytes, RangeValue* value_type, uint64_t* bits);

// Returns the text up to its zero, cut to the length of a name. `unit`: bytes of one character
// (UTF-8, UTF-16, UTF-32). Numbers that are not characters become U+FFFD.
std::string TextOf(std::string_view bytes, uint32_t unit);
// Returns where the zero begins, or the end.
uint64_t EndOfText(std::string_view bytes, uint32_t unit);

}  // namespace gpuprof::analysis
