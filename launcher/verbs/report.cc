// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof report`: one HTML page with every analysis and the events. The page reads the chunks of
// a bundle, so a trace of another tool becomes a bundle in a temporary folder first.

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "launcher/command.h"
#include "launcher/freed_memory.h"
#include "launcher/output_file.h"
#include "launcher/read_file.h"
#include "launcher/reading.h"
#include "launcher/report_page.h"
#include "launcher/values.h"
#include "launcher/version.h"
#include "proto/contract.h"

namespace gpuprof::launcher {
namespace {

std::string CheckSize(std::string_view text) {
  uint64_t bytes = 0;
  return ParseSize(text, &bytes);
}

bool IsFolder(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::string LastPart(const std::string& path) {
  const std::string whole = WithoutSlash(path);
  return whole.substr(whole.rfind('/') + 1);
}

// A folder of its own for the bundle of a foreign trace. It is removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() = default;
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    if (path_.empty()) return;
    for (const std::string& name : ListFolder(path_)) unlink((path_ + "/" + name).c_str());
    rmdir(path_.c_str());
  }
  // Returns empty, or cause and fix.
  std::string Make() {
    const char* parent = std::getenv("TMPDIR");
    std::string path =
        std::string(parent != nullptr && *parent != 0 ? parent : "/tmp") + "/gpuprof-report-XXXXXX";
    if (mkdtemp(path.data()) == nullptr)
      return "a temporary folder cannot be made: " + std::string(std::strerror(errno)) +
             "; name another place in TMPDIR";
    path_ = path;
    return "";
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class Report : public Verb {
 public:
  void Declare(Options* options) override {
    options->Positional(
        "BUNDLE", &bundle_,
        "A bundle directory, a .gpt file, or a trace of torch.profiler, TensorFlow or JAX");
    options->Value("-o,--output", &output_, "FILE", "The new page; -: standard output");
    options->Value("--max-size", &max_size_, "SIZE",
                   "Largest size of the page; the events are left out of a larger one", CheckSize);
  }

  int Execute(const Options&) override {
    if (ReportPage().empty()) {
      Say("this gpuprof was built without its page, so it writes no report; install Node.js 20 or "
          "newer with npm and build gpuprof again. 'gpuprof stats' prints the same figures");
      return kExitUsage;
    }
    // Passes take long, so the place is checked first.
    OutputFile file;
    if (const std::string fault = file.Create(output_); !fault.empty()) {
      Say(fault);
      return kExitUsage;
    }
    KeepFreedMemory();
    std::shared_ptr<const analysis::Trace> trace;
    const int opened = OpenInput(bundle_, false, &trace, analysis::TableSet::All(),
                                 analysis::SumsAbove("overview", {}));
    if (opened != kExitOk) return opened;
    const int found = FindFiles(*trace);
    if (found != kExitOk) return found;
    const auto sink = [](void* context, std::string_view text) {
      return static_cast<OutputFile*>(context)->Write(text);
    };
    options_.page = ReportPage();
    options_.title = LastPart(bundle_);
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
    return SayFaults(*trace);
  }

 private:
  // Finds the files that the page carries.
  int FindFiles(const analysis::Trace& trace) {
    const std::string path = WithoutSlash(bundle_);
    if (!IsFolder(path) && path.ends_with(".gpt")) {
      options_.files.push_back({LastPart(path), path});
      return kExitOk;
    }
    if (IsFolder(path) && AddTraces(path)) return kExitOk;
    if (const std::string fault = folder_.Make(); !fault.empty()) {
      Say(fault);
      return kExitUnreadable;
    }
    analysis::ImportOptions options;
    options.folder = folder_.path();
    options.writer_version = std::string("gpuprof ") + kVersion;
    analysis::ImportReport report;
    const int written = ExitOf(analysis::WriteBundle(trace, options, &report));
    if (written == kExitOk) AddTraces(folder_.path());
    return written;
  }

  // Returns whether the folder is a bundle, be it one without a trace.
  bool AddTraces(const std::string& folder) {
    bool is_bundle = false;
    for (const std::string& name : ListFolder(folder)) {
      is_bundle = is_bundle || name == proto::kBundleFile || name.ends_with(".gpt");
      // bundle.pb says of which host the processes are, and when an import begins.
      if (name == proto::kBundleFile || name.ends_with(".gpt"))
        options_.files.push_back({name, folder + "/" + name});
      if (name.ends_with(".ring")) {
        options_.left_out =
            "The last events of processes that were killed are not in the timeline; 'gpuprof "
            "recover' adds them to the bundle.";
      }
    }
    return is_bundle;
  }

  void SayReport(const analysis::ReportReport& report) const {
    if (report.left_out_bytes != 0) {
      Say("the events are left out: with them the page would have " +
          FormatBytes(report.bytes + report.left_out_bytes) + "; --max-size allows more");
    }
    if (report.failed_count != 0)
      Say(Plural(report.failed_count, "result is", "results are") + " missing; the page says why");
    if (output_ == "-") return;
    Say(FormatBytes(report.bytes) + " in " + analysis::ShellWord(output_) +
        "; it opens in a browser and needs no network");
  }

  std::string bundle_, output_ = "report.html", max_size_ = "20MiB";
  analysis::ReportOptions options_;
  TemporaryFolder folder_;
};

}  // namespace

std::unique_ptr<Verb> MakeReport() { return std::make_unique<Report>(); }

}  // namespace gpuprof::launcher
