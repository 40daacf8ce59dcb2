// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof info`: what a bundle holds, from its headers and tables.

#include "launcher/command.h"
#include "launcher/reading/reading.h"

namespace gpuprof::launcher {
namespace {

class Info : public Verb {
 public:
  void Declare(Options* options) override {
    options->Positional("BUNDLE", &bundle_,
                        "A bundle directory, a .gpt file, or a trace of torch.profiler, "
                        "TensorFlow, JAX, Nsight Systems or rocprofv3");
    options->Flag("--json", &json_, "Print JSON");
  }

  int Execute(const Options&) override {
    std::shared_ptr<const analysis::Trace> trace;
    const int opened = OpenInput(bundle_, true, &trace);
    if (opened != kExitOk) return opened;
    std::string text = json_ ? analysis::DescribeJson(*trace) : analysis::DescribeText(*trace);
    if (!text.empty() && text.back() != '\n') text += '\n';
    PutOut(text);
    return SayFaults(*trace);
  }

 private:
  std::string bundle_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeInfo() { return std::make_unique<Info>(); }

}  // namespace gpuprof::launcher
