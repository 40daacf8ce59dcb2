// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The order in which the instructions of a program run, and who reads a result last. The program
// outlives the order. One thread makes it; then any thread. Any program is safe.

#pragma once

#include <cstddef>
#include <unordered_map>

#include "analysis/hlo/program.h"

namespace gpuprof::analysis::hlo {

class ProgramOrder {
 public:
  // Makes the order. Called computations come before the instruction that calls them first; those
  // of fusions last. Without a schedule, the order is that of the file.
  explicit ProgramOrder(const Program& program);

  // Returns the place of an instruction, from 0. What is not in the program stands at the end.
  size_t PlaceOf(const Instruction& instruction) const;
  // Returns the last instruction of the same computation that reads the result. Instructions that
  // only hand it on, as tuples and loops, count as their own readers. Null: no instruction does.
  const Instruction* LastReader(const Instruction& instruction) const;

 private:
  struct Place {
    size_t number = 0;
    const Instruction* last_reader = nullptr;
  };

  void Walk(const Program& program, const Computation& first);
  void FindReaders(const Program& program);

  std::unordered_map<const Instruction*, Place> places_;
  std::vector<const Instruction*> order_;
};

}  // namespace gpuprof::analysis::hlo
