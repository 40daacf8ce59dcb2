// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which executable code lay where and when, so that program counters can be named offline. Drain
// thread; waits for the loader's lock.

#pragma once

#include <cstdint>
#include <vector>

struct dl_phdr_info;

namespace gpuprof::tracer {

class ModuleMap {
 public:
  // Looks for modules loaded or unloaded since the last call; appends what changed as a serialized
  // Modules message and returns how many entries (0: nothing changed, nothing appended). Cheap when
  // the loader has done nothing.
  uint32_t Update(uint64_t now_ticks, std::vector<uint8_t>* out);

 private:
  struct Module {
    uint64_t start;
    uint64_t end;
    uint64_t bias;
    uint64_t first_seen;
    std::vector<char> path;
    std::vector<char> build_id;
    bool mapped;
  };
  struct Scan;
  static int Visit(::dl_phdr_info* info, unsigned long bytes, void* scan);
  static void Append(const Module& module, uint64_t last_seen, std::vector<uint8_t>* out);

  std::vector<Module> modules_;
  uint64_t adds_ = 0;
  uint64_t subs_ = 0;
};

}  // namespace gpuprof::tracer
