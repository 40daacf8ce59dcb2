// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// CyclesOf: what XProf 2.24 takes for the operations of one element. The figures were read off its
// pages of programs with one operation each. They are clock cycles of a GPU of 2020, in XLA's
// xla/service/gpu/model/hlo_op_profiles_data.h.

#include <algorithm>
#include <iterator>

#include "analysis/hlo/cost.h"

namespace gpuprof::analysis::hlo {
namespace {

using enum ElementType;

struct Cycles {
  std::string_view opcode;
  ElementType type;
  int cycles;
};
constexpr int kOfOthers = 3;
constexpr Cycles kCycles[] = {
    {"add", kF64, 97},
    {"add", kC128, 97},
    {"atan2", kF16, 482},
    {"atan2", kF32, 486},
    {"atan2", kF64, 3747},
    {"atan2", kC64, 5353},
    {"atan2", kC128, 39027},
    {"cbrt", kF16, 925},
    {"cbrt", kF32, 867},
    {"cbrt", kF64, 6339},
    {"cosine", kF16, 691},
    {"cosine", kF32, 662},
    {"cosine", kF64, 1717},
    {"cosine", kC128, 6613},
    {"divide", kS8, 370},
    {"divide", kS16, 367},
    {"divide", kS32, 306},
    {"divide", kS64, 918},
    {"divide", kU8, 306},
    {"divide", kU16, 302},
    {"divide", kU32, 115},
    {"divide", kU64, 838},
    {"divide", kF64, 2016},
    {"divide", kC64, 687},
    {"divide", kC128, 7941},
    {"exponential", kF16, 108},
    {"exponential", kF32, 86},
    {"exponential", kF64, 1652},
    {"exponential", kC64, 1360},
    {"exponential", kC128, 4028},
    {"exponential-minus-one", kF16, 396},
    {"exponential-minus-one", kF32, 381},
    {"exponential-minus-one", kF64, 1900},
    {"exponential-minus-one", kC64, 1400},
    {"exponential-minus-one", kC128, 4161},
    {"log", kF16, 266},
    {"log", kF32, 244},
    {"log", kF64, 608},
    {"log", kC64, 950},
    {"log", kC128, 7599},
    {"log-plus-one", kF16, 284},
    {"log-plus-one", kF32, 262},
    {"log-plus-one", kF64, 2073},
    {"log-plus-one", kC64, 842},
    {"log-plus-one", kC128, 6962},
    {"logistic", kF16, 226},
    {"logistic", kF32, 176},
    {"logistic", kF64, 2412},
    {"multiply", kF64, 97},
    {"multiply", kC128, 270},
    {"power", kS8, 392},
    {"power", kS16, 396},
    {"power", kS64, 601},
    {"power", kU8, 388},
    {"power", kU16, 399},
    {"power", kU64, 604},
    {"power", kF16, 975},
    {"power", kF32, 925},
    {"power", kF64, 5511},
    {"power", kC64, 3351},
    {"power", kC128, 18205},
    {"rsqrt", kF16, 97},
    {"rsqrt", kF32, 75},
    {"rsqrt", kF64, 698},
    {"rsqrt", kC64, 2383},
    {"rsqrt", kC128, 11318},
    {"sine", kF32, 662},
    {"sine", kF64, 1789},
    {"sine", kC128, 5878},
    {"sqrt", kF16, 97},
    {"sqrt", kF32, 75},
    {"sqrt", kF64, 986},
    {"sqrt", kC64, 3193},
    {"sqrt", kC128, 15606},
    {"subtract", kF64, 97},
    {"subtract", kC128, 97},
    {"tanh", kF16, 212},
    {"tanh", kF32, 190},
    {"tanh", kF64, 1609},
    {"tanh", kC128, 9939},
};

}  // namespace

int CyclesOf(std::string_view opcode, ElementType type) {
  if (opcode == "copy") return 0;
  const auto* found = std::find_if(std::begin(kCycles), std::end(kCycles), [&](const Cycles& each) {
    return each.opcode == opcode && each.type == type;
  });
  return found == std::end(kCycles) ? kOfOthers : found->cycles;
}

}  // namespace gpuprof::analysis::hlo
