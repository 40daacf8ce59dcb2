// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See hlo_module.h.

#include "analysis/xprof/hlo_module.h"

#include <utility>

#include "analysis/import/wire.h"

namespace gpuprof::analysis::xprof {
namespace {

using import::ReadVarint;
using import::WireField;
using import::WireReader;
using import::WireType;

// Types by the numbers of xla.PrimitiveType.
constexpr int32_t kTuple = 13, kOpaque = 14, kToken = 17;
constexpr int kMostDepth = 32;

bool IsNumber(const WireField& field, uint32_t number) {
  return field.Is(number, WireType::kVarint);
}
bool IsBytes(const WireField& field, uint32_t number) { return field.Is(number, WireType::kBytes); }

template <typename OnField>
bool Walk(std::string_view message, const OnField& on_field) {
  WireReader reader(message);
  WireField field;
  while (reader.Next(&field)) on_field(field);
  return !reader.is_broken();
}

// A list of numbers, packed or one by one.
void AddNumbers(const WireField& field, uint32_t number, std::vector<int64_t>* list) {
  if (IsNumber(field, number)) list->push_back(static_cast<int64_t>(field.value));
  if (!IsBytes(field, number)) return;
  const char *at = field.bytes.data(), *const end = at + field.bytes.size();
  while (at != nullptr && at != end) {
    uint64_t value = 0;
    at = ReadVarint(at, end, &value);
    if (at != nullptr) list->push_back(static_cast<int64_t>(value));
  }
}

void SetNumber(const WireField& field, uint32_t number, int64_t* value) {
  if (IsNumber(field, number)) *value = static_cast<int64_t>(field.value);
}

bool ReadShape(std::string_view message, int depth, HloShape* shape) {
  bool is_read = depth < kMostDepth;
  if (!is_read) return false;
  is_read = Walk(message, [&](const WireField& field) {
    if (IsNumber(field, 2)) shape->type = static_cast<int32_t>(field.value);
    AddNumbers(field, 3, &shape->dimensions);
    if (IsBytes(field, 4)) {
      HloShape part;
      if (ReadShape(field.bytes, depth + 1, &part)) shape->parts.push_back(std::move(part));
    }
  });
  return is_read;
}

void ReadWindow(std::string_view message, std::vector<HloModule::WindowDimension>* window) {
  Walk(message, [&](const WireField& field) {
    if (!IsBytes(field, 1)) return;
    HloModule::WindowDimension dimension;
    Walk(field.bytes, [&](const WireField& inner) {
      SetNumber(inner, 1, &dimension.size);
      SetNumber(inner, 2, &dimension.stride);
      SetNumber(inner, 3, &dimension.padding_low);
      SetNumber(inner, 4, &dimension.padding_high);
      SetNumber(inner, 5, &dimension.window_dilation);
      SetNumber(inner, 6, &dimension.base_dilation);
      if (IsNumber(inner, 7)) dimension.is_reversed = inner.value != 0;
    });
    window->push_back(dimension);
  });
}

void ReadConvolution(std::string_view message, HloModule::Convolution* convolution) {
  Walk(message, [&](const WireField& field) {
    SetNumber(field, 3, &convolution->kernel_input_feature);
    SetNumber(field, 4, &convolution->kernel_output_feature);
    AddNumbers(field, 6, &convolution->kernel_spatial);
    SetNumber(field, 7, &convolution->input_batch);
    SetNumber(field, 8, &convolution->input_feature);
    SetNumber(field, 9, &convolution->output_batch);
    SetNumber(field, 10, &convolution->output_feature);
    AddNumbers(field, 11, &convolution->input_spatial);
    AddNumbers(field, 12, &convolution->output_spatial);
  });
}

bool ReadInstruction(std::string_view message, HloModule::Instruction* instruction) {
  return Walk(message, [&](const WireField& field) {
    if (IsBytes(field, 1)) instruction->name = field.bytes;
    if (IsBytes(field, 2)) instruction->opcode = field.bytes;
    if (IsBytes(field, 3)) ReadShape(field.bytes, 0, &instruction->shape);
    if (IsBytes(field, 7)) {
      Walk(field.bytes, [&](const WireField& inner) {
        if (IsBytes(inner, 1)) instruction->op_type = inner.bytes;
        if (IsBytes(inner, 2)) instruction->op_name = inner.bytes;
      });
    }
    SetNumber(field, 9, &instruction->parameter);
    SetNumber(field, 13, &instruction->tuple_index);
    AddNumbers(field, 14, &instruction->dimensions);
    if (IsBytes(field, 15)) ReadWindow(field.bytes, &instruction->window);
    if (IsBytes(field, 16)) ReadConvolution(field.bytes, &instruction->convolution);
    if (IsBytes(field, 28)) instruction->custom_target = field.bytes;
    if (IsBytes(field, 30)) {
      Walk(field.bytes, [&](const WireField& inner) {
        AddNumbers(inner, 1, &instruction->dot.left_contracting);
      });
    }
    SetNumber(field, 35, &instruction->id);
    AddNumbers(field, 36, &instruction->operands);
    AddNumbers(field, 38, &instruction->called);
    if (IsBytes(field, 43)) instruction->backend_config = field.bytes;
    SetNumber(field, 50, &instruction->feature_groups);
    SetNumber(field, 58, &instruction->batch_groups);
  });
}

}  // namespace

int BitsOf(int32_t type) {
  switch (type) {
    case 1:  // pred
    case 2:  // s8
    case 6:  // u8
      return 8;
    case 3:   // s16
    case 7:   // u16
    case 10:  // f16
    case 16:  // bf16
      return 16;
    case 4:   // s32
    case 8:   // u32
    case 11:  // f32
      return 32;
    case 5:   // s64
    case 9:   // u64
    case 12:  // f64
    case 15:  // c64
      return 64;
    case 18:  // c128
      return 128;
    case 21:  // s4
    case 22:  // u4
    case 32:  // f4e2m1fn
      return 4;
    case 26:  // s2
    case 27:  // u2
      return 2;
    case 30:  // s1
    case 31:  // u1
      return 1;
    case 19:  // the kinds of f8
    case 20:
    case 23:
    case 24:
    case 25:
    case 28:
    case 29:
    case 33:
      return 8;
    default:
      return 0;
  }
}

bool HloShape::is_tuple() const { return type == kTuple; }

bool HloShape::is_array() const {
  return type != 0 && type != kTuple && type != kOpaque && type != kToken;
}

double HloShape::elements() const {
  double sum = 0;
  for (const HloShape& part : parts) sum += part.elements();
  if (!is_array()) return sum;
  double product = 1;
  for (const int64_t dimension : dimensions) product *= static_cast<double>(dimension);
  return product;
}

double HloShape::bytes() const {
  if (is_tuple()) {
    double sum = 8 * static_cast<double>(parts.size());
    for (const HloShape& part : parts) sum += part.bytes();
    return sum;
  }
  return is_array() ? elements() * ((BitsOf(type) + 7) / 8) : 0;
}

bool HloModule::Read(std::string_view bytes) {
  std::string_view module;
  bool is_read = Walk(bytes, [&](const WireField& field) {
    if (IsBytes(field, 1)) module = field.bytes;
  });
  std::vector<std::string_view> parts;
  is_read = is_read && !module.empty() && Walk(module, [&](const WireField& field) {
              SetNumber(field, 6, &entry);
              if (IsBytes(field, 3)) parts.push_back(field.bytes);
            });
  for (const std::string_view part : parts) {
    Computation computation;
    computation.first = instructions.size();
    is_read = is_read && Walk(part, [&](const WireField& field) {
                SetNumber(field, 5, &computation.id);
                SetNumber(field, 6, &computation.root);
                if (IsBytes(field, 2))
                  is_read = ReadInstruction(field.bytes, &instructions.emplace_back()) && is_read;
              });
    computation.count = instructions.size() - computation.first;
    computation_by_id.emplace(computation.id, computations.size());
    computations.push_back(computation);
  }
  for (size_t i = 0; i < instructions.size(); ++i) by_id.emplace(instructions[i].id, i);
  return is_read && computation_by_id.contains(entry);
}

const HloModule::Instruction* HloModule::Find(int64_t id) const {
  const auto at = by_id.find(id);
  return at == by_id.end() ? nullptr : &instructions[at->second];
}

const HloModule::Computation* HloModule::FindComputation(int64_t id) const {
  const auto at = computation_by_id.find(id);
  return at == computation_by_id.end() ? nullptr : &computations[at->second];
}

}  // namespace gpuprof::analysis::xprof
