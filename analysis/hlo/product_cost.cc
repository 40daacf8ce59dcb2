// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Costs of products, convolutions and the libraries' versions of both. See cost.h.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "analysis/hlo/cost.h"

namespace gpuprof::analysis::hlo {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMostPositions = int64_t{1} << 24;

int64_t At(const Shape& shape, int64_t dimension) {
  const bool is_there =
      dimension >= 0 && static_cast<uint64_t>(dimension) < shape.dimensions.size();
  return is_there ? shape.dimensions[static_cast<size_t>(dimension)] : -1;
}

int64_t At(const std::vector<int64_t>& numbers, size_t place) {
  return place < numbers.size() ? numbers[place] : -1;
}

bool IsSane(int64_t value) { return value >= -kMostPositions && value <= kMostPositions; }

// Returns how many pairs of an output and a kernel position meet an element of the input, in one
// dimension. -1: the numbers are none of a real convolution.
int64_t MeetingPairs(int64_t input, int64_t kernel, int64_t output, const WindowDimension& window) {
  const int64_t stride = std::max<int64_t>(window.stride, 1);
  const int64_t window_dilation = std::max<int64_t>(window.window_dilation, 1);
  const int64_t base_dilation = std::max<int64_t>(window.base_dilation, 1);
  for (const int64_t each : {input, kernel, output, stride, window_dilation, base_dilation,
                             window.padding_low, window.padding_high})
    if (!IsSane(each)) return -1;
  if (input < 0 || kernel < 0 || output < 0) return -1;
  if (base_dilation > 1 && kernel * output > kMostPositions) return -1;
  int64_t pairs = 0;
  for (int64_t place = 0; place < kernel; ++place) {
    const int64_t base = place * window_dilation - window.padding_low;
    if (base_dilation == 1) {
      // The outputs o with 0 <= o * stride + base < input.
      const int64_t first = base >= 0 ? 0 : (-base + stride - 1) / stride;
      const int64_t end = input > base ? (input - base + stride - 1) / stride : 0;
      pairs += std::max<int64_t>(std::min(end, output) - first, 0);
      continue;
    }
    for (int64_t each = 0; each < output; ++each) {
      const int64_t at = each * stride + base;
      pairs += at >= 0 && at % base_dilation == 0 && at / base_dilation < input ? 1 : 0;
    }
  }
  return pairs;
}

// Reads the numbers of a list, which may be texts.
std::vector<int64_t> NumbersOf(const Json& object, const char* key) {
  std::vector<int64_t> numbers;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return numbers;
  for (const Json& each : *found) {
    if (each.is_number_integer()) numbers.push_back(each.get<int64_t>());
    if (each.is_string())
      numbers.push_back(std::strtoll(each.get<std::string>().c_str(), nullptr, 10));
  }
  return numbers;
}

// Returns the contracted dimensions of the left side. Empty: the settings do not say.
std::vector<int64_t> ContractedOf(std::string_view backend_config) {
  const Json settings = Json::parse(backend_config, nullptr, false);
  if (!settings.is_object()) return {};
  const auto inner = settings.find("gemm_backend_config");
  const Json& config = inner == settings.end() ? settings : *inner;
  if (!config.is_object()) return {};
  const auto dot = config.find("dot_dimension_numbers");
  if (dot == config.end() || !dot->is_object()) return {};
  return NumbersOf(*dot, "lhs_contracting_dimensions");
}

}  // namespace

Cost Costs::Product(const Instruction& instruction, const Shape& output,
                    const std::vector<int64_t>& contracted, Cost cost) const {
  const Shape& left = ShapeOf(instruction, 0);
  double depth = 1;
  for (const int64_t dimension : contracted) {
    const int64_t size = At(left, dimension);
    if (size < 0) cost.knows_flops = false;
    depth *= static_cast<double>(std::max<int64_t>(size, 0));
  }
  cost.flops = Rounded(2 * static_cast<double>(output.elements()) * depth);
  return cost;
}

Cost Costs::Convolution(const Instruction& instruction, const Shape& input, const Shape& kernel,
                        const Shape& output, Cost cost) const {
  const ConvolutionDimensions& places = instruction.convolution;
  double pairs = 1;
  for (size_t i = 0; i < instruction.window.size(); ++i) {
    const int64_t met = MeetingPairs(
        At(input, At(places.input_spatial, i)), At(kernel, At(places.kernel_spatial, i)),
        At(output, At(places.output_spatial, i)), instruction.window[i]);
    if (met < 0) cost.knows_flops = false;
    pairs *= static_cast<double>(std::max<int64_t>(met, 0));
  }
  const int64_t features = At(input, places.input_feature);
  const int64_t results = At(output, places.output_feature);
  const int64_t batch = At(input, places.input_batch);
  if (features < 0 || results < 0 || batch < 0 || !instruction.has_convolution)
    cost.knows_flops = false;
  const int64_t of_group = features / std::max<int64_t>(instruction.feature_groups, 1);
  const int64_t in_group = batch / std::max<int64_t>(instruction.batch_groups, 1);
  cost.flops = cost.knows_flops
                   ? Rounded(2 * static_cast<double>(of_group) * static_cast<double>(results) *
                             static_cast<double>(in_group) * pairs)
                   : 0;
  return cost;
}

Cost Costs::CustomCall(const Instruction& instruction) const {
  const std::string_view target = instruction.custom_call_target;
  const bool is_product = target == "__cublas$gemm" || target.starts_with("__cublas$lt$matmul");
  const bool is_convolution = target.starts_with("__cudnn$conv");
  if ((!is_product && !is_convolution) || !is_of_gpu()) return Unknown();
  const bool is_of_xprof = is_of_xla();
  if (is_of_xprof && target == "__cublas$gemm") return Unknown();
  // The first part is the result; others are workspace and figures for later.
  const Shape& result = instruction.shape.is_tuple() && !instruction.shape.parts.empty()
                            ? instruction.shape.parts[0]
                            : instruction.shape;
  Cost cost = Moved(instruction);
  cost.bytes = cost.read + Size(result);
  cost.written = is_of_xprof && instruction.shape.is_tuple() ? 0 : Size(result);
  if (is_product) {
    const std::vector<int64_t> contracted = ContractedOf(instruction.backend_config);
    cost.knows_flops = !contracted.empty() || is_of_xprof;
    return Product(instruction, result, contracted, cost);
  }
  const Shape& first = ShapeOf(instruction, 0);
  const Shape& second = ShapeOf(instruction, 1);
  // The dimensions are those of the convolution whose gradient it is.
  if (target == "__cudnn$convBackwardInput" && !is_of_xprof)
    return Convolution(instruction, result, second, first, cost);
  if (target == "__cudnn$convBackwardFilter" && !is_of_xprof)
    return Convolution(instruction, first, result, second, cost);
  return Convolution(instruction, first, second, result, cost);
}

}  // namespace gpuprof::analysis::hlo
