// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// String ids for the names of ops: the process's table of them, and a cache a thread.
//
// NameId runs inside every op, on any thread. The rest runs on the control thread, or in a forked
// child.

#pragma once

#include <cstdint>

#include "proto/name_table.h"

namespace gpuprof::tracer {

using proto::kMostNameBytes;
using proto::kMostNames;
using proto::kNameTableFull;
using proto::NameCache;
inline constexpr uint32_t kFirstName = proto::kFirstOpName;

// Control thread, once. False: no memory.
bool NamesInit();

// The process's table.
proto::NameTable& OpNames() noexcept;

// Returns the id of `name`, see proto::NameTable::Id().
template <typename Wake>
uint32_t NameId(proto::RingHeader* ring, NameCache* cache, const char* name, uint64_t now,
                Wake wake) noexcept {
  // record_function("") is a range like any other.
  return OpNames().Id(ring, cache, *name == 0 ? "(no name)" : name, now, wake);
}

// From now on every name is defined again: the process writes another file. In a forked child, or
// while no op is observed.
void NamesBeginFile() noexcept;

uint64_t NamesLost();

}  // namespace gpuprof::tracer
