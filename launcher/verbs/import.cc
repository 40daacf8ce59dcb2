// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof import`: a trace of another tool as a bundle, which is smaller and opens faster.

#include <cerrno>
#include <cstring>

#include "launcher/base/version.h"
#include "launcher/command.h"
#include "launcher/reading/reading.h"
#include "launcher/record/bundle.h"
#include "proto/contract.h"

namespace gpuprof::launcher {
namespace {

class Import : public Verb {
 public:
  void Declare(Options* options) override {
    options->Positional(
        "TRACE", &trace_,
        "A trace of torch.profiler (.json, .json.gz), of TensorFlow or JAX (.xplane.pb), an export "
        "of Nsight Systems (.sqlite), JSON of rocprofv3, or a folder of them");
    options->Value("-o,--output", &output_, "DIR", "The new bundle; an existing one must be empty");
  }

  int Execute(const Options&) override {
    if (output_.empty()) {
      Say("the new bundle is missing: gpuprof import " + analysis::ShellWord(trace_) + " -o run1");
      return kExitUsage;
    }
    // Reading may take minutes, so the place is checked first.
    BundleDirectory bundle;
    if (const std::string fault = bundle.Open(output_); !fault.empty()) {
      Say(fault);
      return kExitUsage;
    }
    const int status = Fill(&bundle);
    if (!is_whole_) {
      for (const std::string& name : bundle.folder().List()) bundle.folder().Remove(name);
      bundle.RemoveIfUnused();
    }
    return status;
  }

 private:
  int Fill(BundleDirectory* bundle) {
    std::shared_ptr<const analysis::Trace> trace;
    const int opened = OpenInput(trace_, false, &trace);
    if (opened != kExitOk) return opened;
    analysis::ImportOptions options;
    options.folder = bundle->path();
    options.writer_version = std::string("gpuprof ") + kVersion;
    analysis::ImportReport report;
    const int written = ExitOf(analysis::WriteBundle(*trace, options, &report));
    if (written != kExitOk) return written;
    if (const int error = bundle->folder().Replace(proto::kBundleFile, report.manifest)) {
      Say(bundle->path() + "/" + proto::kBundleFile + " cannot be written: " +
          std::strerror(error) + "; free some space, or name another place with -o DIR");
      return kExitUnreadable;
    }
    is_whole_ = true;
    const int status = SayFaults(*trace);
    Say(Plural(report.rows, "row", "rows") + " in " + analysis::ShellWord(output_) + ", " +
        FormatBytes(report.bytes + report.manifest.size()) + "; next: gpuprof stats overview " +
        analysis::ShellWord(output_));
    return status;
  }

  std::string trace_, output_;
  bool is_whole_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeImport() { return std::make_unique<Import>(); }

}  // namespace gpuprof::launcher
