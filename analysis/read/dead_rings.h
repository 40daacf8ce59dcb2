// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Before a bundle is read: finishes the traces of processes that died, and tells which processes
// still live. One thread. Writes only through codec::Recover, and only where that is safe: never
// for a process that lives or may live on another machine.

#pragma once

#include <set>
#include <string>
#include <vector>

#include "analysis/model/trace.h"
#include "analysis/read/input_file.h"

namespace gpuprof::analysis {

struct RingReport {
  std::set<std::string> alive;  // stems
  std::vector<InputFault> faults;
};

// `may_write` false: nothing is merged, and what is left out becomes a fault. `files` gains traces
// that recovery made.
RingReport FinishDeadProcesses(BundleFiles* files, const proto::Bundle& manifest, bool may_write);

// Whether the trace `name` of a bundle should have an end: the run ended, so that whatever process
// is dead was finished, and nothing is left to finish this one with.
bool MustHaveEnd(const BundleFiles& files, const proto::Bundle& manifest, const std::string& name);
inline constexpr char kWithoutEnd[] = "the file has no end: it was cut, or its ring file is gone";

}  // namespace gpuprof::analysis
