// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// String ids for the names of ops: a bounded table for the whole process, and a small cache a
// thread in front of it.
//
// NameId runs inside every op, on any thread: no lock, no allocation; the usual cost is one
// comparison. A name's text goes into the ring of the thread that meets it first. The rest runs on
// the control thread, or in a forked child.

#pragma once

#include <cstdint>

#include "proto/ring.h"

namespace gpuprof::tracer {

inline constexpr uint32_t kNameTableFull = 1;  // the id of every name that found no place
inline constexpr uint32_t kFirstName = 2;
inline constexpr uint32_t kMostNames = 65536;
inline constexpr uint32_t kMostNameBytes = 1024;  // longer names are cut

// A thread's cache, direct mapped by the name's address. An address can come to hold another name:
// the content is always compared.
struct NameCache {
  struct Entry {
    const char* address;
    uint64_t begin[2];  // the first 16 bytes there, whatever they are behind the end
    uint32_t id;
    uint32_t text;  // where the table keeps the name
  };
  static constexpr uint32_t kEntries = 256;
  Entry entries[kEntries];
};

// Control thread, once. False: no memory.
bool NamesInit();

// The id of `name`, defined in this process's file by then, or kNameTableFull.
uint32_t NameId(proto::RingHeader* ring, NameCache* cache, const char* name, uint64_t now) noexcept;

// From now on every name is defined again: the process writes another file. In a forked child, or
// while no op is observed.
void NamesBeginFile() noexcept;

uint64_t NamesLost();

}  // namespace gpuprof::tracer
