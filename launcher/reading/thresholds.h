// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads thresholds of advice from the option --threshold and from [advice] in gpuprof.toml. Each
// function returns an empty string, or what is wrong and what to write instead. Pure.

#pragma once

#include <map>
#include <string>
#include <string_view>

namespace gpuprof::launcher {

// Adds one threshold by its full name, "LA-001.min_share". The value is "20%" or "0.2" for a part,
// "10us" for a time, "64KiB" for a size, and a number for the others.
std::string ParseThreshold(const std::string& name, std::string_view value,
                           std::map<std::string, double>* thresholds);

// Adds the thresholds of "LA-001.min_share=20%,LA-002.max_op=5us".
std::string ParseThresholds(std::string_view text, std::map<std::string, double>* thresholds);

// Checks the value of the option.
std::string CheckThresholds(std::string_view text);

}  // namespace gpuprof::launcher
