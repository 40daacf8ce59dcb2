// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The colors of XProf's memory viewer, which are a part of its page. Pure.

#pragma once

#include <cstddef>
#include <string>

namespace gpuprof::analysis::xprof {

// Returns the color of a number, as "#e91e63". After the last color comes the first one again.
std::string ViewerColor(size_t number);

}  // namespace gpuprof::analysis::xprof
