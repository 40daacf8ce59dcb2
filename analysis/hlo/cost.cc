// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See cost.h. Fusions are in fusion_cost.cc; products and convolutions in product_cost.cc.

#include "analysis/hlo/cost.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "analysis/hlo/opcodes.h"

namespace gpuprof::analysis::hlo {
namespace {

constexpr double kPointer = 8;
constexpr int kDeepest = 64;  // calls within calls

const Shape& NoShape() {
  static const Shape none;
  return none;
}

const Shape& FirstOf(const Shape& shape) {
  return shape.is_tuple() && !shape.parts.empty() ? shape.parts[0] : shape;
}

double Count(const Shape& shape) { return static_cast<double>(shape.elements()); }

double CountAll(const Shape& shape) {
  if (!shape.is_tuple()) return Count(shape);
  double sum = 0;
  for (const Shape& part : shape.parts) sum += CountAll(part);
  return sum;
}

template <typename OnArray>
void ForEachArray(const Shape& shape, const OnArray& on_array) {
  if (!shape.is_tuple() && shape.type != ElementType::kToken) on_array(shape);
  for (const Shape& part : shape.parts) ForEachArray(part, on_array);
}

int LogDown(int64_t value) {
  return value <= 0 ? 0 : static_cast<int>(std::bit_width(static_cast<uint64_t>(value))) - 1;
}
int LogUp(int64_t value) {
  return value <= 1 ? 0 : static_cast<int>(std::bit_width(static_cast<uint64_t>(value - 1)));
}

// Returns whether a transposition moves no element, by both layouts.
bool IsBitcast(const Instruction& transpose, const Shape& input) {
  const std::vector<int64_t>& from = input.minor_to_major;
  const std::vector<int64_t>& to = transpose.shape.minor_to_major;
  if (from.size() != to.size() || from.size() != transpose.dimensions.size() || !input.has_layout ||
      !transpose.shape.has_layout)
    return false;
  for (size_t i = 0; i < to.size(); ++i) {
    const int64_t place = to[i];
    if (place < 0 || static_cast<uint64_t>(place) >= from.size()) return false;
    if (transpose.dimensions[static_cast<size_t>(place)] != from[i]) return false;
  }
  return true;
}

}  // namespace

double Costs::Rounded(double value) const {
  return is_of_xla() ? static_cast<double>(static_cast<float>(value)) : value;
}

double Costs::Size(const Shape& shape) const {
  if (shape.is_tuple()) return kPointer * static_cast<double>(shape.parts.size());
  if (!shape.has_layout) return 0;
  // Without its own word, a layout gives each element whole bytes.
  const bool is_whole = shape.element_bits == 0 && BitsOf(shape.type) % 8 != 0;
  return is_whole ? Count(shape) : static_cast<double>(shape.bytes());
}

const Instruction* Costs::Operand(const Instruction& instruction, size_t number) const {
  return number < instruction.operands.size() ? program_.Find(instruction.operands[number])
                                              : nullptr;
}

const Shape& Costs::ShapeOf(const Instruction& instruction, size_t operand) const {
  const Instruction* found = Operand(instruction, operand);
  return found == nullptr ? NoShape() : found->shape;
}

const Computation* Costs::Called(const Instruction& instruction, size_t number) const {
  return number < instruction.called_computations.size()
             ? program_.FindComputation(instruction.called_computations[number])
             : nullptr;
}

Cost Costs::Unknown() const {
  Cost cost;
  cost.knows_flops = cost.knows_bytes = false;
  if (is_of_xla()) cost.flops = cost.bytes = -1;
  return cost;
}

const Cost& Costs::Of(const Instruction& instruction) {
  const auto [at, is_new] = known_.try_emplace(&instruction, Unknown());
  if (!is_new || depth_ >= kDeepest) return at->second;
  // A damaged program may call itself: what is being computed is unknown.
  ++depth_;
  const Cost cost = Compute(instruction);
  --depth_;
  return known_[&instruction] = cost;
}

const Cost& Costs::Of(const Computation& computation) {
  const auto [at, is_new] = sums_.try_emplace(&computation, Unknown());
  if (!is_new) return at->second;
  Cost sum;
  for (const Instruction& instruction : computation.instructions) {
    const Cost& cost = Of(instruction);
    sum.flops = Rounded(sum.flops + cost.flops);
    sum.transcendentals = Rounded(sum.transcendentals + cost.transcendentals);
    sum.bytes = Rounded(sum.bytes + cost.bytes);
    sum.knows_flops &= cost.knows_flops;
    sum.knows_bytes &= cost.knows_bytes;
  }
  return sums_[&computation] = sum;
}

Cost Costs::Moved(const Instruction& instruction) const {
  Cost cost;
  ForEachArray(instruction.shape, [&](const Shape& part) { cost.bytes += Size(part); });
  cost.bytes = Rounded(cost.bytes);
  // XLA divides nothing among the parts of a tuple.
  cost.written = is_of_xla() && instruction.shape.is_tuple() ? 0 : cost.bytes;
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    const Shape& shape = ShapeOf(instruction, i);
    double size = Size(shape);
    if (!is_of_xla() && shape.is_tuple()) {
      size = 0;
      ForEachArray(shape, [&](const Shape& part) { size += Size(part); });
    }
    cost.bytes = Rounded(cost.bytes + size);
    if (!is_of_xla() || !shape.is_tuple()) cost.read += size;
  }
  return cost;
}

