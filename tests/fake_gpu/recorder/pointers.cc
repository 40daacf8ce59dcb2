// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fake_gpu/recorder/pointers.h"

#include <cupti.h>
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

namespace fake_gpu_recorder {
namespace {

struct TextField {
  uint32_t kind;
  uint32_t offset;
};
// Where newer layouts of a kind have them too: fields do not move.
constexpr TextField kTexts[] = {
    {CUPTI_ACTIVITY_KIND_KERNEL, offsetof(CUpti_ActivityKernel10, name)},
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, offsetof(CUpti_ActivityKernel10, name)},
    {CUPTI_ACTIVITY_KIND_DEVICE, offsetof(CUpti_ActivityDevice5, name)},
    {CUPTI_ACTIVITY_KIND_MEMORY2, offsetof(CUpti_ActivityMemory4, name)},
    {CUPTI_ACTIVITY_KIND_MEMORY2, offsetof(CUpti_ActivityMemory4, source)},
    {CUPTI_ACTIVITY_KIND_JIT, offsetof(CUpti_ActivityJit2, cachePath)},
};

template <typename T>
T Read(const uint8_t* from, size_t offset) {
  T value;
  memcpy(&value, from + offset, sizeof value);
  return value;
}

// By a system call, which refuses what a read of our own would die of. Where a sandbox has no such
// call the address is trusted, as every client does.
bool Copy(uint64_t address, char* to, size_t count) {
  const iovec local{to, count};
  const iovec remote{reinterpret_cast<void*>(address), count};
  const ssize_t copied = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  if (copied == static_cast<ssize_t>(count)) return true;
  if (copied >= 0 || errno == EFAULT) return false;
  memcpy(to, remote.iov_base, count);
  return true;
}

}  // namespace

size_t FieldsOf(const uint8_t* record, size_t bytes, Field (&fields)[kMostFields]) {
  size_t count = 0;
  const auto add = [&](size_t offset, PointerType type) {
    if (offset + sizeof(uint64_t) > bytes || Read<uint64_t>(record, offset) == 0) return;
    fields[count++] = {static_cast<uint32_t>(offset), type};
  };
  const auto kind = Read<uint32_t>(record, 0);
  for (const TextField& text : kTexts) {
    if (text.kind == kind) add(text.offset, kText);
  }
  constexpr size_t kOverheadKind = offsetof(CUpti_ActivityOverhead3, overheadKind);
  if (kind == CUPTI_ACTIVITY_KIND_OVERHEAD && bytes >= kOverheadKind + sizeof(uint32_t) &&
      Read<uint32_t>(record, kOverheadKind) == CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL) {
    add(offsetof(CUpti_ActivityOverhead3, overheadData), kOwned);
  }
  return count;
}

long ReadData(uint64_t address, PointerType type, char* to, size_t room) {
  if (type == kOwned) {
    constexpr size_t kBytes = sizeof(CUpti_ActivityOverheadCommandBufferFullData);
    if (room < kBytes || !Copy(address, to, kBytes)) return -1;
    return static_cast<long>(kBytes);
  }
  // Piece by piece, none of which crosses into a page that need not be there.
  constexpr size_t kPage = 4096;
  size_t length = 0;
  while (length < room) {
    const uint64_t at = address + length;
    size_t piece = kPage - at % kPage;
    if (piece > room - length) piece = room - length;
    if (!Copy(at, to + length, piece)) return -1;
    const size_t found = strnlen(to + length, piece);
    length += found;
    if (found < piece) break;
  }
  return static_cast<long>(length);
}

}  // namespace fake_gpu_recorder
