// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A whole file as text, and what a folder holds, for those that may go, or turn out to be none,
// while they are read: those of /proc above all, where a process that ends makes read() fail. A
// stream's buffer read by its iterators throws then.
//
// One thread; nothing is thrown but for want of memory.

#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gpuprof::launcher {

// None: it cannot be opened or read to its end, and errno says why.
std::optional<std::string> ReadFile(const std::string& path);

// The names in it, "." and ".." too; none where it cannot be opened.
std::vector<std::string> ListFolder(const std::string& path);

}  // namespace gpuprof::launcher
