// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof export`: a bundle in the format of another tool, written piecewise.

#include "launcher/command.h"
#include "launcher/output_file.h"
#include "launcher/reading.h"

namespace gpuprof::launcher {
namespace {

std::string CheckFormat(std::string_view format) {
  return format == "chrome" ? "" : "'" + std::string(format) + "' is not a format; there is chrome";
}

class Export : public Verb {
 public:
  void Declare(Options* options) override {
    options->Positional(
        "BUNDLE", &bundle_,
        "A bundle directory, a .gpt file, or a trace of torch.profiler, TensorFlow or JAX");
    options->Value("-f,--format", &format_, "chrome",
                   "chrome: JSON as torch.profiler writes it, for HolisticTraceAnalysis, Perfetto "
                   "and chrome://tracing",
                   CheckFormat);
    options->Value("-o,--output", &output_, "FILE",
                   "The new file, compressed if its name ends in .gz; -: standard output");
    options->Number("--pid", &pid_, "PID", "Export only this process; 0: all");
  }

  int Execute(const Options&) override {
    if (output_.empty()) {
      Say("the file is missing: gpuprof export " + analysis::ShellWord(bundle_) +
          " -f chrome -o trace.json.gz");
      return kExitUsage;
    }
    std::shared_ptr<const analysis::Trace> trace;
    const int opened = OpenInput(bundle_, false, &trace);
    if (opened != kExitOk) return opened;
    OutputFile file;
    if (const std::string fault = file.Create(output_); !fault.empty()) {
      Say(fault);
      return kExitUsage;
    }
    analysis::ExportOptions options;
    options.pid = static_cast<int32_t>(pid_);
    options.name = output_;
    analysis::ExportReport report;
    const auto sink = [](void* context, std::string_view text) {
      return static_cast<OutputFile*>(context)->Write(text);
    };
    const int exported = ExitOf(analysis::ExportChrome(*trace, options, sink, &file, &report));
    if (exported != kExitOk) return exported;
    if (const std::string fault = file.Finish(); !fault.empty()) {
      Say(fault);
      return kExitUnreadable;
    }
    SayReport(report);
    return SayFaults(*trace);
  }

 private:
  static void SayReport(const analysis::ExportReport& report) {
    std::string tables;
    for (const auto& [table, rows] : report.left_out)
      tables += (tables.empty() ? "" : ", ") + FormatCount(rows) + " " + table;
    if (!tables.empty()) Say("the format has no place for these rows: " + tables);
    if (report.sampled_rows != 0)
      Say(Plural(report.sampled_rows, "row stands", "rows stand") +
          " for several; the format cannot tell for how many");
    if (report.ranks.size() > 1)
      Say("the file holds " + std::to_string(report.ranks.size()) +
          " ranks; for tools that read one rank a file, export each process with --pid");
  }

  std::string bundle_, output_, format_ = "chrome";
  uint32_t pid_ = 0;
};

}  // namespace

std::unique_ptr<Verb> MakeExport() { return std::make_unique<Export>(); }

}  // namespace gpuprof::launcher
