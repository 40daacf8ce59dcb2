// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The executable and the libraries of another process, as they lie in its memory: no file is
// opened, so namespaces and replaced files do not matter.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/attach/target_memory.h"

namespace gpuprof::launcher {

struct TargetSymbol {
  uint64_t begin = 0;
  uint64_t end = 0;
  std::string name;
};

struct TargetObject {
  std::string path;  // as the kernel tells it; "[vdso]"
  uint64_t bias = 0;
  uint64_t begin = 0, end = 0;  // of all its parts
  bool is_executable = false;   // the program itself
  uint64_t unwind_header = 0;   // .eh_frame_hdr; 0: it has none
  uint64_t dynamic = 0;
  uint64_t entry = 0;  // where the program begins

  std::string name() const { return path.substr(path.rfind('/') + 1); }
  bool Has(uint64_t address) const { return address >= begin && address < end; }
};

class TargetObjects {
 public:
  explicit TargetObjects(TargetMemory* memory) : memory_(memory) {}

  // Reads the process's map. Returns empty, or what could not be read.
  std::string Read();
  const std::vector<TargetObject>& all() const { return objects_; }
  // Returns the object that the address lies in, or null.
  const TargetObject* At(uint64_t address) const;
  // Returns the object whose file name begins with `beginning`, or null.
  const TargetObject* Named(const std::string& beginning) const;

  // Returns the functions and data that the object defines and exports, by address.
  std::vector<TargetSymbol> SymbolsOf(const TargetObject& object) const;
  // Returns the address of such a symbol; 0: there is none.
  uint64_t Find(const TargetObject& object, const std::string& name) const;

 private:
  bool ReadHeader(TargetObject* object) const;

  TargetMemory* memory_;
  std::vector<TargetObject> objects_;
};

}  // namespace gpuprof::launcher
