// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// An input in the order for a process of this command's own, which shall open the same. The folder
// of a bundle that is held open is handed on as a descriptor. Any thread.

#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "launcher/reading/comparison.h"

namespace gpuprof::launcher {

// Paths are bytes, and JSON has none: each byte becomes a number.
nlohmann::json NumbersOf(const std::string& bytes);
// Throws what the library throws if it is none of these.
std::string BytesOf(const nlohmann::json& numbers);

// Writes an input, and the rules for families of kernels that were given.
nlohmann::json JsonOfInput(const PlacedInput& input);
// Reads an input. `held_folder`: the descriptor of the folder, if it is held. Throws what the
// library throws if it is no input. Reads the rules, too: `fault` is what is wrong with them.
PlacedInput InputOfJson(const nlohmann::json& order, int held_folder, std::string* fault);

}  // namespace gpuprof::launcher
