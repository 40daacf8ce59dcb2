// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Compresses a whole text into one zstd frame that tells its size. For results that a page carries;
// chunks of a trace have a writer of their own. Any thread. Never part of the injected objects.

#pragma once

#include <string>
#include <string_view>

namespace gpuprof::codec {

// Returns the frame. Empty: there is not enough memory.
std::string CompressText(std::string_view text);

}  // namespace gpuprof::codec
