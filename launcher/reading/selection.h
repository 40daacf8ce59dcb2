// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The values of options that select a part of a recording: --window, --steps, --device.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof::launcher {

// Reads the value of an option. Returns an error's text, or "". So do the others.
std::string ParseWindow(std::string_view text, std::optional<std::pair<int64_t, int64_t>>* window);
// Reads a window of moments since 1970, in seconds and as `date +%s.%N` prints them:
// "@1764370000.5-@1764370005". Returns an error's text, or "".
std::string ParseClockWindow(std::string_view text, std::pair<int64_t, int64_t>* window);
std::string ParseSteps(std::string_view text, std::optional<std::pair<uint64_t, uint64_t>>* steps);
std::string ParseDevices(std::string_view text, std::vector<uint32_t>* devices);

}  // namespace gpuprof::launcher
