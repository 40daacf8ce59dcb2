// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Shapes: their messages, names and sizes.

#include <limits>

#include "analysis/hlo/message.h"
#include "analysis/hlo/program.h"

namespace gpuprof::analysis::hlo {
namespace {

constexpr int kDeepestTuple = 32;  // no program of XLA nests tuples as deep

int64_t Multiply(int64_t left, int64_t right) {
  int64_t product = 0;
  return __builtin_mul_overflow(left, right, &product) ? std::numeric_limits<int64_t>::max()
                                                       : product;
}

int64_t Add(int64_t left, int64_t right) {
  int64_t sum = 0;
  return __builtin_add_overflow(left, right, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

void ReadLayout(Message message, Shape* shape) {
  shape->has_layout = true;
  message.ForEach([&](const Field& field) {
    switch (field.number) {
      case 1:
        AddNumbers(field, &shape->minor_to_major);
        break;
      case 6: {
        std::vector<int64_t> tile;
        message.In(field).ForEach([&](const Field& part) {
          if (part.number == 1) AddNumbers(part, &tile);
        });
        shape->tiles.push_back(std::move(tile));
        break;
      }
      case 7:
        shape->element_bits = Signed(field);
        break;
      case 8:
        shape->memory_space = Signed(field);
        break;
      case 16:
        shape->tail_padding = Signed(field);
        break;
      default:
        break;
    }
  });
}

Shape ReadShape(Message message, int depth) {
  Shape shape;
  std::vector<int64_t> dynamic;
  message.ForEach([&](const Field& field) {
    switch (field.number) {
      case 2:
        shape.type = static_cast<ElementType>(field.value & 0xff);
        break;
      case 3:
        AddNumbers(field, &shape.dimensions);
        break;
      case 4:
        if (depth < kDeepestTuple)
          shape.parts.push_back(ReadShape(message.In(field), depth + 1));
        else
          message.MarkBroken();
        break;
      case 5:
        ReadLayout(message.In(field), &shape);
        break;
      case 6:
        AddNumbers(field, &dynamic);
        break;
      default:
        break;
    }
  });
  for (const int64_t flag : dynamic)
    if (flag != 0) shape.is_dynamic.assign(dynamic.begin(), dynamic.end());
  return shape;
}

}  // namespace

void AddNumbers(const Field& field, std::vector<int64_t>* numbers) {
  if (field.type != import::WireType::kBytes) {
    numbers->push_back(Signed(field));
    return;
  }
  const char* at = field.bytes.data();
  const char* const end = at + field.bytes.size();
  uint64_t value = 0;
  while (at != end && (at = import::ReadVarint(at, end, &value)) != nullptr)
    numbers->push_back(static_cast<int64_t>(value));
}

Shape ShapeOf(Message message) { return ReadShape(message, 0); }

std::string_view NameOf(ElementType type) {
  switch (type) {
    case ElementType::kPred:
      return "pred";
    case ElementType::kS1:
      return "s1";
    case ElementType::kS2:
      return "s2";
    case ElementType::kS4:
      return "s4";
    case ElementType::kS8:
      return "s8";
    case ElementType::kS16:
      return "s16";
    case ElementType::kS32:
      return "s32";
    case ElementType::kS64:
      return "s64";
    case ElementType::kU1:
      return "u1";
    case ElementType::kU2:
      return "u2";
    case ElementType::kU4:
      return "u4";
    case ElementType::kU8:
      return "u8";
    case ElementType::kU16:
      return "u16";
    case ElementType::kU32:
      return "u32";
    case ElementType::kU64:
      return "u64";
    case ElementType::kF16:
      return "f16";
    case ElementType::kF32:
      return "f32";
    case ElementType::kF64:
      return "f64";
    case ElementType::kBf16:
      return "bf16";
    case ElementType::kC64:
      return "c64";
    case ElementType::kC128:
      return "c128";
    case ElementType::kF8e5m2:
      return "f8e5m2";
    case ElementType::kF8e4m3:
      return "f8e4m3";
    case ElementType::kF8e4m3fn:
      return "f8e4m3fn";
    case ElementType::kF8e4m3b11fnuz:
      return "f8e4m3b11fnuz";
    case ElementType::kF8e5m2fnuz:
      return "f8e5m2fnuz";
    case ElementType::kF8e4m3fnuz:
      return "f8e4m3fnuz";
    case ElementType::kF8e3m4:
      return "f8e3m4";
    case ElementType::kF4e2m1fn:
      return "f4e2m1fn";
    case ElementType::kF8e8m0fnu:
      return "f8e8m0fnu";
    case ElementType::kTuple:
      return "tuple";
    case ElementType::kOpaque:
      return "opaque";
    case ElementType::kToken:
      return "token";
    case ElementType::kBuffer:
      return "b";
    case ElementType::kInvalid:
      break;
  }
  return {};
}

int BitsOf(ElementType type) {
  switch (type) {
    case ElementType::kS1:
    case ElementType::kU1:
      return 1;
    case ElementType::kS2:
    case ElementType::kU2:
      return 2;
    case ElementType::kS4:
    case ElementType::kU4:
    case ElementType::kF4e2m1fn:
      return 4;
    case ElementType::kPred:
    case ElementType::kS8:
    case ElementType::kU8:
    case ElementType::kF8e5m2:
    case ElementType::kF8e4m3:
    case ElementType::kF8e4m3fn:
    case ElementType::kF8e4m3b11fnuz:
    case ElementType::kF8e5m2fnuz:
    case ElementType::kF8e4m3fnuz:
    case ElementType::kF8e3m4:
    case ElementType::kF8e8m0fnu:
      return 8;
    case ElementType::kS16:
    case ElementType::kU16:
    case ElementType::kF16:
    case ElementType::kBf16:
      return 16;
    case ElementType::kS32:
    case ElementType::kU32:
    case ElementType::kF32:
      return 32;
    case ElementType::kS64:
    case ElementType::kU64:
    case ElementType::kF64:
    case ElementType::kC64:
      return 64;
    case ElementType::kC128:
      return 128;
    default:
      return 0;
  }
}

int64_t Shape::elements() const {
  if (is_tuple()) return 0;
  int64_t product = 1;
  for (const int64_t dimension : dimensions)
    product = Multiply(product, dimension < 0 ? 0 : dimension);
  return product;
}

int64_t Shape::bytes() const {
  int64_t sum = 0;
  for (const Shape& part : parts) sum = Add(sum, part.bytes());
  if (is_tuple()) return sum;
  const int bits =
      element_bits > 0 && element_bits <= 128 ? static_cast<int>(element_bits) : BitsOf(type);
  const int64_t count = elements();
  if (bits >= 8) return Multiply(count, bits / 8);
  const int64_t all = Multiply(count, bits);
  return all / 8 + (all % 8 != 0);
}

}  // namespace gpuprof::analysis::hlo
