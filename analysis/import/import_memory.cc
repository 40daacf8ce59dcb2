// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See import_memory.h.

#include "analysis/import/import_memory.h"

#include "analysis/base/memory_limit.h"
#include "analysis/base/units.h"

namespace gpuprof::analysis::import {
namespace {

// Events of real programs take up to 40 times their compressed file: times and ids do not repeat.
constexpr uint64_t kMostRatio = 200;
constexpr uint64_t kAlwaysAllowed = uint64_t{256} << 20;

}  // namespace

ImportMemory::ImportMemory(uint64_t limit) : limit_(limit != 0 ? limit : DefaultMemoryLimit()) {}

uint64_t ImportMemory::MostOf(uint64_t file_bytes) const {
  const uint64_t most = file_bytes > UINT64_MAX / kMostRatio - kAlwaysAllowed
                            ? UINT64_MAX
                            : file_bytes * kMostRatio + kAlwaysAllowed;
  return std::min(most, limit_);
}

Error MemoryMeter::Check(uint64_t bytes) {
  const uint64_t taken = all_->Take(bytes - counted_);
  counted_ = bytes;
  if (taken > all_->limit()) {
    return Unreadable(
        name_ + ": the events do not fit into the memory limit of " + FormatBytes(all_->limit()) +
        ". Later events are left out. Open fewer files at once, or use a machine with "
        "more memory");
  }
  if (bytes <= most_) return {};
  return Unreadable(name_ + ": the events take more than " + FormatBytes(most_) +
                    " of memory, which is too many for a file of this size. Later events are left "
                    "out. If you trust the file, inflate it first and read the result");
}

}  // namespace gpuprof::analysis::import
