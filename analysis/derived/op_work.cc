// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See op_work.h. The places of inputs are those of PyTorch's native_functions.yaml.

#include "analysis/derived/op_work.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "analysis/derived/op_names.h"

namespace gpuprof::analysis {
namespace {

using Dims = std::vector<int64_t>;

// Products of shapes of a damaged file may be any number.
constexpr double kMost = 1e18;

std::optional<uint64_t> Whole(double value) {
  if (!(value >= 0 && value < kMost)) return std::nullopt;
  return static_cast<uint64_t>(value);
}

double Product(const Dims& dims) {
  double product = 1;
  for (const int64_t size : dims) product *= static_cast<double>(size);
  return product;
}

const Dims* DimsOf(const RowDetail& detail, size_t input, size_t rank) {
  if (input >= detail.inputs.size()) return nullptr;
  const Dims& dims = detail.inputs[input].dims;
  return dims.size() == rank ? &dims : nullptr;
}

// Matrices of the inputs `first` and the one behind it.
std::optional<uint64_t> MatrixFlops(const RowDetail& detail, size_t first, size_t rank) {
  const Dims* left = DimsOf(detail, first, rank);
  const Dims* right = DimsOf(detail, first + 1, rank);
  if (left == nullptr || right == nullptr || left->back() != (*right)[rank - 2])
    return std::nullopt;
  return Whole(2 * Product(*left) * static_cast<double>(right->back()));
}

// "[3, 3]" or "[3,3]".
Dims NumbersIn(const RowDetail& detail, size_t value) {
  Dims numbers;
  if (value >= detail.values.size()) return numbers;
  const std::string& text = detail.values[value];
  for (const char* at = text.data(); at < text.data() + text.size();) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(at, text.data() + text.size(), number);
    if (error == std::errc()) {
      numbers.push_back(number);
      at = end;
    } else {
      ++at;
    }
  }
  return numbers;
}

int64_t NumberAt(const Dims& numbers, size_t place, int64_t otherwise) {
  if (numbers.empty()) return otherwise;
  return numbers[std::min(place, numbers.size() - 1)];
}

// Where a convolution has its settings among the inputs.
struct Convolution {
  std::string_view type;
  size_t padding, stride, dilation;
};
constexpr Convolution kConvolutions[] = {
    {"cudnn_convolution", 2, 3, 4},
    {"cudnn_convolution_relu", 4, 3, 5},
    {"miopen_convolution", 3, 4, 5},
};

std::optional<uint64_t> ConvolutionFlops(const RowDetail& detail, const Convolution& places) {
  if (detail.inputs.size() < 2 || detail.values.size() <= places.dilation) return std::nullopt;
  const Dims& input = detail.inputs[0].dims;
  const Dims& weight = detail.inputs[1].dims;
  if (input.size() != weight.size() || input.size() < 3) return std::nullopt;
  const Dims padding = NumbersIn(detail, places.padding);
  const Dims stride = NumbersIn(detail, places.stride);
  const Dims dilation = NumbersIn(detail, places.dilation);
  double outputs = static_cast<double>(input[0]);
  for (size_t i = 2; i < input.size(); ++i) {
    const int64_t step = NumberAt(stride, i - 2, 1);
    if (step <= 0) return std::nullopt;
    const int64_t reach = NumberAt(dilation, i - 2, 1) * (weight[i] - 1) + 1;
    outputs *= static_cast<double>((input[i] + 2 * NumberAt(padding, i - 2, 0) - reach) / step + 1);
  }
  // The weight has a place for each output channel, input channel of a group, and element.
  return Whole(2 * outputs * Product(weight));
}

// convolution_backward(grad_output, input, weight, ..., output_mask)
std::optional<uint64_t> ConvolutionBackwardFlops(const RowDetail& detail) {
  constexpr size_t kMask = 10;
  // Without the mask it may be half.
  if (detail.inputs.size() < 3 || detail.values.size() <= kMask) return std::nullopt;
  const Dims& output = detail.inputs[0].dims;
  const Dims& weight = detail.inputs[2].dims;
  if (output.size() != weight.size() || output.size() < 3 || output[1] <= 0) return std::nullopt;
  const bool only_weight = detail.values[kMask].starts_with("[False");
  return Whole((only_weight ? 2 : 4) * Product(output) / static_cast<double>(output[1]) *
               Product(weight));
}

// Queries, keys and values are batch, position, head, element.
std::optional<uint64_t> AttentionFlops(const RowDetail& detail, size_t query, size_t causal,
                                       double passes) {
  const Dims* q = DimsOf(detail, query, 4);
  const Dims* k = DimsOf(detail, query + 1, 4);
  // Causal attention is half.
  if (q == nullptr || k == nullptr || causal >= detail.values.size()) return std::nullopt;
  const bool is_causal = detail.values[causal] == "True";
  return Whole(4 * passes * Product(*q) * static_cast<double>((*k)[1]) * (is_causal ? 0.5 : 1));
}

struct TypeSize {
  std::string_view type;
  double bytes;
};
constexpr TypeSize kSizes[] = {
    {"double", 8},
    {"c10::complex<float>", 8},
    {"c10::complex<double>", 16},
    {"float", 4},
    {"c10::BFloat16", 2},
    {"c10::Half", 2},
    {"c10::Float8_e4m3fn", 1},
    {"c10::Float8_e4m3fnuz", 1},
    {"c10::Float8_e5m2", 1},
    {"c10::Float8_e5m2fnuz", 1},
    {"long int", 8},
    {"long", 8},
    {"int", 4},
    {"short int", 2},
    {"short", 2},
    {"signed char", 1},
    {"unsigned char", 1},
    {"bool", 1},
};

std::optional<double> BytesOf(const OpInput& input) {
  const auto* size = std::find_if(std::begin(kSizes), std::end(kSizes),
                                  [&](const TypeSize& each) { return each.type == input.type; });
  if (size == std::end(kSizes)) return std::nullopt;
  return size->bytes * Product(input.dims);
}

constexpr std::string_view kComparisons[] = {"eq", "ne", "gt", "ge", "lt", "le", "logical_not"};
constexpr std::string_view kElementwise[] = {
    "abs",     "add",  "bitwise_and", "bitwise_or", "clamp", "clamp_max",  "clamp_min",
    "cos",     "div",  "erf",         "exp",        "gelu",  "leaky_relu", "log",
    "mul",     "neg",  "pow",         "reciprocal", "relu",  "rsqrt",      "rsub",
    "sigmoid", "silu", "sin",         "sqrt",       "sub",   "tanh",       "threshold_backward"};

bool IsOneOf(std::string_view type, std::span<const std::string_view> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

// Returns the shape of the output, by PyTorch's rule: sizes count from the last.
Dims Broadcast(const std::vector<const OpInput*>& inputs) {
  Dims output;
  for (const OpInput* input : inputs) {
    if (input->dims.size() > output.size())
      output.insert(output.begin(), input->dims.size() - output.size(), 1);
    const size_t offset = output.size() - input->dims.size();
    for (size_t i = 0; i < input->dims.size(); ++i)
      output[offset + i] = std::max(output[offset + i], input->dims[i]);
  }
  return output;
}

}  // namespace

std::optional<uint64_t> FlopsOf(std::string_view op, const RowDetail& detail) {
  if (detail.inputs.empty()) return std::nullopt;
  const std::string type = OpTypeOf(op);
  if (type == "mm" || type == "_scaled_mm") return MatrixFlops(detail, 0, 2);
  if (type == "addmm" || type == "_addmm_activation") return MatrixFlops(detail, 1, 2);
  if (type == "bmm") return MatrixFlops(detail, 0, 3);
  if (type == "baddbmm") return MatrixFlops(detail, 1, 3);
  if (type == "convolution_backward") return ConvolutionBackwardFlops(detail);
  if (type == "_flash_attention_forward") return AttentionFlops(detail, 0, 8, 1);
  if (type == "_flash_attention_backward") return AttentionFlops(detail, 1, 11, 2.5);
  for (const Convolution& convolution : kConvolutions) {
    if (type == convolution.type) return ConvolutionFlops(detail, convolution);
  }
  return std::nullopt;
}

std::optional<uint64_t> ElementwiseBytesOf(std::string_view op, const RowDetail& detail) {
  const std::string type = OpTypeOf(op);
  const bool compares = IsOneOf(type, kComparisons);
  const bool copies = type == "copy";
  if (!compares && !copies && !IsOneOf(type, kElementwise)) return std::nullopt;
  std::vector<const OpInput*> tensors;
  double bytes = 0;
  for (const OpInput& input : detail.inputs) {
    if (!input.is_tensor) continue;
    const auto own = BytesOf(input);
    if (!own) return std::nullopt;
    bytes += *own;
    tensors.push_back(&input);
  }
  if (tensors.empty()) return std::nullopt;
  if (copies) return Whole(bytes);  // the first input is the output
  OpInput output = *tensors.front();
  if (op.back() != '_') {
    output.dims = Broadcast(tensors);
    if (compares) output.type = "bool";
  }
  return Whole(bytes + BytesOf(output).value_or(0));
}

std::optional<uint64_t> ProductBytesOf(std::string_view op, const RowDetail& detail) {
  const std::string type = OpTypeOf(op);
  const bool adds = type == "addmm" || type == "_addmm_activation" || type == "baddbmm";
  const bool is_attention = type == "_flash_attention_forward";
  if (!adds && !is_attention && type != "mm" && type != "bmm") return std::nullopt;
  const size_t first = adds ? 1 : 0;
  if (detail.inputs.size() < first + 2) return std::nullopt;
  double bytes = 0;
  for (const OpInput& input : detail.inputs) {
    if (!input.is_tensor) continue;
    const auto own = BytesOf(input);
    if (!own) return std::nullopt;
    bytes += *own;
  }
  OpInput output = detail.inputs[first];
  if (!is_attention) {
    const Dims& right = detail.inputs[first + 1].dims;
    if (output.dims.empty() || right.empty()) return std::nullopt;
    output.dims.back() = right.back();
  }
  const auto own = BytesOf(output);
  return own ? Whole(bytes + *own) : std::nullopt;
}

bool IsTensorCoreEligible(std::string_view op) {
  constexpr std::string_view kTypes[] = {"mm",
                                         "addmm",
                                         "bmm",
                                         "baddbmm",
                                         "matmul",
                                         "linear",
                                         "einsum",
                                         "MatMul",
                                         "Conv2D",
                                         "Conv3D",
                                         "XlaDot",
                                         "XlaDotV2",
                                         "_scaled_mm",
                                         "_addmm_activation",
                                         "CudnnRNN",
                                         "dot_general",
                                         "conv_general_dilated"};
  constexpr std::string_view kParts[] = {"convolution", "conv1d",          "conv2d",
                                         "conv3d",      "attention",       "BatchMatMul",
                                         "CudnnRNNV",   "CudnnRNNForward", "CudnnRNNBackprop",
                                         "FusedMatMul", "Conv2DBackprop",  "DepthwiseConv2dNative"};
  const std::string type = OpTypeOf(op);
  return IsOneOf(type, kTypes) ||
         std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return type.find(part) != std::string::npos; });
}

}  // namespace gpuprof::analysis
