// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Makes messages xla.HloProto, field by field. For tests; one thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpuprof::analysis::hlo::test {

inline std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value > 127; value >>= 7) bytes += static_cast<char>((value & 127) | 128);
  return bytes + static_cast<char>(value);
}
inline std::string Field(uint32_t number, std::string_view data) {
  return Varint(number << 3 | 2) + Varint(data.size()) + std::string(data);
}
inline std::string Field(uint32_t number, const char* text) {
  return Field(number, std::string_view(text));
}
template <typename Number>
std::string Field(uint32_t number, Number value) requires std::is_integral_v<Number> {
  return Varint(number << 3) + Varint(static_cast<uint64_t>(value));
}

// The names of instructions are "i1", "i2" ..., and those of computations are given.
class HloMaker {
 public:
  static constexpr int64_t kEntry = 1000;

  HloMaker() { open_.push_back({kEntry, "main", {}, 0}); }

  static std::string Shape(uint64_t type, const std::vector<int64_t>& dimensions) {
    std::string shape = Field(2, type), order;
    for (const int64_t each : dimensions) shape += Field(3, each);
    for (size_t i = dimensions.size(); i-- > 0;) order += Field(1, i);
    return shape + Field(5, order);
  }
  int64_t Parameter(int64_t number, uint64_t type, const std::vector<int64_t>& dimensions) {
    return Add("parameter", type, dimensions, {}, Field(9, number));
  }
  int64_t Add(std::string_view opcode, uint64_t type, const std::vector<int64_t>& dimensions,
              const std::vector<int64_t>& operands, const std::string& more = "") {
    return AddShaped(opcode, Shape(type, dimensions), operands, more);
  }
  int64_t AddTuple(std::string_view opcode,
                   const std::vector<std::pair<uint64_t, std::vector<int64_t>>>& parts,
                   const std::vector<int64_t>& operands, const std::string& more = "") {
    std::string shape = Field(2, 13);
    for (const auto& [type, dimensions] : parts) shape += Field(4, Shape(type, dimensions));
    return AddShaped(opcode, shape, operands, more);
  }
  // Begins a computation, to which instructions go until its end.
  void Begin(std::string_view name) { open_.push_back({++last_called_, std::string(name), {}, 0}); }
  int64_t End() {
    const Computation ended = open_.back();
    open_.pop_back();
    computations_ += Field(3, BytesOf(ended));
    return ended.id;
  }
  // Returns the program. Nothing can be added any more.
  std::string Bytes() {
    return Field(1, Field(1, "made") + computations_ + Field(3, BytesOf(open_.front())) +
                        Field(5, 7) + Field(6, kEntry));
  }

 private:
  struct Computation {
    int64_t id;
    std::string name, instructions;
    int64_t root;
  };

  static std::string BytesOf(const Computation& computation) {
    return Field(1, computation.name) + computation.instructions + Field(5, computation.id) +
           Field(6, computation.root);
  }
  int64_t AddShaped(std::string_view opcode, const std::string& shape,
                    const std::vector<int64_t>& operands, const std::string& more) {
    const int64_t id = ++last_;
    std::string bytes = Field(1, "i" + std::to_string(id)) + Field(2, opcode) + Field(3, shape) +
                        Field(35, id) + more;
    for (const int64_t each : operands) bytes += Field(36, each);
    open_.back().instructions += Field(2, bytes);
    open_.back().root = id;
    return id;
  }

  std::vector<Computation> open_;
  std::string computations_;
  int64_t last_ = 0, last_called_ = kEntry;
};

// Returns a program with instructions of many kinds.
inline std::string ManyInstructions() {
  constexpr uint64_t kType = 11;
  HloMaker maker;
  maker.Begin("add");
  const int64_t x = maker.Parameter(0, kType, {}), y = maker.Parameter(1, kType, {});
  maker.Add("add", kType, {}, {x, y});
  const int64_t adder = maker.End();
  maker.Begin("fused");
  const int64_t inner = maker.Parameter(0, kType, {16, 16});
  const int64_t constant = maker.Add("constant", kType, {16}, {});
  const int64_t wide = maker.Add("broadcast", kType, {16, 16}, {constant}, Field(14, 1));
  const int64_t sum = maker.Add("add", kType, {16, 16}, {inner, wide});
  const int64_t part = maker.Add("slice", kType, {4, 16}, {sum});
  maker.Add("exponential", kType, {4, 16}, {part});
  const int64_t fused = maker.End();
  const int64_t input = maker.Parameter(0, kType, {16, 16});
  const int64_t kernel = maker.Parameter(1, kType, {3, 16, 16});
  maker.Add("fusion", kType, {4, 16}, {input}, Field(11, "kLoop") + Field(38, fused));
  maker.Add("dot", kType, {16, 16}, {input, input}, Field(30, Field(1, 1) + Field(2, 0)));
  const std::string window =
      Field(1, 3) + Field(2, 2) + Field(3, 1) + Field(4, 1) + Field(5, 2) + Field(6, 3);
  const std::string places = Field(7, 0) + Field(8, 1) + Field(3, 1) + Field(4, 2) + Field(6, 0) +
                             Field(9, 0) + Field(10, 1) + Field(11, 1) + Field(12, 1);
  maker.Add("convolution", kType, {16, 16}, {input, kernel},
            Field(15, Field(1, window)) + Field(16, places));
  maker.Add("reduce", kType, {16}, {input, constant}, Field(14, 1) + Field(38, adder));
  maker.Add("reduce-window", kType, {16, 16}, {input, constant},
            Field(15, Field(1, window) + Field(1, window)) + Field(38, adder));
  maker.Add("scatter", kType, {16, 16}, {input, constant, input}, Field(38, adder));
  maker.Add("sort", kType, {16, 16}, {input}, Field(38, adder));
  maker.Add("fft", kType, {16, 16}, {input}, Field(32, 16));
  maker.Add("call", kType, {16}, {input}, Field(38, adder));
  maker.Add("while", kType, {16}, {input}, Field(38, adder) + Field(38, fused));
  maker.AddTuple(
      "custom-call", {{kType, {16, 16}}, {kType, {9}}}, {input, input},
      Field(28, "__cublas$gemm") + Field(43, R"({"gemm_backend_config":{"dot_dimension_numbers":)"
                                             R"({"lhs_contracting_dimensions":["1"]}}})"));
  return maker.Bytes();
}

}  // namespace gpuprof::analysis::hlo::test
