// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof verify`: a full check of an input; faults are its data.

#include "launcher/command.h"
#include "launcher/reading.h"

namespace gpuprof::launcher {
namespace {

class Verify : public Verb {
 public:
  void Declare(Options* options) override {
    options->Positional("BUNDLE", &bundle_, "A bundle directory or a .gpt file");
    options->Flag("--json", &json_, "Print JSON");
  }

  int Execute(const Options&) override {
    const analysis::VerifyReport report = analysis::Verify(bundle_);
    std::string text = json_ ? report.json : report.text;
    if (!text.empty() && text.back() != '\n') text += '\n';
    PutOut(text);
    return report.ok ? kExitOk : kExitUnreadable;
  }

 private:
  std::string bundle_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeVerify() { return std::make_unique<Verify>(); }

}  // namespace gpuprof::launcher
