// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The compiled programs of XLA that an XSpace carries: which operation of a framework an
// instruction is, and what the instruction costs. The messages are read by hand, field by field.
// One thread reads; then any thread.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof::analysis::xprof {

struct Space;

// What one run of an instruction takes, as XLA's cost analysis for GPUs counts. 0 or less: unknown.
struct HloCost {
  int64_t flops = 0;
  int64_t device_flops = 0;  // 8-bit work counts half, 4-bit work a quarter
  int64_t bytes = 0;
};

struct HloInstruction {
  std::string framework_op;  // "name:Type", as an annotation
  HloCost cost;
};

class HloPrograms {
 public:
  // Reads the programs of a space. Programs that cannot be read are left out, as XProf does.
  void Read(const Space& space);
  // Returns an instruction. Null: there is no such program or instruction.
  const HloInstruction* Find(uint64_t program, std::string_view instruction) const;
  // Returns whether a program computes gradients.
  bool is_training() const { return is_training_; }

 private:
  using Program = std::unordered_map<std::string_view, HloInstruction>;

  std::map<uint64_t, Program> programs_;
  bool is_training_ = false;
};

}  // namespace gpuprof::analysis::xprof
