// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The compiled programs of XLA that an XSpace carries. An instruction has its operation of the
// framework, and its costs by XProf's rules. One thread.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analysis/hlo/cost.h"
#include "analysis/xprof/space.h"

namespace gpuprof::analysis::xprof {

struct HloInstruction {
  std::string framework_op;  // "name:Type", as an annotation
  std::string category;
  std::string_view shared_name;  // of instructions that were compiled once
  std::string source_file, stack;
  int32_t source_line = -1;
  // Costs. An unknown cost is 0, as in XProf.
  int64_t flops = 0;         // of the model
  int64_t device_flops = 0;  // less for narrow types, which a device computes faster
  int64_t bytes = 0, read = 0, written = 0;
};

class HloPrograms {
 public:
  // Reads the programs of a space, which outlives this object. What cannot be read is left out.
  void Read(const Space& space);
  // Returns an instruction, with costs that are computed when it is first asked for. Null: the
  // program or the instruction is not there.
  const HloInstruction* Find(uint64_t program, std::string_view instruction) const;
  // Returns the instruction as XLA prints it.
  std::string ExpressionOf(uint64_t program, std::string_view instruction) const;
  // Returns the names of all programs, by their numbers.
  std::map<uint64_t, std::string> Names() const;
  // Returns whether a program computes gradients.
  bool is_training() const { return is_training_; }

 private:
  struct Program {
    explicit Program(std::string_view bytes)
        : program(bytes), costs(program, hlo::CostRules::kXprofGpu) {}

    hlo::Program program;
    hlo::Costs costs;
    std::unordered_map<const hlo::Instruction*, HloInstruction> known = {};
  };

  std::map<uint64_t, std::unique_ptr<Program>> programs_;
  bool is_training_ = false;
};

}  // namespace gpuprof::analysis::xprof
