// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads the unwind rule of one code address out of the program's own tables, with libunwind: the
// only file that knows libunwind.
//
// ReadRule runs in hook context. It takes libunwind's pool lock for moments, with signals blocked;
// a fork must therefore not happen meanwhile: see StackBeforeFork. It needs about 4 KiB of stack.

#pragma once

#include <cstdint>

#include "tracer/stack/modules.h"
#include "tracer/stack/unwind_rule.h"

namespace gpuprof::tracer {

// Control thread, once. False: rules cannot be read on this machine; walks then follow frame
// pointers.
bool UnwindTablesInit();

// The rule for `address` (of the call, not behind it), which lies in `object`.
UnwindRule ReadRule(uint64_t address, const CodeObject& object) noexcept;

inline constexpr uint64_t kReadRuleStack = 8 * 1024;

}  // namespace gpuprof::tracer
