// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/hlo/program.h"

#include "analysis/hlo/message.h"

namespace gpuprof::analysis::hlo {
namespace {

DotDimensions DotOf(Message message) {
  DotDimensions dot;
  message.ForEach([&](const Field& field) {
    switch (field.number) {
      case 1:
        AddNumbers(field, &dot.lhs_contracting);
        break;
      case 2:
        AddNumbers(field, &dot.rhs_contracting);
        break;
      case 3:
        AddNumbers(field, &dot.lhs_batch);
        break;
      case 4:
        AddNumbers(field, &dot.rhs_batch);
        break;
      default:
        break;
    }
  });
  return dot;
}

ConvolutionDimensions ConvolutionOf(Message message) {
  ConvolutionDimensions found;
  message.ForEach([&](const Field& field) {
    switch (field.number) {
      case 7:
        found.input_batch = Signed(field);
        break;
      case 8:
        found.input_feature = Signed(field);
        break;
      case 11:
        AddNumbers(field, &found.input_spatial);
        break;
      case 3:
        found.kernel_input_feature = Signed(field);
        break;
      case 4:
        found.kernel_output_feature = Signed(field);
        break;
      case 6:
        AddNumbers(field, &found.kernel_spatial);
        break;
      case 9:
        found.output_batch = Signed(field);
        break;
      case 10:
        found.output_feature = Signed(field);
        break;
      case 12:
        AddNumbers(field, &found.output_spatial);
        break;
      default:
        break;
    }
  });
  return found;
}

WindowDimension WindowDimensionOf(Message message) {
  WindowDimension found;
  message.ForEach([&](const Field& field) {
    switch (field.number) {
      case 1:
        found.size = Signed(field);
        break;
      case 2:
        found.stride = Signed(field);
        break;
      case 3:
        found.padding_low = Signed(field);
        break;
      case 4:
        found.padding_high = Signed(field);
        break;
      case 5:
        found.window_dilation = Signed(field);
        break;
      case 6:
        found.base_dilation = Signed(field);
        break;
      case 7:
        found.is_reversed = field.value != 0;
        break;
      default:
        break;
    }
  });
  return found;
}

SliceDimension SliceOf(Message message) {
  SliceDimension found;
  message.ForEach([&](const Field& field) {
    switch (field.number) {
      case 1:
        found.start = Signed(field);
        break;
      case 2:
        found.limit = Signed(field);
        break;
      case 3:
        found.stride = Signed(field);
        break;
      default:
        break;
    }
  });
  return found;
}

void ReadMetadata(Message message, Instruction* found) {
  message.ForEach([&](const Field& field) {
    switch (field.number) {
      case 1:
        found->op_type = field.bytes;
        break;
      case 2:
        found->op_name = field.bytes;
        break;
      case 3:
        found->source_file = field.bytes;
        break;
      case 4:
        found->source_line = static_cast<int32_t>(field.value);
        break;
      case 12:
        found->deduplicated_name = field.bytes;
        break;
      case 15:
        found->stack_frame = static_cast<int32_t>(field.value);
        break;
      default:
        break;
    }
  });
}

void AddGroup(Message message, Instruction* found) {
  std::vector<int64_t> group;
  message.ForEach([&](const Field& field) {
    if (field.number == 1) AddNumbers(field, &group);
  });
  found->replica_groups.push_back(std::move(group));
}

// Reads the groups of a collective. Lists of devices that are formulas are not read.
void ReadDeviceList(Message message, Instruction* found) {
  message.ForEach([&](const Field& field) {
    if (field.number == 1) AddGroup(message.In(field), found);
  });
}

void ReadPrecision(Message message, Instruction* found) {
  message.ForEach([&](const Field& field) {
    if (field.number == 1) AddNumbers(field, &found->operand_precision);
    if (field.number == 2) found->dot_algorithm = Signed(field);
  });
}

void ReadInstructionField(Message message, const Field& field, Instruction* found) {
  switch (field.number) {
    case 1:
      found->name = field.bytes;
      break;
    case 2:
      found->opcode = field.bytes;
      break;
    case 3:
      found->shape = ShapeOf(message.In(field));
      break;
    case 7:
      ReadMetadata(message.In(field), found);
      break;
    case 8:
      found->literal = field.bytes;
      break;
    case 9:
      found->parameter_number = Signed(field);
      break;
    case 11:
      found->fusion_kind = field.bytes;
      break;
    case 13:
      found->tuple_index = Signed(field);
      break;
    case 14:
      AddNumbers(field, &found->dimensions);
      break;
    case 15:
      message.In(field).ForEach([&](const Field& part) {
        if (part.number == 1) found->window.push_back(WindowDimensionOf(message.In(part)));
      });
      break;
    case 16:
      found->convolution = ConvolutionOf(message.In(field));
      found->has_convolution = true;
      break;
    case 17:
      found->slices.push_back(SliceOf(message.In(field)));
      break;
    case 20:
      AddNumbers(field, &found->dynamic_slice_sizes);
      break;
    case 26:
      found->channel_id = Signed(field);
      break;
    case 28:
      found->custom_call_target = field.bytes;
      break;
    case 30:
      found->dot = DotOf(message.In(field));
      found->has_dot = true;
      break;
    case 32:
      AddNumbers(field, &found->fft_length);
      break;
    case 34:
      AddNumbers(field, &found->gather_slice_sizes);
      break;
    case 35:
      found->id = Signed(field);
      break;
    case 36:
      AddNumbers(field, &found->operands);
      break;
    case 37:
      AddNumbers(field, &found->control_predecessors);
      break;
    case 38:
      AddNumbers(field, &found->called_computations);
      break;
    case 43:
      found->backend_config = field.bytes;
      break;
    case 47:
      found->is_host_transfer = field.value != 0;
      break;
    case 49:
      AddGroup(message.In(field), found);
      break;
    case 50:
      found->feature_groups = Signed(field);
      break;
    case 51:
      ReadPrecision(message.In(field), found);
      break;
    case 58:
      found->batch_groups = Signed(field);
      break;
    case 63:
      found->comparison_direction = field.bytes;
      break;
    case 87:
      ReadDeviceList(message.In(field), found);
      break;
    default:
      break;
  }
}

Computation ComputationOf(Message message) {
  Computation found;
  message.ForEach([&](const Field& field) {
    switch (field.number) {
      case 1:
        found.name = field.bytes;
        break;
      case 2: {
        Instruction instruction;
        const Message part = message.In(field);
        part.ForEach([&](const Field& of_it) { ReadInstructionField(part, of_it, &instruction); });
        found.instructions.push_back(std::move(instruction));
        break;
      }
      case 5:
        found.id = Signed(field);
        break;
      case 6:
        found.root = Signed(field);
        break;
      case 7:
        found.is_fusion = field.value != 0;
        break;
      default:
        break;
    }
  });
  return found;
}

}  // namespace

Program::Program(std::string_view proto) {
  const Message message(proto, &is_whole);
  message.ForEach([&](const Field& field) {
    if (field.number == 1) ReadModule(field.bytes);
    if (field.number == 3) ReadBuffers(field.bytes);
  });
  Index();
}

void Program::ReadModule(std::string_view bytes) {
  const Message message(bytes, &is_whole);
  message.ForEach([&](const Field& field) {
    switch (field.number) {
      case 1:
        name = field.bytes;
        break;
      case 2:
        entry_name = field.bytes;
        break;
      case 3:
        computations.push_back(hlo::ComputationOf(message.In(field)));
        break;
      case 5:
        id = Signed(field);
        break;
      case 6:
        entry_id = Signed(field);
        break;
      case 7: {
        const Message sequences = message.In(field);
        sequences.ForEach([&](const Field& entry) {
          if (entry.number != 1) return;
          int64_t computation = 0;
          std::vector<int64_t> order;
          message.In(entry).ForEach([&](const Field& part) {
            if (part.number == 1) computation = Signed(part);
            if (part.number != 2) return;
            message.In(part).ForEach([&](const Field& of_it) {
              if (of_it.number == 1) AddNumbers(of_it, &order);
            });
          });
          schedule[computation] = std::move(order);
        });
        break;
      }
      case 17:
        ReadStackFrames(field.bytes);
        break;
      default:
        break;
    }
  });
}

void Program::ReadStackFrames(std::string_view bytes) {
  const Message message(bytes, &is_whole);
  message.ForEach([&](const Field& field) {
    if (field.number == 1) file_names.push_back(field.bytes);
    if (field.number == 2) function_names.push_back(field.bytes);
    if (field.number == 3) {
      FileLocation location;
      message.In(field).ForEach([&](const Field& part) {
        if (part.number == 1) location.file = static_cast<int32_t>(part.value);
        if (part.number == 2) location.function = static_cast<int32_t>(part.value);
        if (part.number == 3) location.line = static_cast<int32_t>(part.value);
        if (part.number == 4) location.column = static_cast<int32_t>(part.value);
      });
      file_locations.push_back(location);
    }
    if (field.number == 4) {
      StackFrame frame;
      message.In(field).ForEach([&](const Field& part) {
        if (part.number == 1) frame.location = static_cast<int32_t>(part.value);
        if (part.number == 2) frame.parent = static_cast<int32_t>(part.value);
      });
      stack_frames.push_back(frame);
    }
  });
}

void Program::Index() {
  for (uint32_t at = 0; at < computations.size(); ++at) {
    computation_by_id_.try_emplace(computations[at].id, at);
    const std::vector<Instruction>& all = computations[at].instructions;
    for (uint32_t index = 0; index < all.size(); ++index) {
      by_id_.try_emplace(all[index].id, Place{at, index});
      by_name_.try_emplace(all[index].name, Place{at, index});
    }
  }
}

const Computation* Program::FindComputation(int64_t wanted) const {
  const auto at = computation_by_id_.find(wanted);
  return at == computation_by_id_.end() ? nullptr : &computations[at->second];
}

const Instruction* Program::Find(int64_t wanted) const {
  const auto at = by_id_.find(wanted);
  if (at == by_id_.end()) return nullptr;
  return &computations[at->second.computation].instructions[at->second.instruction];
}

const Instruction* Program::Find(std::string_view wanted) const {
  const auto at = by_name_.find(wanted);
  if (at == by_name_.end()) return nullptr;
  return &computations[at->second.computation].instructions[at->second.instruction];
}

const Computation* Program::ComputationOf(const Instruction& instruction) const {
  const auto at = by_id_.find(instruction.id);
  return at == by_id_.end() ? nullptr : &computations[at->second.computation];
}

const Computation* Program::entry() const {
  if (const Computation* found = FindComputation(entry_id)) return found;
  for (const Computation& computation : computations)
    if (computation.name == entry_name) return &computation;
  return computations.empty() ? nullptr : &computations.back();
}

const Instruction* Program::RootOf(const Computation& computation) {
  for (const Instruction& instruction : computation.instructions)
    if (instruction.id == computation.root) return &instruction;
  return computation.instructions.empty() ? nullptr : &computation.instructions.back();
}

}  // namespace gpuprof::analysis::hlo
