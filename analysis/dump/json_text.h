// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// JSON as `info` and `verify` print it. Any thread.

#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "analysis/analysis.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// Indented, with a line's end. Bytes of the recorded program that are not UTF-8 become U+FFFD.
inline std::string ToText(const nlohmann::ordered_json& json) {
  return PlainJson(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) +
         "\n";
}

inline nlohmann::ordered_json ToJson(const std::vector<InputFault>& faults) {
  auto list = nlohmann::ordered_json::array();
  for (const InputFault& fault : faults) {
    list.push_back({{"file", fault.file}, {"offset", fault.offset}, {"what", fault.what}});
  }
  return list;
}

}  // namespace gpuprof::analysis
