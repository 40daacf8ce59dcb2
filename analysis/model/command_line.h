// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A recorded command as one line. A POSIX shell would read the line as the same words. Words with
// control characters or bytes that are not UTF-8 use $'...', which bash and zsh read. Pure; any
// thread.

#pragma once

#include <string>

#include "analysis/analysis.h"

namespace gpuprof::analysis {

// Joins the words (ShellWord) of any range of strings with blanks.
template <typename Words>
std::string CommandLine(const Words& words) {
  std::string line;
  for (const auto& word : words) {
    if (!line.empty()) line += ' ';
    line += ShellWord(word);
  }
  return line;
}

}  // namespace gpuprof::analysis
