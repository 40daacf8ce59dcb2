// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the instructions of a program of XLA cost: operations, transcendental operations, and bytes
// of memory. The rules are those of XLA (xla/service/hlo_cost_analysis.cc and, of GPUs,
// xla/service/gpu/model/gpu_hlo_cost_analysis.cc):
//   dot            2 * elements of the result * elements of the contracted dimensions
//   convolution    2 * input features of a group * output features * batches of a group * pairs of
//                  an output position and a kernel position that meet an element of the input
//   element by element, comparisons and conversions too: 1 for each element of the result; exp,
//                  log, power, tanh and others are transcendental operations, and no operations
//   reduce         the reducer, for each element of the input less each of the result
//   reduce-window  the reducer, window - 1 times for each element of the result
//   scatter, map   the function, for each element of the updates or of the result
//   fft            8 * elements * the product of the logarithms of the lengths
//   sort           elements * logarithm of their number
//   fusion         the sum of its instructions; of GPUs, each as often as its result is needed
//   bytes          the result and all operands, each once. Slices, gathers and scatters touch only
//                  what they move. A fusion reads what its instructions need of its parameters.
// Products and convolutions of cuBLAS, cuDNN and their likes are calculated from their settings.
// Other custom calls are unknown.
//
// A program is analysed for one thread. Any bytes are safe: numbers that a damaged program has may
// be any. What would take very long is unknown.

#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "analysis/hlo/program.h"

namespace gpuprof::analysis::hlo {

// The rules of gpuprof for GPUs: loops, branches, and halves of asynchronous operations are
// unknown, and a convolution's gradient counts like the convolution. The rules of XLA for any
// device, as `cost_analysis()` of JAX has them. The rules of XProf 2.24 for GPUs: operations of an
// element are clock cycles of one old GPU. XLA's and XProf's unknown costs are -1, and take part in
// sums.
enum class CostRules : uint8_t { kGpu, kXla, kXprofGpu };

// The costs of one execution. The flags say which figures count.
struct Cost {
  double flops = 0, transcendentals = 0, bytes = 0;
  double read = 0, written = 0;  // the bytes, as XLA divides them among operands and results
  bool knows_flops = true, knows_bytes = true;
};

class Costs {
 public:
  // Keeps a reference to `program`.
  Costs(const Program& program, CostRules rules) : program_(program), rules_(rules) {}
  Costs(const Costs&) = delete;
  Costs& operator=(const Costs&) = delete;

  // Returns the cost of an instruction of the program.
  const Cost& Of(const Instruction& instruction);
  // Returns the sum of a computation.
  const Cost& Of(const Computation& computation);

 private:
  // The instructions of a fusion, by their places, and what uses them.
  struct Fused;

  bool is_of_xla() const { return rules_ != CostRules::kGpu; }
  bool is_of_gpu() const { return rules_ != CostRules::kXla; }
  // Returns a number as XLA keeps it, in single precision.
  double Rounded(double value) const;
  double Size(const Shape& shape) const;
  const Instruction* Operand(const Instruction& instruction, size_t number) const;
  const Shape& ShapeOf(const Instruction& instruction, size_t operand) const;
  const Computation* Called(const Instruction& instruction, size_t number) const;
  Cost Unknown() const;

  Cost Compute(const Instruction& instruction);
  // Returns all operands and the result.
  Cost Moved(const Instruction& instruction) const;
  bool MovesLess(const Instruction& instruction, Cost* cost) const;
  bool MovesNothing(const Instruction& instruction) const;
  void AddElementwise(const Instruction& instruction, Cost* cost) const;
  void AddApplied(const Computation* function, double count, Cost* cost);
  void AddReduction(const Instruction& instruction, Cost* cost);
  void AddScatter(const Instruction& instruction, Cost* cost);
  bool AddOther(const Instruction& instruction, Cost* cost);
  void AddRing(const Instruction& instruction, Cost* cost) const;
  Cost CustomCall(const Instruction& instruction) const;
  Cost Convolution(const Instruction& instruction, const Shape& input, const Shape& kernel,
                   const Shape& output, Cost cost) const;
  Cost Product(const Instruction& instruction, const Shape& output,
               const std::vector<int64_t>& contracted, Cost cost) const;
  Cost Joined(const Instruction& instruction);

  Cost Fusion(const Instruction& instruction);
  void AddResults(const Instruction& instruction, const Fused& fused, Cost* cost) const;
  void AddParameters(const Instruction& instruction, const Fused& fused, Cost* cost);
  void FindUse(const Fused& fused, Cost* cost);
  double UseOfOperand(const Instruction& instruction, size_t operand) const;
  double ReadOfParameter(const Fused& fused, size_t place, int depth);

  const Program& program_;
  CostRules rules_;
  std::unordered_map<const Instruction*, Cost> known_;
  std::unordered_map<const Computation*, Cost> sums_;
  // How often fused instructions are needed, and nested fusions their operands.
  std::unordered_map<const Instruction*, double> use_;
  std::map<std::pair<const Instruction*, size_t>, double> operand_use_;
  int depth_ = 0;
};

// Returns the clock cycles of an operation of one element by which XProf counts.
int CyclesOf(std::string_view opcode, ElementType type);

}  // namespace gpuprof::analysis::hlo
