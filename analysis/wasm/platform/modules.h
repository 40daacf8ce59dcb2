// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The names that a report carries in place of files of programs.

#pragma once

#include <string>

namespace gpuprof::analysis {

// Takes the names of a folder's names.pb.zst. Without that file, and if it makes no sense, no
// address has a name.
void UseCodeNames(const std::string& folder);

}  // namespace gpuprof::analysis
