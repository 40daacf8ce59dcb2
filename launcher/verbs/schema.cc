// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof schema`: the tables of the trace format, and the results of passes. Reads no file.

#include "launcher/command.h"
#include "launcher/reading/reading.h"

namespace gpuprof::launcher {
namespace {

class Schema : public Verb {
 public:
  void Declare(Options* options) override { options->Flag("--json", &json_, "Print JSON"); }

  int Execute(const Options&) override {
    PutOut(json_ ? analysis::SchemaJson() : analysis::SchemaText());
    return kExitOk;
  }

 private:
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeSchema() { return std::make_unique<Schema>(); }

}  // namespace gpuprof::launcher
