// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The correlation ids of a process's recorded calls: a bit for each id. For passes that ask of a
// hundred million kernels whether their calls are known, and nothing else about the calls. Needs
// only ApiTable::correlation. Built once, then read only, on any thread.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

class CallIds {
 public:
  // Collects the ids. At most `threads` threads help; 0: as many as cores.
  CallIds(const Process& process, int threads);
  ~CallIds();
  CallIds(const CallIds&) = delete;
  CallIds& operator=(const CallIds&) = delete;

  // Returns whether a call with this id was recorded. The id 0 stands for no id.
  bool Has(uint32_t id) const {
    const uint64_t* page = pages_[id >> kPageBits].load(std::memory_order_relaxed);
    return page != nullptr && (page[id % kPageIds / kWord] >> id % kWord & 1) != 0;
  }

 private:
  static constexpr uint32_t kPageBits = 16;
  static constexpr uint32_t kPageIds = 1u << kPageBits;
  static constexpr uint32_t kWord = 64;

  void Add(std::span<const uint32_t> ids);
  void AddWord(uint32_t first_id, uint64_t bits);

  // Null: no id of the page is there. All pages together take 512 MiB at most.
  std::vector<std::atomic<uint64_t*>> pages_;
};

}  // namespace gpuprof::analysis
