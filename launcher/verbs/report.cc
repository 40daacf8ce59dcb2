// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof report`: one HTML page with every analysis and the events. The page reads the chunks of
// a bundle, so a trace of another tool becomes a bundle in a temporary folder first.

#include <algorithm>
#include <filesystem>

#include "analysis/passes/page_need.h"
#include "launcher/base/embedded.h"
#include "launcher/base/freed_memory.h"
#include "launcher/base/output_file.h"
#include "launcher/base/values.h"
#include "launcher/base/version.h"
#include "launcher/command.h"
#include "launcher/reading/comparison.h"
#include "launcher/reading/kept_findings.h"
#include "launcher/reading/reading.h"
#include "launcher/serve/page_address.h"
#include "launcher/serve/page_files.h"

namespace gpuprof::launcher {
namespace {

std::string CheckSize(std::string_view text) {
  uint64_t bytes = 0;
  return ParseSize(text, &bytes);
}

class Report : public Verb {
 public:
  void Declare(Options* options) override {
    options->Positional("BUNDLE", &bundle_,
                        "A bundle directory, a .gpt file, or a trace of torch.profiler, "
                        "TensorFlow, JAX, Nsight Systems or rocprofv3");
    options->Value("-o,--output", &output_, "FILE", "The new page; -: standard output");
    options->Value("--against", &against_, "BASE",
                   "Another recording: the page compares the recording with it");
    DeclareKernelRules(options, &kernel_rules_);
    options->Value("--max-size", &max_size_, "SIZE",
                   "Largest size of the page; a larger one has the events of some steps alone",
                   CheckSize);
    options->Flag("--link-events", &links_events_,
                  "Leave the events in the bundle; the page needs a web server that has both");
  }

  int Execute(const Options&) override {
    if (ReportPage().empty()) {
      Say(kNoReportPage);
      return kExitUsage;
    }
    input_ = bundle_;
    input_.Hold();
    // Passes take long, so the place is checked first.
    const int linked = links_events_ ? Link() : kExitOk;
    if (linked != kExitOk) return linked;
    OutputFile file;
    if (const std::string fault = file.Create(output_); !fault.empty()) {
      Say(fault);
      return kExitUsage;
    }
    KeepFreedMemory();
    std::shared_ptr<const analysis::Trace> trace;
    // Before the recording is opened: a comparison reads both by itself, and needs the memory.
    const int compared = Compare();
    if (compared != kExitOk) return compared;
    const int opened = OpenInput(input_, false, &trace, analysis::TableSet::All(),
                                 analysis::SumsAbove("overview", {}));
    if (opened != kExitOk) return opened;
    if (links_events_ && !is_found_) return RefuseToLink();
    // The page has the results of a memory snapshot alone.
    const bool has_files = is_found_ || files_.Find(input_) || analysis::HasMemorySnapshot(*trace);
    const int found = has_files ? kExitOk : files_.Import(*trace);
    if (found != kExitOk) return found;
    options_.files = files_.files();
    options_.bundle = files_.place();
    options_.left_out = files_.left_out();
    const auto sink = [](void* context, std::string_view text) {
      return static_cast<OutputFile*>(context)->Write(text);
    };
    page_ = ReportPage();
    PutFindingsIntoPage(options_.bundle, &page_);
    options_.page = page_;
    options_.engine = PageEngine();
    options_.notices = Notice();
    options_.title = analysis::OneLine(LastPart(bundle_));
    options_.writer_version = kVersion;
    ParseSize(max_size_, &options_.max_bytes);
    analysis::ReportReport report;
    const int written = ExitOf(analysis::WriteReport(*trace, options_, sink, &file, &report));
    if (written != kExitOk) return written;
    if (const std::string fault = file.Finish(); !fault.empty()) {
      Say(fault);
      return kExitUnreadable;
    }
    SayReport(report);
    const int faults = SayFaults(base_faults_);
    return std::max(faults, SayFaults(*trace));
  }

 private:
  int Compare() {
    if (against_.empty()) return kExitOk;
    return ExitOf(CompareAsJson({against_}, {input_}, &options_.comparison, &base_faults_));
  }

  // Finds the way from the page to the files of the bundle.
  int Link() {
    if (output_ == "-") {
      Say("--link-events needs the place of the page; name it with -o");
      return kExitUsage;
    }
    is_found_ = files_.Find(input_);
    if (!is_found_) {
      // OpenInput says what is wrong with an input that is nothing at all.
      return analysis::FindForeign(input_, true).files.empty() ? kExitOk : RefuseToLink();
    }
    std::error_code error;
    const std::string here = std::filesystem::current_path(error).string();
    const bool is_file = bundle_.ends_with(".gpt") && !CheckFolder(bundle_).empty();
    const std::string folder =
        is_file ? std::filesystem::path(bundle_).parent_path().string() : bundle_;
    place_ = AddressFromPage(output_, folder, here);
    options_.files_at = place_.address;
    if (!place_.address.empty()) return kExitOk;
    Say("no web server shows " + analysis::ShellWord(output_) + " and " +
        analysis::ShellWord(bundle_) + " together; write the page next to the bundle");
    return kExitUsage;
  }

  int RefuseToLink() const {
    Say("--link-events needs a bundle, and " + analysis::ShellWord(bundle_) +
        " is a trace of another tool; 'gpuprof import' makes a bundle");
    return kExitUsage;
  }

  void SayReport(const analysis::ReportReport& report) const {
    if (report.left_out_bytes != 0) {
      const std::string what = report.left_out_rows == 0
                                   ? "the events are left out"
                                   : "the events of some steps are in the page, the others are not";
      Say(what + ": with all of them the page would have " +
          FormatBytes(report.bytes + report.left_out_bytes) + "; --max-size allows more");
      if (report.bytes > options_.max_bytes)
        Say("the results alone are larger than --max-size, and they are never left out");
    }
    if (report.left_out_parts != 0)
      Say("the results of " + Plural(report.left_out_parts, "part is", "parts are") +
          " left out (processes, devices, steps); --max-size allows more");
    if (report.failed_count != 0)
      Say(Plural(report.failed_count, "result is", "results are") + " missing; the page says why");
    if (output_ == "-") return;
    const std::string need = links_events_ ? "; it needs a web server that offers the folder " +
                                                 analysis::ShellWord(place_.folder)
                                           : "; it opens in a browser and needs no network";
    Say(FormatBytes(report.bytes) + " in " + analysis::ShellWord(output_) + need);
  }

  std::string bundle_, kernel_rules_, against_, output_ = "report.html", max_size_ = "20MiB", page_;
  bool links_events_ = false, is_found_ = false;
  PageAddress place_;
  analysis::InputPath input_;
  analysis::BundleFacts base_faults_;
  analysis::ReportOptions options_;
  PageFiles files_;
};

}  // namespace

std::unique_ptr<Verb> MakeReport() { return std::make_unique<Report>(); }

}  // namespace gpuprof::launcher
