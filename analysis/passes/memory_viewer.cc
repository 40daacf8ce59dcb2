// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `memory_viewer`: the memory of programs that XLA compiled. See passes.h.

#include "proto/results/memory_viewer.pb.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/hlo/memory.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/programs.h"
#include "analysis/passes/rows.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

// Buffers below both are one row.
constexpr int64_t kSmallBufferBytes = 16 << 10, kSmallPartOfPeak = 1000;
constexpr size_t kMostNameBytes = 4096;
constexpr int kMostSpaces = 64;
constexpr size_t kMostBufferRows = 10'000, kMostHeapMoments = 1000;

uint64_t Bytes(int64_t size) { return static_cast<uint64_t>(std::max<int64_t>(size, 0)); }

results::ProgramBufferUse CodeOf(hlo::BufferUse use) {
  switch (use) {
    case hlo::BufferUse::kParameter:
      return results::PROGRAM_BUFFER_USE_PARAMETER;
    case hlo::BufferUse::kOutput:
      return results::PROGRAM_BUFFER_USE_OUTPUT;
    case hlo::BufferUse::kConstant:
      return results::PROGRAM_BUFFER_USE_CONSTANT;
    case hlo::BufferUse::kThreadLocal:
      return results::PROGRAM_BUFFER_USE_THREAD_LOCAL;
    case hlo::BufferUse::kTemporary:
      return results::PROGRAM_BUFFER_USE_TEMPORARY;
  }
  return results::PROGRAM_BUFFER_USE_NONE;
}

// Returns the instruction of a buffer with the part of a tuple: "copy-start{0}".
std::string NameOfBuffer(const hlo::PlacedBuffer& placed) {
  std::string name(placed.instruction != nullptr ? placed.instruction->name
                                                 : placed.buffer->instruction_name);
  if (name.empty()) name = "buffer " + std::to_string(placed.buffer->id);
  if (placed.buffer->shape_index.empty()) return ShownText(name);
  name += '{';
  for (size_t i = 0; i < placed.buffer->shape_index.size() && name.size() < kMostNameBytes; ++i)
    name += (i == 0 ? "" : ",") + std::to_string(placed.buffer->shape_index[i]);
  return ShownText(name + "}");
}

void FillProgram(const HloModule& module, const hlo::Program& program,
                 const hlo::ProgramMemory& memory, results::MemoryViewerProgram* row) {
  row->set_name(TitleOf(module));
  row->set_program_id(module.program_id);
  for (const hlo::Computation& computation : program.computations)
    row->set_instruction_count(row->instruction_count() + computation.instructions.size());
  uint64_t parameters = 0, outputs = 0, temporaries = 0, buffers = 0;
  for (const hlo::MemorySpace& space : memory.spaces) {
    buffers += space.buffers.size();
    parameters += Bytes(space.parameter_bytes);
    outputs += Bytes(space.output_bytes);
    temporaries += Bytes(space.temporary_bytes);
  }
  row->set_buffer_count(buffers);
  row->set_peak_bytes(Bytes(memory.peak_bytes()));
  row->set_parameter_bytes(parameters);
  row->set_output_bytes(outputs);
  row->set_temporary_bytes(temporaries);
}

void FillSpace(const hlo::MemorySpace& space, results::MemoryViewerSpace* row) {
  row->set_number(space.number);
  row->set_peak_bytes(Bytes(space.peak_bytes));
  if (space.peak_moment < space.moments.size()) {
    row->set_peak_instruction(ShownText(space.moments[space.peak_moment].instruction));
    row->set_peak_position(space.peak_moment);
  }
  row->set_peak_unpadded_bytes(Bytes(space.peak_unpadded_bytes));
  row->set_allocated_bytes(Bytes(space.allocated_bytes));
  row->set_allocation_count(space.allocation_count);
  row->set_buffer_count(space.buffers.size());
  row->set_parameter_bytes(Bytes(space.parameter_bytes));
  row->set_output_bytes(Bytes(space.output_bytes));
  row->set_constant_bytes(Bytes(space.constant_bytes));
  row->set_thread_local_bytes(Bytes(space.thread_local_bytes));
  row->set_temporary_bytes(Bytes(space.temporary_bytes));
  row->set_aliased_bytes(Bytes(space.aliased_bytes));
  row->set_not_reusable_bytes(Bytes(space.not_reusable_bytes));
  row->set_unsimulated_bytes(Bytes(space.unsimulated_bytes));
  row->set_moment_count(space.moments.size());
}

