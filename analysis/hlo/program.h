// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A program that XLA compiled, as a message xla.HloProto describes it: its computations, their
// instructions with shapes, and where its buffers are placed. The numbers of fields are those of
// XLA's public messages (xla/service/hlo.proto, xla/xla_data.proto).
//
// Texts are views of the message, which outlives the program. One thread reads; then any thread.
// Any bytes are safe: what cannot be read is left out, and `is_whole` says so.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof::analysis::hlo {

// The values are those of xla.PrimitiveType. A value that is not listed keeps its number.
enum class ElementType : uint8_t {
  kInvalid = 0,
  kPred = 1,
  kS8 = 2,
  kS16 = 3,
  kS32 = 4,
  kS64 = 5,
  kU8 = 6,
  kU16 = 7,
  kU32 = 8,
  kU64 = 9,
  kF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kTuple = 13,
  kOpaque = 14,
  kC64 = 15,
  kBf16 = 16,
  kToken = 17,
  kC128 = 18,
  kF8e5m2 = 19,
  kF8e4m3fn = 20,
  kS4 = 21,
  kU4 = 22,
  kF8e4m3b11fnuz = 23,
  kF8e5m2fnuz = 24,
  kF8e4m3fnuz = 25,
  kS2 = 26,
  kU2 = 27,
  kF8e4m3 = 28,
  kF8e3m4 = 29,
  kS1 = 30,
  kU1 = 31,
  kF4e2m1fn = 32,
  kF8e8m0fnu = 33,
  kBuffer = 34,
};

// Returns the name that XLA prints, "f32". Empty: a type without a name here.
std::string_view NameOf(ElementType type);
// Returns the bits of an element: 0 of tuples, tokens and types that are not known.
int BitsOf(ElementType type);

struct Shape {
  ElementType type = ElementType::kInvalid;
  std::vector<int64_t> dimensions;
  std::vector<bool> is_dynamic;         // by dimension; empty: none is
  std::vector<int64_t> minor_to_major;  // the layout; empty: not known
  std::vector<std::vector<int64_t>> tiles;
  int64_t element_bits = 0;  // of the layout; 0: those of the type
  int64_t memory_space = 0;
  int64_t tail_padding = 0;  // in elements; 0 and 1: none
  bool has_layout = false;
  std::vector<Shape> parts;  // of a tuple

  bool is_tuple() const { return type == ElementType::kTuple; }
  // Returns the number of elements of an array. A scalar has 1, and a tuple 0.
  // Numbers that do not fit become the largest one.
  int64_t elements() const;
  // Returns the bytes of the elements, of all parts of a tuple, without pointers and padding.
  int64_t bytes() const;
};

struct WindowDimension {
  int64_t size = 0, stride = 0, padding_low = 0, padding_high = 0;
  int64_t window_dilation = 0, base_dilation = 0;
  bool is_reversed = false;
};

struct DotDimensions {
  std::vector<int64_t> lhs_contracting, rhs_contracting, lhs_batch, rhs_batch;
};

struct ConvolutionDimensions {
  int64_t input_batch = 0, input_feature = 0;
  int64_t kernel_input_feature = 0, kernel_output_feature = 0;
  int64_t output_batch = 0, output_feature = 0;
  std::vector<int64_t> input_spatial, kernel_spatial, output_spatial;
};

struct SliceDimension {
  int64_t start = 0, limit = 0, stride = 0;
};

struct Instruction {
  int64_t id = 0;
  std::string_view name, opcode;
  Shape shape;

  // Its source (xla.OpMetadata).
  std::string_view op_type, op_name, source_file, deduplicated_name;
  int32_t source_line = 0;
  int32_t stack_frame = 0;  // in Program::stack_frames, from 1; 0: none

  std::vector<int64_t> operands, control_predecessors, called_computations;  // ids

