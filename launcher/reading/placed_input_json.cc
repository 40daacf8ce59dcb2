// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "launcher/reading/placed_input_json.h"

#include <memory>
#include <utility>

#include "launcher/reading/given_rules.h"
#include "launcher/reading/reading.h"
#include "proto/codec/open_regular.h"

namespace gpuprof::launcher {

nlohmann::json NumbersOf(const std::string& bytes) {
  nlohmann::json numbers = nlohmann::json::array();
  for (const char byte : bytes) numbers.push_back(static_cast<unsigned char>(byte));
  return numbers;
}

std::string BytesOf(const nlohmann::json& numbers) {
  std::string bytes;
  for (const nlohmann::json& number : numbers)
    bytes += static_cast<char>(number.get<unsigned char>());
  return bytes;
}

nlohmann::json JsonOfInput(const PlacedInput& input) {
  nlohmann::json files = nlohmann::json::array();
  for (const auto& [file, bytes] : input.origin.file_bytes)
    files.push_back({{"name", NumbersOf(file)}, {"bytes", bytes}});
  return {{"path", NumbersOf(input.path.path)},
          {"named_bytes", input.path.named_bytes},
          {"is_held", input.path.held != nullptr},
          {"origin", NumbersOf(input.origin.path)},
          {"files", std::move(files)},
          {"kernel_rules", NumbersOf(GivenKernelRulesPath())}};
}

PlacedInput InputOfJson(const nlohmann::json& order, int held_folder, std::string* fault) {
  PlacedInput input;
  input.path.path = BytesOf(order.at("path"));
  input.path.named_bytes = order.at("named_bytes").get<size_t>();
  if (order.at("is_held").get<bool>())
    input.path.held = std::make_shared<const codec::OwnedFile>(held_folder);
  input.origin.path = BytesOf(order.at("origin"));
  for (const nlohmann::json& file : order.at("files"))
    input.origin.file_bytes[BytesOf(file.at("name"))] = file.at("bytes").get<uint64_t>();
  const std::string rules = BytesOf(order.at("kernel_rules"));
  if (!rules.empty()) *fault = UseKernelRules(rules);
  return input;
}

}  // namespace gpuprof::launcher