bool Costs::MovesNothing(const Instruction& instruction) const {
  const std::string_view opcode = instruction.opcode;
  if (opcode == "transpose") return IsBitcast(instruction, ShapeOf(instruction, 0));
  if (!is_of_xla() && (opcode == "tuple" || opcode == "opt-barrier" || opcode == "partition-id" ||
                       opcode == "replica-id"))
    return true;
  return opcode == "parameter" || opcode == "constant" || opcode == "get-tuple-element" ||
         opcode == "bitcast" || opcode == "domain" || opcode == "after-all" ||
         opcode == "add-dependency";
}

// Changes the bytes of operations that touch less than their operands.
bool Costs::MovesLess(const Instruction& instruction, Cost* cost) const {
  const std::string_view opcode = instruction.opcode;
  const double result = Size(instruction.shape);
  const auto size = [&](size_t operand) { return Size(ShapeOf(instruction, operand)); };
  const auto indices = [&](size_t first) {
    double sum = 0;
    for (size_t i = first; i < instruction.operands.size(); ++i) sum += size(i);
    return sum;
  };
  if (opcode == "slice") {
    cost->bytes = result * 2;
    cost->read = cost->written = result;
  } else if (opcode == "dynamic-slice") {
    cost->bytes = result * 2 + (is_of_xla() ? size(1) : indices(1));
    cost->written = result;
    cost->read = result + indices(1);
  } else if (opcode == "dynamic-update-slice") {
    cost->bytes = size(1) * 2 + (is_of_xla() ? size(2) : indices(2));
    cost->written = size(1);
    cost->read = size(1) + indices(2);
  } else if (opcode == "gather") {
    cost->bytes = result * 2 + size(1);
    cost->written = result;
    cost->read = result + size(1);
  } else if (opcode == "tuple") {
    cost->bytes = result;
    cost->read = 0;
  } else if (opcode == "infeed" || opcode == "outfeed") {
    double sum = 0;
    const bool is_in = opcode == "infeed";
    const auto add = [&](const Shape& part) { sum += Size(part); };
    if (is_in) ForEachArray(instruction.shape, add);
    for (size_t i = 0; !is_in && i < instruction.operands.size(); ++i)
      ForEachArray(ShapeOf(instruction, i), add);
    cost->bytes = sum;
    cost->read = is_in ? 0 : sum;
    cost->written = is_in ? sum : 0;
  } else {
    return false;
  }
  cost->bytes = Rounded(cost->bytes);
  return true;
}

void Costs::AddElementwise(const Instruction& instruction, Cost* cost) const {
  if (rules_ == CostRules::kXprofGpu)
    cost->flops = CyclesOf(instruction.opcode, instruction.shape.type) * Count(instruction.shape);
  else if (IsTranscendental(instruction.opcode))
    cost->transcendentals = Rounded(Count(instruction.shape));
  else if (instruction.opcode != "copy")
    cost->flops = Count(instruction.shape);
  cost->flops = Rounded(cost->flops);
}

// Adds a function that is applied `count` times.
void Costs::AddApplied(const Computation* function, double count, Cost* cost) {
  if (function == nullptr) {
    cost->knows_flops = false;
    return;
  }
  const Cost& once = Of(*function);
  cost->flops = Rounded(cost->flops + Rounded(once.flops * count));
  cost->transcendentals = Rounded(cost->transcendentals + Rounded(once.transcendentals * count));
  cost->knows_flops &= once.knows_flops;
}