  // What single operations have. Zero or empty: not of this operation.
  int64_t parameter_number = 0, tuple_index = 0, channel_id = 0;
  int64_t feature_groups = 0, batch_groups = 0;
  std::string_view fusion_kind, custom_call_target, comparison_direction, backend_config;
  std::vector<int64_t> dimensions, dynamic_slice_sizes, gather_slice_sizes, fft_length;
  std::vector<SliceDimension> slices;
  std::vector<WindowDimension> window;
  DotDimensions dot;
  ConvolutionDimensions convolution;
  bool has_dot = false, has_convolution = false, is_host_transfer = false;
  std::vector<std::vector<int64_t>> replica_groups;
  std::vector<int64_t> operand_precision;  // xla.PrecisionConfig.Precision
  int64_t dot_algorithm = 0;               // xla.PrecisionConfig.Algorithm
  std::string_view literal;                // the message xla.LiteralProto of a constant
  std::string_view message;                // xla.HloInstructionProto, for what is rarely needed
};

struct Computation {
  int64_t id = 0, root = 0;  // `root` is the id of an instruction
  std::string_view name;
  bool is_fusion = false;
  std::vector<Instruction> instructions;
};

// A value of the program that needs a place.
struct LogicalBuffer {
  int64_t id = 0, size = 0, color = 0;
  int64_t instruction = 0;            // 0: its name alone is known
  std::string_view instruction_name;  // of files before 2023
  std::vector<int64_t> shape_index;   // of the part of the tuple
};

struct AssignedBuffer {
  int64_t buffer = 0, offset = 0, size = 0;
};

// One piece of memory, and the buffers that lie in it.
struct BufferAllocation {
  int64_t index = 0, size = 0, color = 0, parameter_number = 0;
  bool is_thread_local = false, is_tuple = false, is_parameter = false, is_constant = false;
  bool is_live_out = false, is_aliased_with_output = false;
  std::vector<int64_t> parameter_shape_index;
  std::vector<AssignedBuffer> assigned;
};

struct BufferAlias {
  int64_t source = 0;  // id of a buffer
  int64_t instruction = 0;
  std::string_view instruction_name;
  std::vector<int64_t> shape_index;
};

struct HeapEvent {
  enum class Kind : uint8_t { kAlloc = 0, kFree = 1, kShareWith = 2 };
  Kind kind = Kind::kAlloc;
  int64_t buffer = 0, shared_with = 0;
  std::string_view computation, instruction;
};

// How XLA's own simulation filled one allocation, in the program's order.
struct HeapTrace {
  int64_t allocation = 0;
  bool is_whole_module = false;
  std::vector<HeapEvent> events;
};

struct FileLocation {
  int32_t file = 0, function = 0, line = 0, column = 0;  // names from 1
};

struct StackFrame {
  int32_t location = 0, parent = 0;  // from 1; 0: none
};

class Program {
 public:
  // Reads the bytes of a message xla.HloProto.
  explicit Program(std::string_view proto);

  // Returns a computation by its id. Null: no computation has this id.
  const Computation* FindComputation(int64_t id) const;
  // Returns an instruction by its id, or by its name. Null: no instruction has it.
  const Instruction* Find(int64_t id) const;
  const Instruction* Find(std::string_view name) const;
  // Returns the computation that has an instruction. Null: no computation has it.
  const Computation* ComputationOf(const Instruction& instruction) const;
  // Returns the computation that the program begins with. Null: the program has no computation.
  const Computation* entry() const;
  // Returns the root of a computation: its last instruction where none is named.
  static const Instruction* RootOf(const Computation& computation);

  std::string_view name, entry_name;
  int64_t id = 0, entry_id = 0;
  bool is_whole = true;
  std::vector<Computation> computations;
  // The order in which the instructions of a computation run, by the computation's id.
  std::unordered_map<int64_t, std::vector<int64_t>> schedule;

  std::vector<std::string_view> file_names, function_names;
  std::vector<FileLocation> file_locations;
  std::vector<StackFrame> stack_frames;

  std::vector<LogicalBuffer> buffers;
  std::vector<BufferAlias> aliases;
  std::vector<BufferAllocation> allocations;
  std::vector<HeapTrace> heap_traces;

 private:
  struct Place {
    uint32_t computation = 0, instruction = 0;
  };

  void ReadModule(std::string_view message);
  void ReadBuffers(std::string_view message);
  void ReadStackFrames(std::string_view message);
  void Index();

  std::unordered_map<int64_t, Place> by_id_;
  std::unordered_map<std::string_view, Place> by_name_;
  std::unordered_map<int64_t, uint32_t> computation_by_id_;
};

}  // namespace gpuprof::analysis::hlo
