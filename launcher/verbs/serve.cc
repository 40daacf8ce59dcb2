// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof serve`: the page of a report whose results and events come from a server on this
// machine. So a recording of any size opens, and nothing is computed that nobody looks at. Of a
// folder with several recordings the page is a list, and each recording has a page below it.

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "launcher/base/embedded.h"
#include "launcher/base/end_signals.h"
#include "launcher/base/temporary_folder.h"
#include "launcher/base/version.h"
#include "launcher/command.h"
#include "launcher/reading/limited_query.h"
#include "launcher/reading/reading.h"
#include "launcher/record/objects.h"
#include "launcher/serve/capture_list.h"
#include "launcher/serve/entrance.h"
#include "launcher/serve/import_cache.h"
#include "launcher/serve/large_results.h"
#include "launcher/serve/page_files.h"
#include "launcher/serve/report_server.h"
#include "launcher/serve/served_folder.h"
#include "launcher/serve/served_page.h"

extern "C" char** environ;

namespace gpuprof::launcher {
namespace {

class Serve : public Verb {
 public:
  void Declare(Options* options) override {
    options->Positional("BUNDLE", &bundle_,
                        "A bundle directory, a .gpt file, a trace of torch.profiler, TensorFlow or "
                        "JAX, or a folder "
                        "of them");
    options->Number("--port", &port_, "PORT", "Port of 127.0.0.1; 0: any free one", UINT16_MAX);
    DeclareKernelRules(options, &kernel_rules_);
    options->Flag("--open", &opens_, "Open the page in a browser");
    options->Value("--allow-host", &hosts_, "NAMES",
                   "Also answer to these names in an address, comma separated: of a proxy "
                   "(hub.example.org), or of a tunnel with another port (localhost:9000)");
    options->Value("--library", &library_, "FILE",
                   "DuckDB's library libduckdb.so, for queries in SQL; default: found");
    options->Value("--url-prefix", &prefix_, "PATH",
                   "The path under which a proxy shows the page: /user/me/proxy/8001");
  }

  int Execute(const Options&) override {
    if (ReportPage().empty()) {
      Say(kNoReportPage);
      return kExitUsage;
    }
    for (const std::string& fault :
         {entrance_.AllowHosts(hosts_), entrance_.SetPrefix(prefix_), UseQueryLibrary(library_)}) {
      if (fault.empty()) continue;
      Say(fault);
      return kExitUsage;
    }
    if (IsList()) return RunList();
    const int found = Find();
    return found != kExitOk ? found : RunPage();
  }

 private:
  // Returns whether the input is a folder that is no recording itself.
  bool IsList() const {
    return CheckFolder(bundle_).empty() && !IsOneBundle(bundle_) && !IsLogFolder(bundle_);
  }

  // Opens the folder that keeps imported traces. Without it they are imported each time.
  void OpenCache() {
    if (const std::string fault = cache_.Open(); !fault.empty()) Say(fault);
  }

  // Finds the input's files. The trace of another tool becomes a bundle.
  int Find() {
    input_ = {bundle_};
    if (files_.Find(bundle_)) {
      input_.path = files_.place();
    } else if (const int imported = Import(); imported != kExitOk) {
      return imported;
    }
    analysis::OpenOptions options;
    options.headers_only = true;
    options.kernel_rules = GivenKernelRules();
    options.origin = input_.origin;
    std::shared_ptr<const analysis::Trace> trace;
    const int opened = ExitOf(analysis::Open(input_.path, options, &trace));
    // What could be read is shown: the fault is no reason to end.
    if (opened == kExitOk) SayFaults(*trace);
    return opened;
  }

  int Import() {
    OpenCache();
    analysis::ForeignInput foreign = analysis::FindForeign(bundle_, true);
    // It need not look like a trace to be read as one.
    if (foreign.files.empty()) foreign.files = {bundle_};
    import_ = cache_.Find(bundle_, foreign);
    analysis::Error error;
    if (import_ == nullptr) import_ = cache_.Make(bundle_, foreign, nullptr, &error);
    if (import_ == nullptr) return ExitOf(error);
    input_ = import_->bundle;
    files_.Find(input_.path);
    input_.path = files_.place();
    return kExitOk;
  }

  int RunPage() {
    analysis::ReportOptions page;
    page.page = ReportPage();
    page.title = analysis::OneLine(LastPart(bundle_));
    page.writer_version = kVersion;
    page.left_out = files_.left_out();
    page.files = files_.ForPage();
    page.bundle = input_.path;
    ends_.emplace();
    LargeResults large;
    ServedPage served(std::move(page), WaysOf(input_, &large, nullptr));
    return Run(&served);
  }

  int RunList() {
    OpenCache();
    ends_.emplace();
    ServedFolder served(WithoutSlash(bundle_), &cache_);
    return Run(&served);
  }

  int Run(Served* served) {
    ReportServer server(served, entrance_);
    if (const std::string fault = server.Start(static_cast<uint16_t>(port_)); !fault.empty()) {
      Say(fault);
      return kExitUsage;
    }
    if (const std::string path = server.ProxiedPath(); !path.empty())
      Say("behind the proxy or tunnel, the page's path is " + path);
    Say(server.Address() + " shows " + analysis::ShellWord(bundle_) + " until Ctrl-C");
    if (opens_) OpenBrowser(server.Address(), ends_->before());
    ends_->Await();
    if (!server.Stop()) {
      // A pass cannot be interrupted, and its result is of no use any more.
      import_ = nullptr;
      cache_.RemoveUnfinished();
      folder_.Remove();
      _exit(kExitOk);
    }
    return kExitOk;
  }

  // Opens a file that leads to the page. Any user can read the command lines of others, so the
  // token must not stand on one.
  void OpenBrowser(const std::string& address, const sigset_t& signals) {
    if (const std::string fault = folder_.Make(); !fault.empty()) {
      Say(fault);
      return;
    }
    std::string path = folder_.path() + "/open.html";
    std::ofstream(path) << "<!doctype html><meta http-equiv=\"refresh\" content=\"0; url="
                        << address << "\">\n";
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &signals);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    char program[] = "xdg-open";
    char* arguments[] = {program, path.data(), nullptr};
    pid_t pid;
    const int error = posix_spawnp(&pid, program, &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error != 0) Say("there is no xdg-open; open the address in a browser");
  }

  std::string bundle_, kernel_rules_;
  uint32_t port_ = 0;
  bool opens_ = false;
  std::string hosts_, prefix_, library_;  // as they were given
  Entrance entrance_;
  ImportCache cache_;
  std::shared_ptr<const ImportedTrace> import_;
  PlacedInput input_;
  PageFiles files_;
  TemporaryFolder folder_;
  std::optional<EndSignals> ends_;
};

}  // namespace

std::unique_ptr<Verb> MakeServe() { return std::make_unique<Serve>(); }

}  // namespace gpuprof::launcher
