// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// JSON as the verbs print it that make it themselves: ps, ctl, env and doctor. Any thread.

#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "analysis/analysis.h"

namespace gpuprof::launcher {

// Returns indented text with a line's end. Paths, names of programs and variables are bytes. Bytes
// that are not UTF-8 become U+FFFD; the library would throw.
inline std::string JsonText(const nlohmann::ordered_json& json) {
  return analysis::PlainJson(
             json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) +
         "\n";
}

}  // namespace gpuprof::launcher
