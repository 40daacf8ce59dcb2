// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/hlo/expression.h"

#include <algorithm>
#include <map>
#include <vector>

#include "analysis/hlo/message.h"

namespace gpuprof::analysis::hlo {
namespace {

constexpr size_t kMostBytes = 1'000'000;
constexpr size_t kBetweenCounts = 5;  // XLA numbers every fifth entry of a long list

std::string Numbers(const std::vector<int64_t>& numbers, char between = ',') {
  std::string text;
  for (const int64_t each : numbers) {
    if (!text.empty()) text += between;
    text += std::to_string(each);
  }
  return text;
}

std::string InBraces(const std::vector<int64_t>& numbers) { return "{" + Numbers(numbers) + "}"; }

// Returns what goes between two entries of a list, before the entry of the number.
std::string Between(size_t number) {
  if (number == 0) return {};
  return number % kBetweenCounts == 0 ? ", /*index=" + std::to_string(number) + "*/" : ", ";
}

std::string LayoutText(const Shape& shape) {
  std::string rest;
  for (const std::vector<int64_t>& tile : shape.tiles)
    rest += (rest.empty() ? "T(" : "(") + Numbers(tile) + ")";
  if (shape.element_bits != 0) rest += "E(" + std::to_string(shape.element_bits) + ")";
  if (shape.memory_space != 0) rest += "S(" + std::to_string(shape.memory_space) + ")";
  if (shape.dimensions.empty() && rest.empty()) return {};
  return "{" + Numbers(shape.minor_to_major) + (rest.empty() ? "" : ":" + rest) + "}";
}

std::string ShapeText(const Shape& shape) {
  std::string text;
  if (shape.is_tuple()) {
    for (size_t i = 0; i < shape.parts.size() && text.size() < kMostBytes; ++i)
      text += Between(i) + ShapeText(shape.parts[i]);
    return "(" + text + ")";
  }
  text = std::string(NameOf(shape.type)) + "[";
  for (size_t i = 0; i < shape.dimensions.size(); ++i) {
    if (i != 0) text += ',';
    if (i < shape.is_dynamic.size() && shape.is_dynamic[i]) text += "<=";
    text += std::to_string(shape.dimensions[i]);
  }
  text += ']';
  return shape.has_layout && BitsOf(shape.type) != 0 ? text + LayoutText(shape) : text;
}

// Returns "size=3x5 stride=2x2 pad=1_1x0_0 ...", without what is usual.
std::string WindowText(const std::vector<WindowDimension>& window) {
  std::string text;
  const auto add = [&](const char* name, bool is_shown, const auto& entry) {
    if (!is_shown) return;
    std::string list;
    for (const WindowDimension& each : window) list += (list.empty() ? "" : "x") + entry(each);
    text += (text.empty() ? "" : " ") + std::string(name) + "=" + list;
  };
  const auto any = [&](const auto& is_unusual) {
    return std::any_of(window.begin(), window.end(), is_unusual);
  };
  using Dimension = WindowDimension;
  add("size", true, [](const Dimension& each) { return std::to_string(each.size); });
  add("stride", any([](const Dimension& each) { return each.stride != 1; }),
      [](const Dimension& each) { return std::to_string(each.stride); });
  add("pad",
      any([](const Dimension& each) { return each.padding_low != 0 || each.padding_high != 0; }),
      [](const Dimension& each) {
        return std::to_string(each.padding_low) + "_" + std::to_string(each.padding_high);
      });
  add("lhs_dilate", any([](const Dimension& each) { return each.base_dilation != 1; }),
      [](const Dimension& each) { return std::to_string(each.base_dilation); });
  add("rhs_dilate", any([](const Dimension& each) { return each.window_dilation != 1; }),
      [](const Dimension& each) { return std::to_string(each.window_dilation); });
  add("rhs_reversal", any([](const Dimension& each) { return each.is_reversed; }),
      [](const Dimension& each) { return std::string(each.is_reversed ? "1" : "0"); });
  return text;
}

// Returns "b01f_01io->b01f".
std::string LabelsText(const ConvolutionDimensions& places) {
  const auto side = [](int64_t first, char first_label, int64_t second, char second_label,
                       const std::vector<int64_t>& spatial) {
    std::map<int64_t, std::string> labels;
    labels[first] = first_label;
    labels[second] = second_label;
    for (size_t i = 0; i < spatial.size(); ++i) labels[spatial[i]] = std::to_string(i);
    std::string text;
    for (const auto& [place, label] : labels) text += label;
    return text;
  };
  return side(places.input_batch, 'b', places.input_feature, 'f', places.input_spatial) + "_" +
         side(places.kernel_input_feature, 'i', places.kernel_output_feature, 'o',
              places.kernel_spatial) +
         "->" + side(places.output_batch, 'b', places.output_feature, 'f', places.output_spatial);
}

// What only the text of an instruction needs.
struct Details {
  bool is_constrained = false, has_side_effect = false, is_stable = false;
  std::vector<Shape> constraints;
  int64_t api_version = 0, fft_type = 0, exponent_bits = 0, mantissa_bits = 0;
  int64_t rng_algorithm = 0;
  std::string_view comparison_type, padding, gather, scatter;
  std::vector<std::string_view> aliases;  // xla.OutputOperandAliasing
  std::map<std::string_view, std::string_view> attributes;
};

Details DetailsOf(std::string_view bytes) {
  Details details;
  bool is_whole = true;
  const Message message(bytes, &is_whole);
  message.ForEach([&](const Field& field) {
    if (field.number == 56) details.is_constrained = field.value != 0;
    if (field.number == 57) details.constraints.push_back(ShapeOf(message.In(field)));
    if (field.number == 60) details.is_stable = field.value != 0;
    if (field.number == 65) details.has_side_effect = field.value != 0;
    if (field.number == 77) details.api_version = Signed(field);
    if (field.number == 31) details.fft_type = Signed(field);
    if (field.number == 18) details.exponent_bits = Signed(field);
    if (field.number == 19) details.mantissa_bits = Signed(field);
    if (field.number == 70) details.rng_algorithm = Signed(field);
    if (field.number == 74) details.aliases.push_back(field.bytes);
    if (field.number == 72) details.comparison_type = field.bytes;
    if (field.number == 21) details.padding = field.bytes;
    if (field.number == 33) details.gather = field.bytes;
    if (field.number == 48) details.scatter = field.bytes;
    if (field.number != 68) return;
    message.In(field).ForEach([&](const Field& entry) {
      std::string_view key, value;
      if (entry.number != 1) return;
      message.In(entry).ForEach([&](const Field& part) {
        if (part.number == 1) key = part.bytes;
        if (part.number == 2) value = part.bytes;
      });
      details.attributes[key] = value;
    });
  });
  return details;
}

std::string_view VersionText(int64_t version) {
  constexpr std::string_view kNames[] = {"", "", "API_VERSION_STATUS_RETURNING",
                                         "API_VERSION_STATUS_RETURNING_UNIFIED",
                                         "API_VERSION_TYPED_FFI"};
  return version >= 0 && version < 5 ? kNames[version] : std::string_view();
}

// Returns the lists of a message, by their numbers.
std::map<uint32_t, std::vector<int64_t>> ListsOf(std::string_view bytes) {
  std::map<uint32_t, std::vector<int64_t>> lists;
  bool is_whole = true;
  Message(bytes, &is_whole).ForEach([&](const Field& field) {
    AddNumbers(field, &lists[field.number]);
  });
  return lists;
}

// Returns "1_2x3_4_5": low, high and inner padding of each dimension.
std::string PaddingText(std::string_view bytes) {
  struct Padding {
    int64_t low = 0, high = 0, inner = 0;
  };
  std::vector<Padding> all;
  bool is_whole = true;
  const Message message(bytes, &is_whole);
  message.ForEach([&](const Field& field) {
    if (field.number != 1) return;
    Padding& one = all.emplace_back();
    message.In(field).ForEach([&](const Field& part) {
      if (part.number == 1) one.low = Signed(part);
      if (part.number == 2) one.high = Signed(part);
      if (part.number == 3) one.inner = Signed(part);
    });
  });
  const bool has_inner =
      std::any_of(all.begin(), all.end(), [](const Padding& each) { return each.inner != 0; });
  std::string text;
  for (const Padding& each : all) {
    text += (text.empty() ? "" : "x") + std::to_string(each.low) + "_" + std::to_string(each.high);
    if (has_inner) text += "_" + std::to_string(each.inner);
  }
  return text;
}

class Printer {
 public:
  Printer(const Program& program, const Instruction& instruction)
      : program_(program), instruction_(instruction) {}