void Costs::AddReduction(const Instruction& instruction, Cost* cost) {
  const double inputs = Count(ShapeOf(instruction, 0));
  const Shape& output = FirstOf(instruction.shape);
  const double outputs = Count(output);
  double count = inputs - outputs;
  if (instruction.opcode == "reduce-window") {
    double window = 1;
    int reduced = 0, padded = 0;
    const WindowDimension* whole = nullptr;
    size_t place = 0;
    for (size_t i = 0; i < instruction.window.size(); ++i) {
      const WindowDimension& each = instruction.window[i];
      window *= static_cast<double>(each.size);
      if (each.size != 1) ++reduced;
      if (each.padding_low != 0 || each.padding_high != 0) ++padded;
      if (whole == nullptr && each.size != 1 && each.padding_low != 0 &&
          each.padding_low == each.padding_high && each.padding_low < (int64_t{1} << 40) &&
          each.size == 2 * each.padding_low + 1) {
        whole = &each;
        place = i;
      }
    }
    count = (window - 1) * outputs;
    // A window that reaches from end to end reduces a dimension once.
    if (reduced == 1 && padded == 1 && whole != nullptr && !instruction.shape.is_tuple() &&
        place < output.dimensions.size() && whole->padding_low == output.dimensions[place] - 1) {
      window = static_cast<double>(output.dimensions[place]);
      count = std::floor(outputs / window) + (window - 1);
    }
  }
  AddApplied(Called(instruction, 0), count, cost);
  if (rules_ != CostRules::kXprofGpu || instruction.opcode != "reduce") return;
  // XProf counts an initial value as often as results begin with it.
  double begins = 0, results = 0;
  for (size_t i = instruction.operands.size() / 2; i < instruction.operands.size(); ++i)
    begins += Size(ShapeOf(instruction, i));
  ForEachArray(instruction.shape, [&](const Shape& part) { results += Size(part); });
  cost->bytes = Rounded(cost->bytes + results - begins);
  cost->read += results - begins;
}

void Costs::AddScatter(const Instruction& instruction, Cost* cost) {
  // Operands, indices, and as many updates as operands.
  const size_t count = instruction.operands.size() / 2;
  double updates = 0;
  for (size_t i = 0; i < count; ++i) updates += Size(ShapeOf(instruction, count + 1 + i));
  const double indices = Size(ShapeOf(instruction, count));
  cost->bytes = Rounded(3 * updates + indices);
  cost->read = 2 * updates + indices;
  cost->written = updates;
  if (is_of_xla() && instruction.shape.is_tuple()) cost->written = 0;
  AddApplied(Called(instruction, 0), Count(ShapeOf(instruction, count + 1)), cost);
}

// Adds what several computations cost: each once, or the most of each quantity.
Cost Costs::Joined(const Instruction& instruction) {
  if (!is_of_xla() && instruction.opcode != "call") return Unknown();
  Cost joined;
  for (size_t i = 0; i < instruction.called_computations.size(); ++i) {
    const Computation* called = Called(instruction, i);
    const Cost& cost = called == nullptr ? Unknown() : Of(*called);
    if (i == 0) {
      joined = cost;
    } else if (instruction.opcode == "conditional") {
      joined.flops = std::max(joined.flops, cost.flops);
      joined.transcendentals = std::max(joined.transcendentals, cost.transcendentals);
      joined.bytes = std::max(joined.bytes, cost.bytes);
    } else {
      joined.flops = Rounded(joined.flops + cost.flops);
      joined.transcendentals = Rounded(joined.transcendentals + cost.transcendentals);
      joined.bytes = Rounded(joined.bytes + cost.bytes);
    }
    joined.knows_flops &= cost.knows_flops;
    joined.knows_bytes &= cost.knows_bytes;
  }
  return joined;
}

// Changes operations of several GPUs as XProf counts them: what goes around a ring is moved again.
void Costs::AddRing(const Instruction& instruction, Cost* cost) const {
  const std::string_view opcode = instruction.opcode;
  size_t devices = 1;
  for (const std::vector<int64_t>& group : instruction.replica_groups)
    devices = std::max(devices, group.size());
  const auto around = [&](double size) {
    return size * 2 + size * static_cast<double>(devices - 1) / static_cast<double>(devices);
  };
  const Computation* function = Called(instruction, 0);
  const Instruction* reducer = function == nullptr ? nullptr : Program::RootOf(*function);
  if (reducer != nullptr && opcode.find("reduce") != opcode.npos) {
    cost->flops = 0;
    ForEachArray(instruction.shape, [&](const Shape& part) {
      cost->flops += CyclesOf(reducer->opcode, part.type) * Count(part);
    });
  }
  double inputs = 0, results = 0;
  for (size_t i = 0; i < instruction.operands.size(); ++i)
    ForEachArray(ShapeOf(instruction, i), [&](const Shape& part) { inputs += Size(part); });
  ForEachArray(instruction.shape, [&](const Shape& part) { results += Size(part); });
  if (opcode == "all-reduce-start") cost->bytes = results;
  if (opcode == "reduce-scatter") cost->bytes = around(inputs);
  if (opcode == "all-gather") cost->bytes = around(results);
  // The result of the first half has the operands, too.
  if (opcode == "all-gather-start") cost->bytes = around(results - inputs);
  cost->flops = Rounded(cost->flops);
  cost->bytes = Rounded(cost->bytes);
}

