// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/read/payload_numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "proto/kept_name.h"
#include "proto/nvtx_payload.h"

namespace gpuprof::analysis {
namespace {

namespace nvtx = proto::nvtx;

bool IsSigned(uint64_t type) {
  switch (type) {
    case nvtx::kChar:
    case nvtx::kShort:
    case nvtx::kInt:
    case nvtx::kLong:
    case nvtx::kLongLong:
    case nvtx::kInt8:
    case nvtx::kInt16:
    case nvtx::kInt32:
    case nvtx::kInt64:
      return true;
    default:
      return false;
  }
}

// Returns a half: 5 bits of exponent with a bias of 15, then 10 bits of fraction.
double HalfOf(uint64_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 0x1f);
  const auto fraction = static_cast<double>(bits & 0x3ff);
  double size = std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 0) size = std::ldexp(fraction, -24);
  if (exponent == 0x1f) size = fraction == 0 ? HUGE_VAL : std::nan("");
  return (bits >> 15) != 0 ? -size : size;
}

double SingleOf(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }

// Reads a floating-point number. False: the type is another one.
bool ReadFloating(uint64_t type, uint64_t bits, double* value) {
  switch (type) {
    case nvtx::kFloat16:
      *value = HalfOf(bits);
      return true;
    case nvtx::kBrainFloat16:  // the upper half of a float
      *value = SingleOf(bits << 16);
      return true;
    case nvtx::kFloat:
    case nvtx::kFloat32:
      *value = SingleOf(bits);
      return true;
    case nvtx::kDouble:
    case nvtx::kFloat64:
      *value = std::bit_cast<double>(bits);
      return true;
    default:
      return false;
  }
}

void AppendUtf8(uint32_t character, std::string* to) {
  uint32_t c = character;
  if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) c = 0xfffd;
  const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  constexpr uint32_t kLead[] = {0, 0xc0, 0xe0, 0xf0};
  to->push_back(static_cast<char>(kLead[more] | c >> (6 * more)));
  for (int i = more; i-- > 0;) to->push_back(static_cast<char>(0x80 | (c >> (6 * i) & 0x3f)));
}

}  // namespace

uint64_t UnsignedOf(std::string_view bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), std::min(bytes.size(), sizeof(bits)));
  return bits;
}

uint64_t SignedOf(std::string_view bytes) {
  const auto unused = static_cast<unsigned>(64 - 8 * std::clamp<size_t>(bytes.size(), 1, 8));
  return static_cast<uint64_t>(static_cast<int64_t>(UnsignedOf(bytes) << unused) >> unused);
}

bool IsInteger(uint64_t type) {
  double unused;
  return nvtx::TypeBytes(type) != 0 && nvtx::TypeBytes(type) <= sizeof(uint64_t) &&
         type != nvtx::kTensorFloat32 && type != nvtx::kAddress &&
         type != nvtx::kRegisteredString && !ReadFloating(type, 0, &unused);
}

bool ReadNumber(uint64_t type, std::string_view bytes, RangeValue* value_type, uint64_t* bits) {
  if (bytes.size() > sizeof(uint64_t) || type == nvtx::kTensorFloat32) return false;
  *bits = IsSigned(type) ? SignedOf(bytes) : UnsignedOf(bytes);
  *value_type = IsSigned(type) ? RangeValue::kInt64 : RangeValue::kUint64;
  double floating = 0;
  if (type == nvtx::kAddress) {
    *value_type = RangeValue::kAddress;
  } else if (ReadFloating(type, *bits, &floating)) {
    *value_type = RangeValue::kDouble;
    *bits = std::bit_cast<uint64_t>(floating);
  }
  return true;
}

uint64_t EndOfText(std::string_view bytes, uint32_t unit) {
  for (uint64_t at = 0; at + unit <= bytes.size(); at += unit) {
    if (UnsignedOf(bytes.substr(at, unit)) == 0) return at;
  }
  return bytes.size();
}

std::string TextOf(std::string_view bytes, uint32_t unit) {
  bytes = bytes.substr(0, EndOfText(bytes, unit));
  if (unit == 1) return std::string(bytes.substr(0, proto::kMostNameBytes));
  std::string text;
  for (; bytes.size() >= unit; bytes.remove_prefix(unit)) {
    auto character = static_cast<uint32_t>(UnsignedOf(bytes.substr(0, unit)));
    if (unit == 2 && bytes.size() >= 4 && character >> 10 == 0xd800 >> 10) {
      const auto low = static_cast<uint32_t>(UnsignedOf(bytes.substr(2, 2)));
      if (low >> 10 == 0xdc00 >> 10) {
        character = 0x10000 + ((character & 0x3ff) << 10) + (low & 0x3ff);
        bytes.remove_prefix(2);
      }
    }
    const size_t whole = text.size();
    AppendUtf8(character, &text);
    if (text.size() > proto::kMostNameBytes) {
      text.resize(whole);
      break;
    }
  }
  return text;
}

}  // namespace gpuprof::analysis
