// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Kernel launches that differ in nothing but their times share a signature: the table that makes a
// kernel's row two bytes. With each goes what was known of the kernel's code when it was first
// seen. Also the names in it, which CUPTI hands out as pointers.
//
// One thread at a time (the drain's pass). Bounded; beyond the limits ids are the overflow id,
// which is counted.

#pragma once

#include <cstdint>
#include <vector>

#include "proto/codec/tables.h"
#include "tracer/cupti/kernel_code.h"

namespace gpuprof::tracer::cupti {

// All numbers but the name's are as in CUPTI's kernel record, and lie as they do there.
struct LaunchSignature {
  uint32_t device = 0;
  uint32_t context = 0;
  uint32_t grid[3] = {};
  uint32_t block[3] = {};
  uint32_t static_shared = 0;
  uint32_t dynamic_shared = 0;
  uint32_t local_per_thread = 0;
  uint32_t name = 0;  // string id
  uint32_t cluster[3] = {};
  uint32_t shared_executed = 0;
  uint64_t local_bytes = 0;
  uint32_t device_launched = 0;
  uint16_t registers = 0;
  uint8_t cache_config = 0;
  uint8_t launch_type = 0;
};
static_assert(sizeof(LaunchSignature) == 10 * 8, "compared by words: no padding");

class Signatures {
 public:
  static constexpr uint32_t kOverflowId = 1;
  static constexpr uint32_t kMost = 1u << 18;

  // Where to look up kernels' code; none by default.
  void SetCode(const KernelCode* code) { code_ = code; }

  // Its id, from 2 on. `kernel`: the name, by which a new one's code is looked up; null: it is not.
  uint32_t Intern(const LaunchSignature& signature, const char* kernel = nullptr);
  // Appends what is new since the last call as a Signatures message; returns how many.
  uint32_t Take(std::vector<uint8_t>* out);

  uint64_t refused() const { return refused_; }
  uint64_t memory_bytes() const;

 private:
  void Grow();

  const KernelCode* code_ = nullptr;
  std::vector<LaunchSignature> signatures_;  // id - 2
  std::vector<uint32_t> matrix_ops_;         // of each
  std::vector<uint32_t> index_;              // open addressing; 0: empty
  uint32_t taken_ = 0;
  uint32_t last_ = 0;  // the id asked for last, most often the next one as well
  uint64_t refused_ = 0;
};

// String ids of texts that live somewhere else: by their address, checked by what stands there once
// in each buffer, as a module that is unloaded may leave its place to another. Names of kernels
// have hundreds of bytes: to read one for each record would cost more than all else of it.
class NameCache {
 public:
  explicit NameCache(codec::InternTables* strings) : strings_(strings) {}
  // What was checked is checked again.
  void NextBuffer() { ++buffer_; }
  // Null is "".
  uint32_t Id(const char* text) {
    if (text != nullptr && !entries_.empty()) {
      const Entry& entry = entries_[PlaceOf(text)];
      if (entry.at == text && entry.buffer == buffer_) return entry.id;
    }
    return Check(text != nullptr ? text : "");
  }

 private:
  struct Entry {
    const char* at = nullptr;
    uint32_t id = 0;
    uint32_t length = 0;
    uint64_t hash = 0;
    uint64_t buffer = 0;  // in which it was checked last
  };
  static constexpr uint32_t kEntries = 4096;  // a cache: what it forgets is interned again

  static size_t PlaceOf(const char* text) {
    const auto address = reinterpret_cast<uintptr_t>(text);
    return (address >> 3 ^ address >> 15) & (kEntries - 1);
  }
  uint32_t Check(const char* text);

  codec::InternTables* strings_;
  std::vector<Entry> entries_;
  uint64_t buffer_ = 1;
};

}  // namespace gpuprof::tracer::cupti
