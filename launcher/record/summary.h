// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Makes the text that `gpuprof run` says at the end: five lines on stderr. They say what was
// recorded, what was lost, where it is and what to type next; or why nothing was recorded. Called
// once, after the command has ended.

#pragma once

#include <string>
#include <vector>

#include "launcher/base/settings.h"
#include "launcher/record/bundle.h"
#include "launcher/record/program.h"

namespace gpuprof::launcher {

struct RunFacts {
  std::string bundle;           // absolute
  std::string shown_bundle;     // for messages; empty: ShortPath(bundle)
  std::string folder;           // where its files are read; empty: by its path
  bool bundle_is_gone = false;  // at the command's end
  std::string command_name;     // base name
  std::string heading;          // the first line; empty: how the command ended
  std::string rank;             // "rank 3 of 8"; empty: not known
  bool is_joined = false;       // shown_bundle is of all ranks, bundle of this one
  ChildResult child;
  FinishReport finish;
  // Processes that are alive and have gpuprof in them. If nothing was recorded yet, recording may
  // still begin in them.
  std::vector<int32_t> survivors;
  // Sentences about processes that could not record.
  std::vector<std::string> obstacles;
  Program program;
  std::vector<Setting> settings;
  std::vector<std::string> unrecorded;  // sentences about programs that ran without gpuprof
};

struct Summary {
  bool recorded = false;
  bool lost = false;  // records are missing, or the bundle could not be read whole
  std::vector<std::string> lines;
};

Summary Summarize(const RunFacts& facts);

// Returns what a rank says whose job has another rank to speak for it: nothing, unless something
// was lost or went wrong. `is_fine`: neither did to the recording.
std::vector<std::string> OfOtherRank(const RunFacts& facts, const Summary& summary, bool is_fine);

// Returns why a run recorded nothing, in order of what is certain. Pure.
std::string WhyNothing(const RunFacts& facts);

// Returns a path relative to the working directory if that is shorter. The path never looks like an
// option.
std::string ShortPath(const std::string& path);

}  // namespace gpuprof::launcher
