// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Types of tensors by TensorFlow's numbers. Pure functions, any thread.

#pragma once

#include <cstdint>
#include <string>

namespace gpuprof::analysis::import {

// Returns the name of a type as XProf writes it: "float", "half", "int32_ref".
std::string NameOfDataType(int64_t number);

}  // namespace gpuprof::analysis::import