  std::string Text() {
    text_ = "%" + std::string(instruction_.name) + " = " + ShapeText(instruction_.shape) + " " +
            std::string(instruction_.opcode) + "(";
    if (instruction_.opcode == "parameter") text_ += std::to_string(instruction_.parameter_number);
    for (size_t i = 0; i < instruction_.operands.size() && text_.size() < kMostBytes; ++i) {
      text_ += Between(i);
      if (const Instruction* operand = program_.Find(instruction_.operands[i]))
        text_ += ShapeText(operand->shape) + " %" + std::string(operand->name);
    }
    text_ += ")";
    AddAttributes();
    if (text_.size() > kMostBytes) text_.resize(kMostBytes);
    return std::move(text_);
  }

 private:
  void Add(std::string_view name, std::string_view value) {
    text_ += ", " + std::string(name) + "=" + std::string(value);
  }
  void AddList(std::string_view name, const std::vector<int64_t>& numbers) {
    if (!numbers.empty()) Add(name, InBraces(numbers));
  }
  std::string Called(size_t number) const {
    const Computation* called =
        number < instruction_.called_computations.size()
            ? program_.FindComputation(instruction_.called_computations[number])
            : nullptr;
    return called == nullptr ? "%" : "%" + std::string(called->name);
  }
  // Adds what operations on several devices have.
  void AddDevices();
  void AddPlaces(const Details& details);
  void AddAttributes();
  void AddCustomCall(const Details& details);

