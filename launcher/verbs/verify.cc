// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof verify`: a full check of an input; faults are its data.

#include <string>
#include <vector>

#include "launcher/command.h"
#include "launcher/reading/reading.h"

namespace gpuprof::launcher {
namespace {

class Verify : public Verb {
 public:
  void Declare(Options* options) override {
    options->Positionals("BUNDLE", &bundles_, "Bundle directories or .gpt files");
    options->Flag("--json", &json_, "Print JSON");
  }

  int Execute(const Options&) override {
    const bool many = bundles_.size() > 1;
    bool ok = true;
    for (size_t i = 0; i < bundles_.size(); ++i) {
      const analysis::VerifyReport report = analysis::Verify(bundles_[i]);
      ok = ok && report.ok;
      if (!json_) {
        PutOut((many ? analysis::OneLine(bundles_[i]) + ":\n" : "") + report.text);
        continue;
      }
      // Several reports are one array.
      if (many) PutOut(i == 0 ? "[\n" : ",\n");
      PutOut(report.json);
    }
    if (json_ && many) PutOut("]\n");
    return ok ? kExitOk : kExitUnreadable;
  }

 private:
  std::vector<std::string> bundles_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeVerify() { return std::make_unique<Verify>(); }

}  // namespace gpuprof::launcher
