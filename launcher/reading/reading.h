// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the reading verbs share: opening an input, words about its faults, and the exit status that
// follows from both.

#pragma once

#include <sys/stat.h>

#include <memory>
#include <string>
#include <string_view>

#include "analysis/analysis.h"
#include "launcher/base/options.h"
#include "launcher/base/text.h"

namespace gpuprof::launcher {

inline int ExitOf(const analysis::Error& error) {
  if (!error) return kExitOk;
  Say(error.message);
  return error.kind == analysis::ErrorKind::kUsage ? kExitUsage : kExitUnreadable;
}

inline constexpr char kSymfsHelp[] =
    "Look for the files of programs and libraries under DIR first: DIR and their recorded path";

// Checks the value of an option that names a folder.
inline std::string CheckFolder(std::string_view path) {
  struct stat status;
  const std::string name(path);
  if (stat(name.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return "";
  return "'" + name + "' is not a folder";
}

// Returns the path without slashes at its end: recorded paths begin with a slash.
inline std::string WithoutSlash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path == "/" ? "" : path;
}

// Reads a file of rules for families of kernels. All recordings that this command opens from then
// on have them. Returns what is wrong with the file; empty: nothing. One thread, before the first
// one is opened.
std::string UseKernelRules(std::string_view path);
// Declares --kernel-rules.
void DeclareKernelRules(Options* options, std::string* path);
// Returns the rules for OpenOptions; null: none were given.
std::shared_ptr<const analysis::KernelRules> GivenKernelRules();

// Opens an input, with the rows of these tables alone, or with sums (OpenOptions). Returns kExitOk
// and fills `trace`, or says the cause and returns the exit status.
inline int OpenInput(const analysis::InputPath& path, bool headers_only,
                     std::shared_ptr<const analysis::Trace>* trace,
                     const analysis::TableSet& tables = analysis::TableSet::All(),
                     uint64_t sums_above_rows = 0) {
  analysis::OpenOptions options;
  options.headers_only = headers_only;
  options.tables = tables;
  options.sums_above_rows = sums_above_rows;
  options.kernel_rules = GivenKernelRules();
  return ExitOf(analysis::Open(path, options, trace));
}

// Says every fault of an input whose readable part was shown; kExitUnreadable if there was one.
inline int SayFaults(const analysis::BundleFacts& facts) {
  constexpr size_t kMost = 20;
  for (size_t i = 0; i < facts.faults.size() && i < kMost; ++i) Say(facts.faults[i]);
  if (facts.faults.size() > kMost) {
    Say("and " + Plural(facts.faults.size() - kMost, "fault", "faults") +
        " more; see 'gpuprof verify'");
  }
  return facts.faults.empty() ? kExitOk : kExitUnreadable;
}
inline int SayFaults(const analysis::Trace& trace) { return SayFaults(analysis::FactsOf(trace)); }

}  // namespace gpuprof::launcher
