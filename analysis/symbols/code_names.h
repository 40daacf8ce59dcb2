// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Names of all code addresses of a trace, for a reader that has no files of programs: the engine of
// a report. One thread.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analysis/model/trace.h"
#include "proto/names.pb.h"

namespace gpuprof::analysis {

class ModuleSymbols;

// Collects what is known of addresses in modules' files.
class CodeNameList {
 public:
  // Adds an address of a module's file, once.
  void Add(const proto::Module& module, const ModuleSymbols& symbols, uint64_t address);
  // Adds whether a module's file is somewhere. What is known of its names may follow.
  void AddFile(const proto::Module& module, bool is_somewhere);

  const proto::CodeNames& names() const { return names_; }

 private:
  struct Known {
    proto::ModuleNames* module = nullptr;
    std::set<uint64_t> addresses;
    std::map<std::string, uint32_t> texts;
  };
  Known& Of(const proto::Module& module);
  static uint32_t TextOf(const std::string& text, Known* known);

  proto::CodeNames names_;
  std::map<std::pair<std::string, std::string>, Known> known_;  // by path and build id
};

// Returns names.pb.zst of a trace: of its stacks, its callers, and the routines of its threads.
std::string PackedCodeNames(const Trace& trace);

}  // namespace gpuprof::analysis
