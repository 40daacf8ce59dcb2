// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// gpuprof itself records the inputs of PyTorch's operations in short windows: some operations have
// them (OpTable::detail), and equal ones outside of the windows do not. Imported traces have those
// of all operations. Pure; any thread.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// The name of the values in OpValueTable that tell inputs.
inline constexpr std::string_view kWindowedInputs = "torch_inputs";

// Returns the string id of this name. 0: no inputs were recorded in windows.
inline uint32_t WindowedInputsName(const Process& process) {
  const auto found =
      std::find_if(process.strings.begin(), process.strings.end(),
                   [](const auto& string) { return string.second == kWindowedInputs; });
  return found == process.strings.end() ? 0 : found->first;
}

}  // namespace gpuprof::analysis
