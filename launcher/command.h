// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Defines a verb, the table of all verbs, and the dispatch over it. A new verb is one file in
// verbs/ and one line in the table.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "launcher/base/options.h"

namespace gpuprof::launcher {

class Verb {
 public:
  virtual ~Verb() = default;
  virtual void Declare(Options* options) = 0;
  // Returns the process's exit status.
  virtual int Execute(const Options& options) = 0;
  // Returns where the thresholds in [advice] of gpuprof.toml go. Null: the verb gives no advice.
  // Called after the command line was parsed.
  virtual std::map<std::string, double>* Thresholds() { return nullptr; }
};

struct VerbEntry {
  const char* name;
  const char* arguments;  // of the usage line: "[OPTIONS] BUNDLE"
  const char* summary;    // one line
  const char* footer;     // examples, exit codes
  std::unique_ptr<Verb> (*make)();
};

const std::vector<VerbEntry>& VerbTable();

// Returns the options of a verb, declared on `verb`.
std::unique_ptr<Options> DeclareVerb(const VerbEntry& entry, Verb* verb);

// Runs the whole command, from the words behind the program's name. Returns the exit status.
int Dispatch(const std::vector<std::string>& words);

// Returns the overview that `gpuprof help` prints.
std::string OverviewText();

// Prints what fits at the last of the words behind `gpuprof __complete`: the scripts of `gpuprof
// completions` ask so. Returns the exit status.
int Complete(const std::vector<std::string>& words);

std::unique_ptr<Verb> MakeRun();
std::unique_ptr<Verb> MakeCtl();
std::unique_ptr<Verb> MakeAttach();
std::unique_ptr<Verb> MakeDetach();
std::unique_ptr<Verb> MakePs();
std::unique_ptr<Verb> MakeAgent();
std::unique_ptr<Verb> MakeCapture();
std::unique_ptr<Verb> MakeAdvise();
std::unique_ptr<Verb> MakeTry();
std::unique_ptr<Verb> MakeDiff();
std::unique_ptr<Verb> MakeBaseline();
std::unique_ptr<Verb> MakeSchema();
std::unique_ptr<Verb> MakeStats();
std::unique_ptr<Verb> MakeInfo();
std::unique_ptr<Verb> MakeInject();
std::unique_ptr<Verb> MakeInstall();
std::unique_ptr<Verb> MakeVerify();
std::unique_ptr<Verb> MakeDump();
std::unique_ptr<Verb> MakeQuery();
std::unique_ptr<Verb> MakeExport();
std::unique_ptr<Verb> MakeImport();
std::unique_ptr<Verb> MakeReport();
std::unique_ptr<Verb> MakeServe();
std::unique_ptr<Verb> MakeMcp();
std::unique_ptr<Verb> MakeRecover();
std::unique_ptr<Verb> MakeDoctor();
std::unique_ptr<Verb> MakeEnv();
std::unique_ptr<Verb> MakeCompletions();
std::unique_ptr<Verb> MakeHelp();
std::unique_ptr<Verb> MakeVersion();

}  // namespace gpuprof::launcher