  const Program& program_;
  const Instruction& instruction_;
  std::string text_;
};

void Printer::AddCustomCall(const Details& details) {
  Add("custom_call_target", "\"" + std::string(instruction_.custom_call_target) + "\"");
  if (details.is_constrained) {
    std::string list;
    for (const Shape& shape : details.constraints)
      list += (list.empty() ? "" : ", ") + ShapeText(shape);
    Add("operand_layout_constraints", "{" + list + "}");
  }
  if (details.has_side_effect) Add("custom_call_has_side_effect", "true");
  std::string list;
  for (const std::string_view alias : details.aliases) {
    auto places = ListsOf(alias);
    list += (list.empty() ? "" : ", ") + InBraces(places[1]) + ": (" +
            std::to_string(places[2].empty() ? 0 : places[2][0]) + ", " + InBraces(places[3]) + ")";
  }
  if (!list.empty()) Add("output_to_operand_aliasing", "{" + list + "}");
  if (const std::string_view version = VersionText(details.api_version); !version.empty())
    Add("api_version", version);
  std::string called;
  for (size_t i = 0; i < instruction_.called_computations.size(); ++i)
    called += (called.empty() ? "" : ", ") + Called(i);
  if (!called.empty()) Add("called_computations", "{" + called + "}");
}

void Printer::AddDevices() {
  if (instruction_.channel_id != 0) Add("channel_id", std::to_string(instruction_.channel_id));
  std::string list;
  for (const std::vector<int64_t>& group : instruction_.replica_groups)
    list += (list.empty() ? "" : ",") + InBraces(group);
  if (!list.empty()) Add("replica_groups", "{" + list + "}");
}

void Printer::AddPlaces(const Details& details) {
  const bool is_gather = instruction_.opcode == "gather";
  auto lists = ListsOf(is_gather ? details.gather : details.scatter);
  Add(is_gather ? "offset_dims" : "update_window_dims", InBraces(lists[1]));
  Add(is_gather ? "collapsed_slice_dims" : "inserted_window_dims", InBraces(lists[2]));
  Add(is_gather ? "start_index_map" : "scatter_dims_to_operand_dims", InBraces(lists[3]));
  AddList(is_gather ? "operand_batching_dims" : "input_batching_dims", lists[5]);
  AddList(is_gather ? "start_indices_batching_dims" : "scatter_indices_batching_dims", lists[6]);
  const std::vector<int64_t>& vector = lists[4];
  Add("index_vector_dim", std::to_string(vector.empty() ? 0 : vector[0]));
  if (is_gather) Add("slice_sizes", InBraces(instruction_.gather_slice_sizes));
}

void Printer::AddAttributes() {
  const std::string_view opcode = instruction_.opcode;
  const Details details = DetailsOf(instruction_.message);
  if (!instruction_.window.empty()) Add("window", "{" + WindowText(instruction_.window) + "}");
  if (instruction_.has_convolution) Add("dim_labels", LabelsText(instruction_.convolution));
  if (instruction_.feature_groups > 1)
    Add("feature_group_count", std::to_string(instruction_.feature_groups));
  if (instruction_.batch_groups > 1)
    Add("batch_group_count", std::to_string(instruction_.batch_groups));
  if (opcode == "dot") {
    AddList("lhs_batch_dims", instruction_.dot.lhs_batch);
    Add("lhs_contracting_dims", InBraces(instruction_.dot.lhs_contracting));
    AddList("rhs_batch_dims", instruction_.dot.rhs_batch);
    Add("rhs_contracting_dims", InBraces(instruction_.dot.rhs_contracting));
  }
  AddDevices();
  if (opcode == "broadcast" || opcode == "concatenate" || opcode == "reduce" ||
      opcode == "transpose" || opcode == "reverse" || opcode == "sort" || opcode == "all-gather" ||
      opcode == "all-to-all" || opcode == "reduce-scatter" || opcode == "map")
    Add("dimensions", InBraces(instruction_.dimensions));
  if (opcode == "iota" && !instruction_.dimensions.empty())
    Add("iota_dimension", std::to_string(instruction_.dimensions[0]));
  if (opcode == "slice") {
    const bool has_strides =
        std::any_of(instruction_.slices.begin(), instruction_.slices.end(),
                    [](const SliceDimension& each) { return each.stride != 1; });
    std::string list;
    for (const SliceDimension& each : instruction_.slices) {
      list += (list.empty() ? "[" : ", [") + std::to_string(each.start) + ":" +
              std::to_string(each.limit);
      list += has_strides ? ":" + std::to_string(each.stride) + "]" : "]";
    }
    Add("slice", "{" + list + "}");
  }
  if (opcode == "dynamic-slice")
    Add("dynamic_slice_sizes", InBraces(instruction_.dynamic_slice_sizes));
  if (opcode == "get-tuple-element") Add("index", std::to_string(instruction_.tuple_index));
  if (opcode == "compare") {
    Add("direction", instruction_.comparison_direction);
    // Others are usual for their types.
    if (details.comparison_type == "TOTALORDER") Add("type", details.comparison_type);
  }
  if (opcode == "fft") {
    constexpr std::string_view kTypes[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
    if (details.fft_type >= 0 && details.fft_type < 4) Add("fft_type", kTypes[details.fft_type]);
    Add("fft_length", InBraces(instruction_.fft_length));
  }
  if (opcode == "reduce-precision") {
    Add("exponent_bits", std::to_string(details.exponent_bits));
    Add("mantissa_bits", std::to_string(details.mantissa_bits));
  }
  if (opcode == "rng-bit-generator") {
    constexpr std::string_view kAlgorithms[] = {"rng_default", "rng_three_fry", "rng_philox"};
    if (details.rng_algorithm >= 0 && details.rng_algorithm < 3)
      Add("algorithm", kAlgorithms[details.rng_algorithm]);
  }
  if (opcode == "pad") Add("padding", PaddingText(details.padding));
  if (opcode == "gather" || opcode == "scatter") AddPlaces(details);
  if (details.is_stable && opcode == "sort") Add("is_stable", "true");
  if (opcode == "fusion") {
    Add("kind", instruction_.fusion_kind);
    Add("calls", Called(0));
  } else if (opcode == "custom-call") {
    AddCustomCall(details);
  } else if (opcode == "while") {
    Add("condition", Called(1));
    Add("body", Called(0));
  } else if (opcode == "select-and-scatter") {
    Add("select", Called(0));
    Add("scatter", Called(1));
  } else if (opcode == "conditional") {
    std::string list;
    for (size_t i = 0; i < instruction_.called_computations.size(); ++i)
      list += (list.empty() ? "" : ", ") + Called(i);
    Add("branch_computations", "{" + list + "}");
  } else if (!instruction_.called_computations.empty()) {
    Add("to_apply", Called(0));
  }
  if (!instruction_.control_predecessors.empty()) {
    std::string names;
    for (const int64_t id : instruction_.control_predecessors)
      if (const Instruction* before = program_.Find(id))
        names += (names.empty() ? "%" : ", %") + std::string(before->name);
    Add("control-predecessors", "{" + names + "}");
  }
  if (details.attributes.empty()) return;
  std::string list;
  for (const auto& [key, value] : details.attributes)
    list += (list.empty() ? "" : ",") + std::string(key) + "=\"" + std::string(value) + "\"";
  Add("frontend_attributes", "{" + list + "}");
}

}  // namespace

std::string ExpressionOf(const Program& program, const Instruction& instruction) {
  return Printer(program, instruction).Text();
}

}  // namespace gpuprof::analysis::hlo
