// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The parts of a program in which its work lies: "Model/Encoder/Attention". One source serves for a
// process, the first that it has:
//   modules   calls of PyTorch's modules, in traces with stacks ("nn.Module: Linear_3")
//   forwards  traced calls of their forward functions, by class ("Linear.forward")
//   scopes    name scopes of TensorFlow and JAX, in the names of operations and in details of work
//   ranges    ranges of NVTX, ITT and record_function that nest on their thread, without the steps
//   functions the innermost function of Python that is not a built-in one
//
// Made for one process; one thread. The process and its operations must outlive it.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/base/ancestors.h"
#include "analysis/derived/row_details.h"
#include "analysis/steps/interval.h"
#include "analysis/steps/op_tree.h"
#include "proto/kinds/ops.pb.h"

namespace gpuprof::analysis {

// A part of the program, with the part around it. Number 0 is the whole program.
struct ModulePath {
  uint32_t parent = 0;
  uint32_t depth = 0;           // of parts around it, and itself
  std::string name;             // of the innermost part alone, cut if it is very long
  uint32_t instance_count = 0;  // modules that it stands for
};

// A time in which a thread was in a part. Spans of a thread nest.
struct ModuleSpan {
  static constexpr uint32_t kNone = 0xffffffff;
  Interval span;
  int64_t self_ns = 0;      // in which no inner part ran
  uint32_t parent = kNone;  // number of the span around it
  uint32_t path = 0;
  uint32_t instance = 0;  // tells the modules of one path apart
};

class ModulePaths {
 public:
  // Parts in deeper ones are not told apart: files of strangers must not fill the memory.
  static constexpr uint32_t kMostDepth = 32;
  static constexpr size_t kMostNameBytes = 128;

  // Keeps the numbers of modules of one type with `instances`: "Linear_3". Otherwise they are one
  // part.
  ModulePaths(ProcessOps* ops, bool instances);

  results::ModuleSource source() const { return source_; }
  // Returns the parts by number. Each lies behind its parent.
  const std::vector<ModulePath>& paths() const { return paths_; }
  // Returns the spans of a track by their starts. Empty if the source are scopes.
  const std::vector<ModuleSpan>& SpansOf(uint32_t track) const { return spans_[track]; }

  // Returns the innermost part that a thread was in at a moment. 0: none.
  uint32_t At(uint32_t track, int64_t time_ns) const;
  // Returns the part of the scopes in an operation's name, or in a detail. 0: none.
  uint32_t OfScopes(std::string_view name);
  uint32_t OfDetail(uint32_t detail);

 private:
  void FindSource();
  void FillSpans(uint32_t track);
  uint32_t PathOf(uint32_t parent, std::string_view name);

  const Process* process_;
  ProcessOps* ops_;
  bool instances_;
  results::ModuleSource source_ = results::MODULE_SOURCE_NONE;
  RowDetails details_;
  std::vector<ModulePath> paths_{1};
  std::map<std::pair<uint32_t, std::string>, uint32_t, std::less<>> numbers_;
  std::map<std::pair<uint32_t, std::string>, uint32_t, std::less<>> instance_numbers_;
  std::vector<std::vector<ModuleSpan>> spans_;   // by track
  mutable std::vector<NearestAncestor> around_;  // by track
};

}  // namespace gpuprof::analysis
