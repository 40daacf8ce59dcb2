// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Where the rules for families of kernels come from, for a process that shall have the same ones.
// Any thread, after the command line was read.

#pragma once

#include <string>

namespace gpuprof::launcher {

// Returns the path of the file that UseKernelRules (reading.h) has read; empty: none.
const std::string& GivenKernelRulesPath();

}  // namespace gpuprof::launcher
