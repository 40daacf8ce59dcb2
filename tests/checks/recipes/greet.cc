// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof greet`: prints a greeting. A template for a new verb.

#include "launcher/base/text.h"
#include "launcher/command.h"

namespace gpuprof::launcher {
namespace {

class Greet : public Verb {
 public:
  void Declare(Options* options) override {
    options->Positional("NAME", &name_, "Who is greeted");
    options->Flag("--loud", &loud_, "Greet with an exclamation mark");
  }

  int Execute(const Options&) override {
    PutOut("Hello, " + name_ + (loud_ ? "!\n" : ".\n"));
    return kExitOk;
  }

 private:
  std::string name_;
  bool loud_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeGreet() { return std::make_unique<Greet>(); }

}  // namespace gpuprof::launcher
