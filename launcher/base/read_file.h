// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads a whole file as text, or the names in a folder. The file or folder may vanish, or turn out
// to be something else, while it is read. This happens above all in /proc, where a process that
// ends makes read() fail. A stream's buffer read by its iterators throws then.
//
// One thread; nothing is thrown except when memory is lacking.

#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gpuprof::launcher {

// Reads a file. None: the file cannot be opened or read to its end, and errno says why.
std::optional<std::string> ReadFile(const std::string& path);

// Returns the names in a folder, sorted, without "." and ".."; empty if the folder cannot be
// opened.
std::vector<std::string> ListFolder(const std::string& path);
// Does the same for an open folder, which stays open.
std::vector<std::string> ListFolder(int folder);

}  // namespace gpuprof::launcher
