// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One compiled program of XLA (HloProto), as far as its costs need it. Texts are views of the bytes
// that were read. The numbers of fields are those of the public messages. One thread.

#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof::analysis::xprof {

// A shape: an array, or a tuple of shapes.
struct HloShape {
  int32_t type = 0;  // the number of the primitive type
  std::vector<int64_t> dimensions;
  std::vector<HloShape> parts;  // of a tuple

  bool is_tuple() const;
  bool is_array() const;
  // Returns how many elements all arrays have.
  double elements() const;
  // Returns the bytes of all arrays, and those of the table of a tuple.
  double bytes() const;
};
// Returns how many bits an element of a primitive type has. 0: it has no elements.
int BitsOf(int32_t type);

struct HloModule {
  struct Dot {
    std::vector<int64_t> left_contracting;
  };
  struct Convolution {
    int64_t input_batch = 0, input_feature = 0, kernel_input_feature = 0, kernel_output_feature = 0;
    int64_t output_batch = 0, output_feature = 0;
    std::vector<int64_t> input_spatial, kernel_spatial, output_spatial;
  };
  struct WindowDimension {
    int64_t size = 0, stride = 1, padding_low = 0, padding_high = 0, window_dilation = 1,
            base_dilation = 1;
    bool is_reversed = false;
  };
  struct Instruction {
    int64_t id = 0;
    std::string_view name, opcode, op_type, op_name, custom_target, backend_config;
    HloShape shape;
    int64_t parameter = 0, tuple_index = 0;
    int64_t feature_groups = 1, batch_groups = 1;
    std::vector<int64_t> operands, called, dimensions;  // ids
    Dot dot;
    Convolution convolution;
    std::vector<WindowDimension> window;
  };
  struct Computation {
    int64_t id = 0, root = 0;
    size_t first = 0, count = 0;  // in `instructions`
  };

  // Reads the bytes. False: they are not a program, or they are damaged.
  bool Read(std::string_view bytes);
  // Returns an instruction of the computation, by its id. Null: there is none.
  const Instruction* Find(int64_t id) const;
  const Computation* FindComputation(int64_t id) const;

  int64_t entry = 0;  // the id of the computation
  std::vector<Instruction> instructions;
  std::vector<Computation> computations;
  std::unordered_map<int64_t, size_t> by_id, computation_by_id;
};

}  // namespace gpuprof::analysis::xprof
