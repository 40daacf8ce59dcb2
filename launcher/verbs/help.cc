// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof help` and `gpuprof version`: words from the verb table and its option tables, and the
// licences of what the command contains.

#include "launcher/base/embedded.h"
#include "launcher/base/nearest.h"
#include "launcher/base/text.h"
#include "launcher/base/version.h"
#include "launcher/command.h"

namespace gpuprof::launcher {
namespace {

class Help : public Verb {
 public:
  void Declare(Options* options) override {
    options->Positional("VERB", &verb_,
                        "The verb to explain, or licences; default: a summary of all verbs", false);
    options->Positionals("WORD", &further_, "Words after the verb; they are ignored", false);
  }

  int Execute(const Options&) override {
    std::vector<std::string> names;
    for (const VerbEntry& entry : VerbTable()) {
      names.emplace_back(entry.name);
      if (verb_ != entry.name) continue;
      const std::unique_ptr<Verb> verb = entry.make();
      PutOut(DeclareVerb(entry, verb.get())->HelpText());
      return kExitOk;
    }
    if (verb_.empty()) {
      PutOut(OverviewText());
      return kExitOk;
    }
    if (verb_ == "licences" || verb_ == "licenses") {
      PutBytes(std::string(Notice()));
      return kExitOk;
    }
    Say("unknown verb '" + verb_ + "'." + DidYouMean(verb_, names) + " See 'gpuprof help'");
    return kExitUsage;
  }

 private:
  std::string verb_;
  std::vector<std::string> further_;  // "stats heap": a pass is explained with its verb
};

class Version : public Verb {
 public:
  void Declare(Options*) override {}
  int Execute(const Options&) override {
    PutOut(std::string("gpuprof ") + kVersion + "\n");
    return kExitOk;
  }
};

}  // namespace

std::unique_ptr<Verb> MakeHelp() { return std::make_unique<Help>(); }
std::unique_ptr<Verb> MakeVersion() { return std::make_unique<Version>(); }

}  // namespace gpuprof::launcher
