// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The compiled programs of XLA that an XSpace carries: which operation of a framework an
// instruction is. What an instruction costs is not known here: XProf computes that with XLA's own
// analysis of programs. One thread reads; then any thread.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analysis/xprof/space.h"

namespace gpuprof::analysis::xprof {

struct HloInstruction {
  std::string framework_op;  // "name:Type", as an annotation
};

class HloPrograms {
 public:
  // Reads the programs of a space, which outlives this object. What cannot be read is left out.
  void Read(const Space& space);
  // Returns an instruction. Null: the program or the instruction is not there.
  const HloInstruction* Find(uint64_t program, std::string_view instruction) const;
  // Returns whether a program computes gradients.
  bool is_training() const { return is_training_; }

 private:
  using Program = std::unordered_map<std::string_view, HloInstruction>;

  void ReadInstruction(std::string_view message, Program* program);

  std::map<uint64_t, Program> programs_;
  bool is_training_ = false;
};

}  // namespace gpuprof::analysis::xprof
