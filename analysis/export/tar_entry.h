// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// An archive of TAR (POSIX ustar) for files that are in memory. Pure.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuprof::analysis {

// Returns what stands before the bytes of a file: its name, which is short, and its size. The owner
// and the time are left empty. So equal files make equal archives.
std::string TarHeader(std::string_view name, uint64_t bytes);
// Returns what stands behind the bytes of a file.
std::string TarPadding(uint64_t bytes);
// Returns the end of an archive.
std::string TarEnd();

}  // namespace gpuprof::analysis
