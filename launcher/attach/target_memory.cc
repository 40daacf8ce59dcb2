// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "launcher/attach/target_memory.h"

#include <string.h>
#include <sys/uio.h>

#include <algorithm>

namespace gpuprof::launcher {

bool TargetMemory::Read(uint64_t address, void* to, size_t bytes) const {
  const iovec local = {to, bytes};
  const iovec remote = {reinterpret_cast<void*>(address), bytes};
  return process_vm_readv(pid_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

bool TargetMemory::ReadKept(uint64_t address, void* to, size_t bytes) {
  auto* out = static_cast<uint8_t*>(to);
  while (bytes > 0) {
    const uint64_t page = address & ~(kPage - 1);
    const auto [entry, is_new] = pages_.try_emplace(page);
    std::vector<uint8_t>& content = entry->second;
    if (is_new) {
      content.resize(kPage);
      if (!Read(page, content.data(), kPage)) content.clear();
    }
    if (content.empty()) return false;
    const size_t part = std::min<size_t>(bytes, page + kPage - address);
    memcpy(out, content.data() + (address - page), part);
    out += part;
    address += part;
    bytes -= part;
  }
  return true;
}

bool TargetMemory::Write(uint64_t address, const void* from, size_t bytes) const {
  const iovec local = {const_cast<void*>(from), bytes};
  const iovec remote = {reinterpret_cast<void*>(address), bytes};
  return process_vm_writev(pid_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

std::string TargetMemory::ReadText(uint64_t address, size_t most) const {
  std::string text;
  char part[64];
  while (text.size() < most) {
    // Up to the end of the page alone: the next one may not be there.
    const size_t bytes = std::min<size_t>(sizeof part, kPage - address % kPage);
    if (!Read(address, part, bytes)) break;
    const size_t length = strnlen(part, bytes);
    text.append(part, length);
    if (length < bytes) break;
    address += bytes;
  }
  text.resize(std::min(text.size(), most));
  return text;
}

}  // namespace gpuprof::launcher
