// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof export`: a bundle in the format of another tool, written piecewise.

#include "analysis/export/tool_formats.h"
#include "analysis/query/query.h"
#include "launcher/base/output_file.h"
#include "launcher/base/output_folder.h"
#include "launcher/command.h"
#include "launcher/reading/limited_query.h"
#include "launcher/reading/reading.h"
#include "launcher/reading/selection.h"

namespace gpuprof::launcher {
namespace {

const std::vector<analysis::ToolFormat>& Formats() {
  static const std::vector<analysis::ToolFormat> formats = analysis::AllFormats();
  return formats;
}

const analysis::ToolFormat* FindFormat(std::string_view name) {
  for (const analysis::ToolFormat& format : Formats()) {
    if (format.about.name == name) return &format;
  }
  return nullptr;
}

// Joins what each format says of itself. `with_name`: behind its name.
std::string OfFormats(std::string_view analysis::ExportFormat::*words, bool with_name,
                      const char* between) {
  std::string text;
  for (const analysis::ToolFormat& format : Formats()) {
    if (!text.empty()) text += between;
    if (with_name) text += std::string(format.about.name) + ": ";
    text += format.about.*words;
  }
  return text;
}

// Joins the names of formats of stacks.
std::string FormatsOfStacks() {
  std::string text;
  for (const analysis::ToolFormat& format : Formats()) {
    if (format.is_of_stacks) text += (text.empty() ? "" : ", ") + std::string(format.about.name);
  }
  return text;
}

std::string CheckFormat(std::string_view format) {
  return FindFormat(format) != nullptr
             ? ""
             : "'" + std::string(format) + "' is not a format; there are " +
                   OfFormats(&analysis::ExportFormat::name, false, ", ");
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
    options->Positional("BUNDLE", &bundle_,
                        "A bundle directory, a .gpt file, or a trace of torch.profiler, "
                        "TensorFlow, JAX, Nsight Systems or rocprofv3");
    const std::string first(Formats().front().about.name);
    const std::string formats = OfFormats(&analysis::ExportFormat::meaning, true, "; ");
    const std::string outputs = OfFormats(&analysis::ExportFormat::output, true, ". ");
    options->Value("-f,--format", &format_, first.c_str(), formats.c_str(), CheckFormat);
    options->Value("-o,--output", &output_, "FILE", outputs.c_str());
    options->Value("--library", &library_, "FILE",
                   "DuckDB's library libduckdb.so, which writes Parquet; default: found");
    options->Number("--pid", &pid_, "PID", "Export only this process; 0: all");
    options->Value("--window", &window_, "FROM-TO",
                   "Export only what begins in this time since the bundle's first event, as in "
                   "1.5s-3s; or since 1970, as in @1764370000.5-@1764370005",
                   CheckWindow);
    by_help_ = "For " + FormatsOfStacks() + ": the weight of stacks, as stats stacks has it";
    options->Value("--by", &by_, "WEIGHT", by_help_.c_str());
    options->Value("--symfs", &symfs_, "DIR", kSymfsHelp, CheckFolder);
  }

  int Execute(const Options&) override {
    const analysis::ToolFormat& format = *FindFormat(format_);
    if (output_.empty() || (!format.is_file() && output_ == "-")) {
      Say(std::string(format.about.place) + " is missing: gpuprof export " +
          analysis::ShellWord(bundle_) + " -f " + format_ + " -o " +
          std::string(format.about.example));
      return kExitUsage;
    }
    if (!by_.empty() && !format.is_of_stacks) {
      Say("--by is for " + FormatsOfStacks() + "; " + format_ + " has no stacks to weigh");
      return kExitUsage;
    }
    if (!library_.empty()) {
      const std::string fault = UseQueryLibrary(library_);
      if (!fault.empty()) Say(fault);
      if (!fault.empty()) return kExitUsage;
      const int found = ExitOf(analysis::OpenQueryLibrary(GivenQueryLibrary()));
      if (found != kExitOk) return found;
    }
    std::shared_ptr<const analysis::Trace> trace;
    const int opened = OpenInput(bundle_, false, &trace);
    if (opened != kExitOk) return opened;
    analysis::ToolOptions options;
    options.pid = static_cast<int32_t>(pid_);
    options.name = output_;
    options.by = by_;
    options.symfs = WithoutSlash(symfs_);
    if (!window_.empty()) ReadWindow(window_, &options);
    analysis::ToolReport report;
    const int exported = format.is_file() ? WriteFile(format, *trace, options, &report)
                                          : WriteFolder(format.about, *trace, options, &report);
    if (exported != kExitOk) return exported;
    SayReport(format.about, report);
    return SayFaults(*trace);
  }

