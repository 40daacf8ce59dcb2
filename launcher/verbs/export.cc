// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof export`: a bundle in the format of another tool, written piecewise.

#include "launcher/base/output_file.h"
#include "launcher/base/output_folder.h"
#include "launcher/command.h"
#include "launcher/reading/reading.h"
#include "launcher/reading/selection.h"

namespace gpuprof::launcher {
namespace {

std::string CheckFormat(std::string_view format) {
  return format == "chrome" || format == "xspace"
             ? ""
             : "'" + std::string(format) + "' is not a format; there are chrome and xspace";
}

// Reads a window by the bundle's time, or by the clock.
std::string ReadWindow(std::string_view text, analysis::ExportOptions* options) {
  options->is_clock_window = text.starts_with('@');
  if (!options->is_clock_window) return ParseWindow(text, &options->window);
  options->window.emplace();
  return ParseClockWindow(text, &*options->window);
}

std::string CheckWindow(std::string_view text) {
  analysis::ExportOptions options;
  return ReadWindow(text, &options);
}

class Export : public Verb {
 public:
  void Declare(Options* options) override {
    options->Positional(
        "BUNDLE", &bundle_,
        "A bundle directory, a .gpt file, or a trace of torch.profiler, TensorFlow or JAX");
    options->Value("-f,--format", &format_, "chrome",
                   "chrome: JSON as torch.profiler writes it, for HolisticTraceAnalysis, Perfetto "
                   "and chrome://tracing; xspace: a run of TensorBoard's profile plugin, XProf",
                   CheckFormat);
    options->Value("-o,--output", &output_, "FILE",
                   "chrome: the new file, compressed if its name ends in .gz; -: standard output. "
                   "xspace: TensorBoard's log folder, which may exist");
    options->Number("--pid", &pid_, "PID", "Export only this process; 0: all");
    options->Value("--window", &window_, "FROM-TO",
                   "Export only what begins in this time since the bundle's first event, as in "
                   "1.5s-3s; or since 1970, as in @1764370000.5-@1764370005",
                   CheckWindow);
  }

  int Execute(const Options&) override {
    const bool is_folder = format_ == "xspace";
    if (output_.empty() || (is_folder && output_ == "-")) {
      Say(std::string(is_folder ? "the log folder" : "the file") + " is missing: gpuprof export " +
          analysis::ShellWord(bundle_) +
          (is_folder ? " -f xspace -o logdir" : " -f chrome -o trace.json.gz"));
      return kExitUsage;
    }
    std::shared_ptr<const analysis::Trace> trace;
    const int opened = OpenInput(bundle_, false, &trace);
    if (opened != kExitOk) return opened;
    analysis::ExportOptions options;
    options.pid = static_cast<int32_t>(pid_);
    options.name = output_;
    if (!window_.empty()) ReadWindow(window_, &options);
    analysis::ExportReport report;
    const int exported =
        is_folder ? WriteFolder(*trace, options, &report) : WriteFile(*trace, options, &report);
    if (exported != kExitOk) return exported;
    SayReport(report);
    return SayFaults(*trace);
  }

 private:
  int WriteFile(const analysis::Trace& trace, const analysis::ExportOptions& options,
                analysis::ExportReport* report) {
    OutputFile file;
    if (const std::string fault = file.Create(output_); !fault.empty()) {
      Say(fault);
      return kExitUsage;
    }
    const auto sink = [](void* context, std::string_view text) {
      return static_cast<OutputFile*>(context)->Write(text);
    };
    const int exported = ExitOf(analysis::ExportChrome(trace, options, sink, &file, report));
    return exported == kExitOk ? EndOf(file.Finish()) : exported;
  }

  // Writes the files of a run. Each is named: the run's name comes from the recording.
  int WriteFolder(const analysis::Trace& trace, const analysis::ExportOptions& options,
                  analysis::ExportReport* report) {
    OutputFolder folder(WithoutSlash(output_));
    const auto sink = [](void* context, const std::string& path, std::string_view bytes) {
      return static_cast<OutputFolder*>(context)->Write(path, bytes);
    };
    const int exported = ExitOf(analysis::ExportXSpace(trace, options, sink, &folder, report));
    if (exported != kExitOk) return exported;
    const int ended = EndOf(folder.Finish());
    if (ended != kExitOk) return ended;
    for (const std::string& path : folder.files()) Say("wrote " + path);
    if (report->steps == 0) Say("no steps were found: XProf's pages about steps stay empty");
    return kExitOk;
  }

  static int EndOf(const std::string& fault) {
    if (fault.empty()) return kExitOk;
    Say(fault);
    return kExitUnreadable;
  }

  void SayReport(const analysis::ExportReport& report) const {
    std::string tables;
    for (const auto& [table, rows] : report.left_out)
      tables += (tables.empty() ? "" : ", ") + FormatCount(rows) + " " + table;
    if (!tables.empty()) Say("the format has no place for these rows: " + tables);
    if (report.sampled_rows != 0)
      Say(Plural(report.sampled_rows, "row stands", "rows stand") +
          " for several; the format cannot tell for how many");
    if (report.ranks.size() > 1 && format_ == "chrome")
      Say("the file holds " + std::to_string(report.ranks.size()) +
          " ranks; for tools that read one rank a file, export each process with --pid");
  }

  std::string bundle_, output_, window_, format_ = "chrome";
  uint32_t pid_ = 0;
};

}  // namespace

std::unique_ptr<Verb> MakeExport() { return std::make_unique<Export>(); }

}  // namespace gpuprof::launcher