bool Costs::AddOther(const Instruction& instruction, Cost* cost) {
  const std::string_view opcode = instruction.opcode;
  const Shape& first = ShapeOf(instruction, 0);
  if (opcode == "fft") {
    double factors = 1;
    for (const int64_t length : instruction.fft_length) factors *= LogDown(length);
    cost->flops = 8 * factors * Count(FirstOf(first));
  } else if (opcode == "sort") {
    cost->flops = Count(first) * LogUp(first.elements());
  } else if (opcode == "triangular-solve" || opcode == "cholesky") {
    const bool is_solve = opcode == "triangular-solve";
    const double width =
        first.dimensions.empty() ? 0 : static_cast<double>(first.dimensions.back());
    cost->flops = is_solve ? 2 * width * Count(ShapeOf(instruction, 1))
                           : std::floor(width * Count(first) / 3);
    // One triangle is read, and of a decomposition one is written.
    const double half = Size(first) / 2;
    cost->written = is_solve ? Size(instruction.shape) : half;
    cost->read = is_solve ? half + Size(ShapeOf(instruction, 1)) : half;
    cost->bytes = Rounded(cost->read + cost->written);
  } else if (opcode == "all-reduce" || opcode == "all-reduce-start") {
    cost->flops = cost->written = 0;
    ForEachArray(instruction.shape, [&](const Shape& part) {
      cost->flops += Count(part);
      cost->written += Size(part);
    });
    cost->bytes = cost->written;
    for (size_t i = 0; i < instruction.operands.size(); ++i)
      cost->bytes += Size(ShapeOf(instruction, i));
    cost->bytes = Rounded(cost->bytes);
    if (is_of_xla() && instruction.shape.is_tuple()) cost->written = 0;
  } else if (opcode == "all-gather" || opcode == "all-gather-start" || opcode == "reduce-scatter") {
    cost->knows_flops = is_of_xla() || opcode != "reduce-scatter";
  } else if (opcode == "rng" || opcode == "rng-bit-generator") {
    cost->transcendentals = Rounded(CountAll(instruction.shape));
  } else if (opcode == "concatenate" && rules_ == CostRules::kXprofGpu) {
    const uint64_t place =
        instruction.dimensions.empty() ? 0 : static_cast<uint64_t>(instruction.dimensions[0]);
    const bool is_split = place > 0 && place < first.dimensions.size() &&
                          (first.dimensions[static_cast<size_t>(place)] & 31) != 0;
    cost->flops = (is_split ? 400 : 6) * CountAll(instruction.shape);
  } else {
    return false;
  }
  cost->flops = Rounded(cost->flops);
  if (rules_ == CostRules::kXprofGpu && (opcode.starts_with("all-") || opcode == "reduce-scatter"))
    AddRing(instruction, cost);
  return true;
}

Cost Costs::Compute(const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  if (MovesNothing(instruction)) return {};
  if (!is_of_xla() && IsHalf(opcode)) return Unknown();
  if (opcode == "fusion") return Fusion(instruction);
  if (opcode == "custom-call") return CustomCall(instruction);
  if (opcode == "call" || opcode == "while" || opcode == "conditional" || opcode == "async-start")
    return Joined(instruction);
  Cost cost = Moved(instruction);
  if (MovesLess(instruction, &cost)) return cost;
  if (IsElementwise(opcode)) {
    AddElementwise(instruction, &cost);
  } else if (opcode == "dot") {
    return Product(instruction, instruction.shape, instruction.dot.lhs_contracting, cost);
  } else if (opcode == "convolution") {
    return Convolution(instruction, ShapeOf(instruction, 0), ShapeOf(instruction, 1),
                       instruction.shape, cost);
  } else if (opcode == "reduce" || opcode == "reduce-window") {
    AddReduction(instruction, &cost);
  } else if (opcode == "map") {
    AddApplied(Called(instruction, 0), Count(instruction.shape), &cost);
  } else if (opcode == "scatter") {
    AddScatter(instruction, &cost);
  } else if (opcode == "select-and-scatter") {
    double window = 1;
    for (const WindowDimension& each : instruction.window) window *= static_cast<double>(each.size);
    const double sources = Count(ShapeOf(instruction, 1));
    AddApplied(Called(instruction, 0), sources * (window - 1), &cost);
    AddApplied(Called(instruction, 1), sources, &cost);
  } else if (!AddOther(instruction, &cost) && !is_of_xla()) {
    // XLA counts no operations for these either, but they have some.
    cost.knows_flops = !(opcode.starts_with("batch-norm") || opcode == "topk" ||
                         opcode == "ragged-dot" || opcode == "scaled-dot" || opcode == "scan");
  }
  return cost;
}

}  // namespace gpuprof::analysis::hlo