 private:
  int WriteFile(const analysis::ToolFormat& format, const analysis::Trace& trace,
                const analysis::ToolOptions& options, analysis::ToolReport* report) {
    OutputFile file;
    if (const std::string fault = file.Create(output_, format.is_compressed); !fault.empty()) {
      Say(fault);
      return kExitUsage;
    }
    const auto sink = [](void* context, std::string_view text) {
      return static_cast<OutputFile*>(context)->Write(text);
    };
    const int exported =
        ExitOf(format.write != nullptr ? format.write(trace, options, sink, &file, report)
                                       : format.about.to_file(trace, options, sink, &file, report));
    return exported == kExitOk ? EndOf(file.Finish()) : exported;
  }

  // Writes the files of a run. Each is named: the run's name comes from the recording.
  int WriteFolder(const analysis::ExportFormat& format, const analysis::Trace& trace,
                  const analysis::ExportOptions& options, analysis::ExportReport* report) {
    OutputFolder folder(WithoutSlash(output_));
    const auto sink = [](void* context, const std::string& path, std::string_view bytes) {
      return static_cast<OutputFolder*>(context)->Write(path, bytes);
    };
    const int exported = ExitOf(format.to_folder(trace, options, sink, &folder, report));
    if (exported != kExitOk) return exported;
    const int ended = EndOf(folder.Finish());
    if (ended != kExitOk) return ended;
    const size_t written = folder.files().size();
    if (written > kMostNamedFiles)
      Say("wrote " + FormatCount(written) + " files below " + WithoutSlash(output_));
    for (size_t i = 0; i < written && written <= kMostNamedFiles; ++i)
      Say("wrote " + folder.files()[i]);
    if (report->steps == 0 && !format.without_steps.empty()) Say(std::string(format.without_steps));
    return kExitOk;
  }

  static int EndOf(const std::string& fault) {
    if (fault.empty()) return kExitOk;
    Say(fault);
    return kExitUnreadable;
  }

  static void SayReport(const analysis::ExportFormat& format, const analysis::ToolReport& report) {
    std::string tables;
    for (const auto& [table, rows] : report.left_out)
      tables += (tables.empty() ? "" : ", ") + FormatCount(rows) + " " + table;
    if (!tables.empty()) Say("the format has no place for these rows: " + tables);
    if (report.sampled_rows != 0)
      Say(Plural(report.sampled_rows, "row stands", "rows stand") +
          " for several; the format cannot tell for how many");
    if (report.ranks.size() > 1 && !format.of_ranks.empty())
      Say("the file holds " + std::to_string(report.ranks.size()) + " ranks; " +
          std::string(format.of_ranks));
    if (!report.remark.empty()) Say(report.remark);
  }

  static constexpr size_t kMostNamedFiles = 40;
  std::string bundle_, output_, window_, by_, by_help_, symfs_, library_;
  std::string format_{Formats().front().about.name};
  uint32_t pid_ = 0;
};

}  // namespace

std::unique_ptr<Verb> MakeExport() { return std::make_unique<Export>(); }

}  // namespace gpuprof::launcher
