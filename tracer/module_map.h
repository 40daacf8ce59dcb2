// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which executable code lay where and when, so that program counters can be named offline. Drain
// thread, unless a line says otherwise; waits for the loader's lock.

#pragma once

#include <cstdint>
#include <vector>

#include "proto/ticks.h"

struct dl_phdr_info;

namespace gpuprof::tracer {

class ModuleMap {
 public:
  ModuleMap();

  // Looks for modules loaded or unloaded since the last call; appends what changed as a serialized
  // Modules message and returns how many entries (0: nothing changed, nothing appended). Cheap when
  // the loader has done nothing.
  uint32_t Update(proto::ClockKind clock, std::vector<uint8_t>* out);

  // Returns whether the loader has done nothing since the last Update of the map that was made
  // last, also where that is gone. Any thread.
  static bool IsCurrent();

 private:
  struct Module {
    uint64_t start;
    uint64_t end;
    uint64_t bias;
    uint64_t first_seen;
    std::vector<char> name;  // as the loader has it
    std::vector<char> path;
    std::vector<char> build_id;
    bool mapped;
  };
  struct Scan;
  static int Visit(::dl_phdr_info* info, unsigned long bytes, void* scan);
  static void Append(const Module& module, uint64_t last_seen, std::vector<uint8_t>* out);
  // Notes that `module` is still there, if it is.
  bool FindKnown(const Module& module, size_t* next);

  std::vector<Module> modules_;
  // The loader's counters at the last Update.
  uint64_t adds_ = 0;
  uint64_t subs_ = 0;
};

}  // namespace gpuprof::tracer