void FillBuffer(const hlo::Program& program, const hlo::MemorySpace& space,
                const hlo::PlacedBuffer& placed, results::MemoryViewerBuffer* row) {
  row->set_space(space.number);
  row->set_name(NameOfBuffer(placed));
  row->set_use(CodeOf(hlo::UseOf(*placed.allocation)));
  row->set_bytes(Bytes(placed.bytes));
  row->set_padding_bytes(Bytes(placed.bytes - placed.unpadded_bytes));
  row->set_peak_bytes(Bytes(placed.peak_bytes));
  row->set_peak_ratio(Ratio(placed.peak_bytes, space.peak_bytes));
  row->set_buffer(placed.buffer->id);
  row->set_allocation(placed.allocation->index);
  row->set_offset_bytes(Bytes(placed.offset));
  row->set_count(1);
  if (placed.has_life) {
    row->set_first_position(placed.first);
    row->set_last_position(placed.last);
    row->set_lives_to_end(placed.lives_to_end);
  }
  row->set_shares_memory(placed.shares_memory);
  if (placed.last_reader != nullptr) row->set_last_reader(ShownText(placed.last_reader->name));
  if (placed.allocation->is_parameter) {
    row->set_parameter_number(Bytes(placed.allocation->parameter_number));
    row->set_aliased(placed.allocation->is_live_out);
  }
  if (placed.instruction == nullptr) return;
  const hlo::Instruction& instruction = *placed.instruction;
  row->set_opcode(ShownText(instruction.opcode));
  row->set_shape(ShownShape(hlo::ShapeAt(instruction.shape, placed.buffer->shape_index)));
  row->set_op_name(ShownText(instruction.op_name));
  row->set_source(TextOf(hlo::SourceOf(program, instruction)));
  row->set_source_stack(StackText(program, instruction));
}

void FillBuffers(const hlo::Program& program, const hlo::MemorySpace& space,
                 results::MemoryViewer* out) {
  const int first = out->buffers_size();
  results::MemoryViewerBuffer small;
  for (const hlo::PlacedBuffer& placed : space.buffers) {
    const int64_t larger = std::max(placed.bytes, placed.peak_bytes);
    const bool is_small =
        larger < kSmallBufferBytes && larger < space.peak_bytes / kSmallPartOfPeak;
    if (!is_small && static_cast<size_t>(out->buffers_size() - first) < kMostBufferRows) {
      FillBuffer(program, space, placed, out->add_buffers());
      continue;
    }
    small.set_bytes(small.bytes() + Bytes(placed.bytes));
    small.set_padding_bytes(small.padding_bytes() + Bytes(placed.bytes - placed.unpadded_bytes));
    small.set_peak_bytes(small.peak_bytes() + Bytes(placed.peak_bytes));
    small.set_count(small.count() + 1);
  }
  if (small.count() == 0) return;
  small.set_space(space.number);
  small.set_name("(small buffers)");
  small.set_peak_ratio(Ratio(small.peak_bytes(), Bytes(space.peak_bytes)));
  *out->add_buffers() = std::move(small);
}

void FillMoments(const hlo::MemorySpace& space, results::MemoryViewer* out) {
  const size_t count = space.moments.size();
  const size_t parts = std::min(count, kMostHeapMoments);
  for (size_t part = 0; part < parts; ++part) {
    // The engine of a report has 32 bits.
    const auto place = [&](uint64_t number) {
      return space.moments.begin() + static_cast<ptrdiff_t>(count * number / parts);
    };
    const auto begin = place(part), end = place(part + 1);
    const auto most = std::max_element(
        begin, end, [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
    results::MemoryViewerMoment* const row = out->add_timeline();
    row->set_space(space.number);
    row->set_position(static_cast<uint64_t>(most - space.moments.begin()));
    row->set_instruction(ShownText(most->instruction));
    row->set_bytes(Bytes(most->bytes));
    row->set_unpadded_bytes(Bytes(most->unpadded_bytes));
  }
}

}  // namespace

Error RunMemoryViewer(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::MemoryViewer>();
  const HloModules modules = ProgramsOf(context);
  const HloModule* chosen = nullptr;
  const std::string& wanted = context.options().program;
  if (!wanted.empty()) {
    if (Error error = ChooseProgram(modules, wanted, &chosen)) return error;
  }
  uint64_t most = 0;
  for (const auto& module : modules) {
    const hlo::Program program(module->proto);
    const hlo::ProgramMemory memory = hlo::MemoryOf(program);
    if (memory.spaces.empty()) continue;  // compiled without places of buffers
    results::MemoryViewerProgram* const row = out->add_programs();
    FillProgram(*module, program, memory, row);
    if (!wanted.empty() || (chosen != nullptr && row->peak_bytes() <= most)) continue;
    chosen = module.get();
    most = row->peak_bytes();
  }
  SortFalling(out->mutable_programs(), [](const auto& row) { return row.peak_bytes(); });
  if (chosen != nullptr) {
    out->set_program(TitleOf(*chosen));
    const hlo::Program program(chosen->proto);
    const hlo::ProgramMemory memory = hlo::MemoryOf(program);
    const auto& space_option = context.options().memory_space;
    for (const hlo::MemorySpace& space : memory.spaces) {
      if (space_option && space.number != *space_option) continue;
      if (out->spaces_size() == kMostSpaces) break;
      FillSpace(space, out->add_spaces());
      FillBuffers(program, space, out.get());
      FillMoments(space, out.get());
    }
  }
  context.FillCountMeta("memory_viewer", out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
