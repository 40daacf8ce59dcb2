// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Answers of processes as JSON, for ctl and ps: {"processes": [{"pid": 1, ...}]}. Keys as in
// proto/control.h; counts are numbers.

#pragma once

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "launcher/control/control_client.h"
#include "proto/control.h"

namespace gpuprof::launcher {

inline nlohmann::ordered_json ProcessesJson(const std::vector<Answer>& answers) {
  nlohmann::ordered_json processes = nlohmann::ordered_json::array();
  for (const Answer& answer : answers) {
    nlohmann::ordered_json process = nlohmann::ordered_json::object();
    for (const auto& [key, value] : answer.values) {
      bool is_count = false;
      for (const char* count : {proto::kKeyPid, kKeyNamespacePid, proto::kKeyCaptures,
                                proto::kKeyEvents, proto::kKeyLost, proto::kKeySignal}) {
        is_count = is_count || key == count;
      }
      if (is_count) {
        process[key] = std::strtoull(value.c_str(), nullptr, 10);
      } else {
        process[key] = value;
      }
    }
    processes.push_back(std::move(process));
  }
  return {{"processes", std::move(processes)}};
}

}  // namespace gpuprof::launcher
