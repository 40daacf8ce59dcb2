// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof dump`: every row as text, piecewise, so that a bundle of any size can be piped.

#include "launcher/command.h"
#include "launcher/reading/reading.h"

namespace gpuprof::launcher {
namespace {

class Dump : public Verb {
 public:
  void Declare(Options* options) override {
    options->Positional("BUNDLE", &bundle_,
                        "A bundle directory, a .gpt file, or a trace of torch.profiler, "
                        "TensorFlow, JAX, Nsight Systems or rocprofv3");
    options->Number("--pid", &pid_, "PID", "Show only this process; 0: all");
    options->Flag("--no-symbols", &no_symbols_, "Leave program counters unnamed");
    options->Value("--symfs", &symfs_, "DIR", kSymfsHelp, CheckFolder);
  }

  int Execute(const Options&) override {
    std::shared_ptr<const analysis::Trace> trace;
    const int opened = OpenInput(bundle_, false, &trace);
    if (opened != kExitOk) return opened;
    analysis::PassOptions options;
    options.pid = static_cast<int32_t>(pid_);
    options.symbolize = !no_symbols_;
    options.symfs = WithoutSlash(symfs_);
    const auto sink = [](void*, std::string_view text) {
      PutOut(text);
      return true;
    };
    const int dumped = ExitOf(analysis::Dump(*trace, options, sink, nullptr));
    return dumped != kExitOk ? dumped : SayFaults(*trace);
  }

 private:
  std::string bundle_, symfs_;
  uint32_t pid_ = 0;
  bool no_symbols_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeDump() { return std::make_unique<Dump>(); }

}  // namespace gpuprof::launcher
