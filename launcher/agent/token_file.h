// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The file with the token of an agent: one line of letters and digits. Both ends read it. One
// thread.

#pragma once

#include <string>

namespace gpuprof::launcher {

// Reads the token. Refuses a file of another user's, and one that others may read. Returns empty,
// or cause and fix.
std::string ReadTokenFile(const std::string& path, std::string* token);

}  // namespace gpuprof::launcher
