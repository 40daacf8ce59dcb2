// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A recorded command as one line that a POSIX shell (bash, zsh; $'...' where a word holds control
// characters or is no UTF-8) would read as the same words. Pure; any thread.

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
