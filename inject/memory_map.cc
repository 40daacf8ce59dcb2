// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/memory_map.h"

#include <sys/mman.h>

namespace gpuprof::inject {
namespace {

// Addresses alone, until they are touched: programs have up to 65,530 mappings.
constexpr uint32_t kRoom = 1u << 17;

}  // namespace

MemoryMap::~MemoryMap() {
  if (parts_ != nullptr)
    raw::Call(SYS_munmap, raw::Arg(parts_), static_cast<long>(room_ * sizeof(Part)));
}

bool MemoryMap::Read() noexcept {
  const long address =
      raw::Call(SYS_mmap, 0, static_cast<long>(kRoom * sizeof(Part)), PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw::IsError(address)) return false;
  parts_ = reinterpret_cast<Part*>(address);
  room_ = kRoom;
  ForEachMapping([&](const char* line) {
    const char* p = line;
    Part part = {};
    part.begin = HexField(&p);
    if (*p++ != '-') return true;
    part.end = HexField(&p);
    if (p[0] != ' ' || p[1] == 0 || p[2] != 'w') return true;
    if (count_ > 0 && parts_[count_ - 1].end == part.begin) {
      parts_[count_ - 1].end = part.end;
    } else if (count_ < room_) {
      parts_[count_++] = part;
    }
    return true;
  });
  return count_ > 0;
}

bool MemoryMap::IsWritable(uintptr_t address) const noexcept {
  uint32_t low = 0, high = count_;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (address < parts_[middle].begin) {
      high = middle;
    } else if (address >= parts_[middle].end) {
      low = middle + 1;
    } else {
      return true;
    }
  }
  return false;
}

}  // namespace gpuprof::inject
