// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Costs of fusions. See cost.h.
//
// A GPU computes an element of a fused instruction when an element of a result needs it. How often
// an instruction is needed is found from the results to the parameters: an operation element by
// element passes its own use on, and others tell their operands which part they need. Instructions
// that are used by way of one operation alone share its use.

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/hlo/cost.h"
#include "analysis/hlo/opcodes.h"

namespace gpuprof::analysis::hlo {
namespace {

constexpr size_t kMostSteps = 1 << 20;  // of damaged programs that would take very long
constexpr int kDeepestFusion = 16;

double CountOf(const Shape& shape) {
  if (!shape.is_tuple()) return static_cast<double>(shape.elements());
  double sum = 0;
  for (const Shape& part : shape.parts) sum += CountOf(part);
  return sum;
}

double Ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

bool PassesUseOn(const Program& program, const Instruction& instruction) {
  return IsElementwise(program, instruction) || instruction.opcode == "tuple" ||
         instruction.opcode == "get-tuple-element";
}

}  // namespace

struct Costs::Fused {
  const Computation& computation;
  std::unordered_map<int64_t, size_t> places = {};  // by id
  std::vector<std::vector<size_t>> users = {};      // by place
  size_t root = 0;

  explicit Fused(const Computation& from) : computation(from), users(from.instructions.size()) {
    const std::vector<Instruction>& all = from.instructions;
    for (size_t i = 0; i < all.size(); ++i) places.try_emplace(all[i].id, i);
    for (size_t i = 0; i < all.size(); ++i)
      for (const int64_t operand : all[i].operands)
        if (const std::optional<size_t> at = Find(operand);
            at && (users[*at].empty() || users[*at].back() != i))
          users[*at].push_back(i);
    const Instruction* last = Program::RootOf(from);
    root = last == nullptr ? 0 : static_cast<size_t>(last - all.data());
  }
  std::optional<size_t> Find(int64_t id) const {
    const auto at = places.find(id);
    return at == places.end() ? std::nullopt : std::optional(at->second);
  }
  const Instruction& at(size_t place) const { return computation.instructions[place]; }
};

double Costs::UseOfOperand(const Instruction& instruction, size_t operand) const {
  if (const auto known = operand_use_.find({&instruction, operand}); known != operand_use_.end())
    return known->second;
  if (operand != 0) return 1;
  const std::string_view opcode = instruction.opcode;
  const double input = CountOf(ShapeOf(instruction, 0));
  const double output = CountOf(instruction.shape);
  if (opcode == "slice" || opcode == "dynamic-slice" || opcode == "gather")
    return Rounded(Ratio(output, input));
  if (opcode == "dynamic-update-slice")
    return Rounded(Ratio(output - CountOf(ShapeOf(instruction, 1)), output));
  return 1;
}

void Costs::AddResults(const Instruction& instruction, const Fused& fused, Cost* cost) const {
  const Instruction& root = fused.at(fused.root);
  const auto add = [&](const Shape& shape, const Instruction& source) {
    // An update in place writes what it changes.
    const double size =
        source.opcode == "dynamic-update-slice" ? Size(ShapeOf(source, 1)) : Size(shape);
    cost->bytes = Rounded(cost->bytes + size);
    cost->written += size;
  };
  const Shape& shape = instruction.shape;
  if (!shape.is_tuple()) return add(shape, root);
  for (size_t i = 0; i < shape.parts.size(); ++i) {
    const Instruction* part = root.opcode == "tuple" ? Operand(root, i) : nullptr;
    if (!shape.parts[i].is_tuple()) add(shape.parts[i], part == nullptr ? root : *part);
  }
}

// Finds how often each instruction is needed, and with it what the fusion computes.
void Costs::FindUse(const Fused& fused, Cost* cost) {
  const std::vector<Instruction>& all = fused.computation.instructions;
  // By place: the instructions by way of which it is used, in order, and how often those are.
  std::vector<std::vector<size_t>> roots(all.size());
  std::vector<double> root_use(all.size(), 0);
  roots[fused.root] = {fused.root};
  root_use[fused.root] = 1;
  cost->flops = 0;
  if (!is_of_xla()) cost->transcendentals = 0;
  size_t steps = 0;
  const auto add_root = [&](size_t place, size_t root) {
    std::vector<size_t>& known = roots[place];
    const auto at = std::lower_bound(known.begin(), known.end(), root);
    if (at == known.end() || *at != root) known.insert(at, root);
    ++steps;
  };
  for (size_t place = all.size(); place-- > 0;) {
    const Instruction& instruction = all[place];
    double use = 0;
    for (const size_t root : roots[place]) use = Rounded(use + root_use[root]);
    use_[&instruction] = use;
    const Cost& own = Of(instruction);
    cost->flops = Rounded(cost->flops + Rounded(use * own.flops));
    if (!is_of_xla()) cost->transcendentals += use * own.transcendentals;
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
      const std::optional<size_t> operand = fused.Find(instruction.operands[i]);
      if (!operand || *operand >= place) continue;  // of a damaged program
      if (PassesUseOn(program_, instruction)) {
        for (const size_t root : roots[place]) add_root(*operand, root);
      } else {
        add_root(*operand, *operand);
        const double elements = CountOf(all[*operand].shape);
        // What is used is whole elements.
        const double part = Rounded(use * UseOfOperand(instruction, i));
        const double whole =
            elements == 0 ? 0 : Rounded(Rounded(std::ceil(Rounded(part * elements))) / elements);
        root_use[*operand] = Rounded(root_use[*operand] + whole);
      }
    }
    if (steps > kMostSteps) {
      cost->knows_flops = cost->knows_bytes = false;
      return;
    }
  }
}

