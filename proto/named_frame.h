// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Frames of call stacks that have a name and no address of code: functions of Python. Bit 63 of
// their program counter is set, and bits 32 to 62 are 0. No address of a program or kernel is like
// that. The low half is a string id. The string is "file.py(12): function", with the number of a
// line.
//
// Plain functions: any thread, signal handlers, readers.

#pragma once

#include <cstdint>

namespace gpuprof::proto {

inline constexpr uint64_t kNamedFrame = uint64_t{1} << 63;
// The string ids of recorded frames begin here (proto/name_table.h).
inline constexpr uint32_t kFirstFrameName = 0x10000000;

constexpr uint64_t NamedFrame(uint32_t name) { return kNamedFrame | name; }
constexpr bool IsNamedFrame(uint64_t pc) { return pc >> 32 == kNamedFrame >> 32; }
constexpr uint32_t NameOfFrame(uint64_t pc) { return static_cast<uint32_t>(pc); }

}  // namespace gpuprof::proto
