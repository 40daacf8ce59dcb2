// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What `gpuprof run` says at the end: five lines on stderr about what was recorded, what was lost,
// where it is and what to type next; or why nothing was recorded. Called once, after the command
// has ended.

#pragma once

#include <string>
#include <vector>

#include "launcher/bundle.h"
#include "launcher/program.h"
#include "launcher/settings.h"

namespace gpuprof::launcher {

struct RunFacts {
  std::string bundle;           // absolute
  bool bundle_is_gone = false;  // at the command's end
  std::string command_name;     // base name
  ChildResult child;
  FinishReport finish;
  // Alive, with gpuprof in them. Where nothing was recorded they may still be told to.
  std::vector<int32_t> survivors;
  Program program;
  std::vector<Setting> settings;
};

struct Summary {
  bool recorded = false;
  bool lost = false;  // something of it, or what it holds could not be read
  std::vector<std::string> lines;
};

Summary Summarize(const RunFacts& facts);

// Why a run recorded nothing, in order of what is certain. Pure.
std::string WhyNothing(const RunFacts& facts);

// Relative to the working directory where that is shorter, and never like an option.
std::string ShortPath(const std::string& path);

}  // namespace gpuprof::launcher