// Returns the bytes that a fusion reads of a parameter, by XLA's rule for any device.
double Costs::ReadOfParameter(const Fused& fused, size_t place, int depth) {
  const Instruction& parameter = fused.at(place);
  const double whole = Size(parameter.shape);
  double size = 0;
  bool is_read = false;
  const auto add_slice = [&](const Instruction& from, const Instruction& user, bool* is_seen) {
    const bool is_first = Operand(user, 0) == &from;
    if (user.opcode == "slice") {
      size += Size(user.shape);
    } else if (user.opcode == "dynamic-slice" && is_first) {
      size += Size(user.shape);
    } else if (!(user.opcode == "dynamic-update-slice" && is_first) && !*is_seen) {
      *is_seen = true;
      size += Size(from.shape);
    }
  };
  const auto is_slice = [](const Instruction& user) {
    return user.opcode == "slice" || user.opcode == "dynamic-slice" ||
           user.opcode == "dynamic-update-slice";
  };
  for (const size_t at : fused.users[place]) {
    const Instruction& user = fused.at(at);
    const Computation* called = user.opcode == "fusion" ? Called(user, 0) : nullptr;
    if (called != nullptr && depth < kDeepestFusion && !called->instructions.empty()) {
      const Fused nested(*called);
      const Instruction& root = nested.at(nested.root);
      for (size_t i = 0; i < user.operands.size(); ++i) {
        if (user.operands[i] != parameter.id) continue;
        for (size_t inner = 0; inner < called->instructions.size(); ++inner) {
          const Instruction& each = nested.at(inner);
          if (each.opcode != "parameter" || each.parameter_number != static_cast<int64_t>(i))
            continue;
          bool is_seen = false;
          const bool is_simple = root.operands.empty() || Operand(root, 0) == &each;
          for (const size_t next : fused.users[at]) {
            const Instruction& further = fused.at(next);
            if (is_simple && is_slice(further)) {
              add_slice(user, further, &is_seen);
            } else if (!is_seen) {
              is_seen = true;
              size += ReadOfParameter(nested, inner, depth + 1);
            }
          }
        }
      }
    } else if (user.opcode == "broadcast" || user.opcode == "reshape") {
      size += whole;
    } else {
      add_slice(parameter, user, &is_read);
    }
  }
  return size;
}

void Costs::AddParameters(const Instruction& instruction, const Fused& fused, Cost* cost) {
  const auto read = [&](size_t place) {
    const Instruction& source = fused.at(place);
    if (!is_of_gpu()) return ReadOfParameter(fused, place, 0);
    const double use = std::min(use_[&source], 1.0);
    return is_of_xla() ? std::trunc(Rounded(Size(source.shape) * use)) : Size(source.shape) * use;
  };
  for (size_t place = 0; place < fused.computation.instructions.size(); ++place) {
    const Instruction& each = fused.at(place);
    if (each.opcode != "parameter") continue;
    double size = 0;
    if (!each.shape.is_tuple()) {
      size = read(place);
    } else {
      for (const size_t user : fused.users[place])
        if (fused.at(user).opcode == "get-tuple-element") size += read(user);
    }
    cost->bytes = Rounded(cost->bytes + size);
    cost->read += size;
    if (is_of_gpu() && each.parameter_number >= 0)
      operand_use_[{&instruction, static_cast<size_t>(each.parameter_number)}] = use_[&each];
  }
}

Cost Costs::Fusion(const Instruction& instruction) {
  const Computation* called = Called(instruction, 0);
  if (called == nullptr || called->instructions.empty()) return Unknown();
  if (instruction.fusion_kind == "kCustom")
    for (const Instruction& each : called->instructions)
      if (each.opcode == "gather" || each.opcode == "scatter") return Of(each);
  const Fused fused(*called);
  Cost cost = Of(*called);
  cost.bytes = cost.read = cost.written = 0;
  if (!is_of_xla()) cost.knows_bytes = true;
  AddResults(instruction, fused, &cost);
  if (is_of_gpu()) {
    const Instruction& root = fused.at(fused.root);
    const auto is_update = [&](const Instruction* each) {
      if (each != nullptr && each->opcode == "dynamic-update-slice") operand_use_[{each, 0}] = 0;
    };
    is_update(&root);
    if (root.opcode == "tuple")
      for (size_t i = 0; i < root.operands.size(); ++i) is_update(Operand(root, i));
    FindUse(fused, &cost);
  }
  // Small constants are part of the code.
  const double most = is_of_gpu() ? 8 : 1;
  for (const Instruction& each : called->instructions) {
    if (each.opcode != "constant" || CountOf(each.shape) <= most) continue;
    const double use = is_of_gpu() ? std::min(use_[&each], 1.0) : 1;
    cost.bytes = Rounded(cost.bytes + Size(each.shape) * use);
    if (!is_of_xla()) cost.read += Size(each.shape) * use;
  }
  AddParameters(instruction, fused, &cost);
  return cost;
}

}  // namespace gpuprof::analysis::hlo
