// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See row_details.h.

#include "analysis/derived/row_details.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace gpuprof::analysis {
namespace {

using Json = nlohmann::json;

std::string TextOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<uint64_t> NumberOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  if (found->is_number_unsigned()) return found->get<uint64_t>();
  constexpr double kMost = 1.8e19;
  if (found->is_number_float() && found->get<double>() >= 0 && found->get<double>() < kMost)
    return static_cast<uint64_t>(found->get<double>());
  return std::nullopt;
}

bool IsListOfNumbers(const Json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(),
                                         [](const Json& each) { return each.is_number_integer(); });
}

// Values that PyTorch writes in place of a tensor's type.
bool IsTypeOfTensor(const std::string& type) {
  return !type.empty() && type != "Scalar" && type != "ScalarList" && type != "TensorList" &&
         type != "GenericList" && type != "None";
}

OpInput InputOf(const Json& dims, const Json& type) {
  OpInput input;
  if (type.is_string()) input.type = type.get<std::string>();
  if (IsListOfNumbers(dims)) {
    input.dims = dims.get<std::vector<int64_t>>();
    input.is_tensor = IsTypeOfTensor(input.type);
    return input;
  }
  if (!dims.is_array()) return input;
  for (size_t i = 0; i < dims.size(); ++i) {
    OpInput element;
    if (IsListOfNumbers(dims[i])) element.dims = dims[i].get<std::vector<int64_t>>();
    if (type.is_array() && i < type.size() && type[i].is_string())
      element.type = type[i].get<std::string>();
    element.is_tensor = IsListOfNumbers(dims[i]);
    input.elements.push_back(std::move(element));
  }
  return input;
}

void ReadInputs(const Json& object, RowDetail* detail) {
  const auto dims = object.find("Input Dims");
  const auto types = object.find("Input type");
  const auto values = object.find("Concrete Inputs");
  const bool has_dims = dims != object.end() && dims->is_array();
  const bool has_types = types != object.end() && types->is_array();
  if (has_dims) detail->shapes = dims->dump();
  if (has_types) detail->types = types->dump();
  if (has_dims && has_types && dims->size() == types->size()) {
    for (size_t i = 0; i < dims->size(); ++i)
      detail->inputs.push_back(InputOf((*dims)[i], (*types)[i]));
    // A tensor without its sizes: of damaged inputs nothing is taken.
    if (std::any_of(detail->inputs.begin(), detail->inputs.end(), [](const OpInput& input) {
          return !input.is_tensor && IsTypeOfTensor(input.type);
        }))
      detail->inputs.clear();
  }
  if (values == object.end() || !values->is_array()) return;
  for (const Json& value : *values)
    detail->values.push_back(value.is_string() ? value.get<std::string>() : value.dump());
}

// "bf16" of "(bf16[5,1024]{1,0:T(8,128)}, f32[])".
std::string ElementTypeOf(const std::string& shape) {
  const size_t start = shape.find_first_not_of('(');
  const size_t end = shape.find('[');
  return start < end && end != std::string::npos ? shape.substr(start, end - start) : "";
}

// Returns whether an operation begins or awaits another that runs at the same time: "copy-start" or
// "copy-done". Both have the counts of the whole, and neither lasts as long.
bool IsHalf(const std::string& hlo_category) {
  return hlo_category.ends_with("-start") || hlo_category.ends_with("-done");
}

RowDetail Read(const std::string& text) {
  RowDetail detail;
  const Json object = Json::parse(text, nullptr, false);
  if (!object.is_object()) return detail;
  ReadInputs(object, &detail);
  detail.hlo_op = TextOf(object, "hlo_op");
  detail.hlo_module = TextOf(object, "hlo_module");
  detail.hlo_category = TextOf(object, "hlo_category");
  detail.tf_op = TextOf(object, "tf_op");
  detail.name = TextOf(object, "name");
  detail.scope = TextOf(object, "scope");
  detail.annotation = TextOf(object, "annotation");
  detail.hlo_type = ElementTypeOf(TextOf(object, "shape_with_layout"));
  detail.shared_name = TextOf(object, "deduplicated_name");
  detail.program_id = NumberOf(object, "program_id");
  if (IsHalf(detail.hlo_category)) return detail;
  detail.flops = NumberOf(object, "flops");
  detail.bytes = NumberOf(object, "bytes_accessed");
  return detail;
}

}  // namespace

const RowDetail& RowDetails::Of(uint32_t id) {
  const auto [at, is_new] = known_.try_emplace(id);
  if (!is_new || id == 0) return at->second;
  const auto text = process_->strings.find(id);
  if (text != process_->strings.end()) at->second = Read(text->second);
  return at->second;
}

}  // namespace gpuprof::analysis
