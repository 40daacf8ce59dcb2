// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof serve`: the page of a report whose results and events come from a server on this
// machine. So a recording of any size opens, and nothing is computed that nobody looks at.

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "launcher/command.h"
#include "launcher/objects.h"
#include "launcher/page_files.h"
#include "launcher/reading.h"
#include "launcher/report_page.h"
#include "launcher/report_server.h"
#include "launcher/temporary_folder.h"
#include "launcher/version.h"

extern "C" char** environ;

namespace gpuprof::launcher {
namespace {

sigset_t EndSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, number);
  return signals;
}

class Serve : public Verb {
 public:
  void Declare(Options* options) override {
    options->Positional(
        "BUNDLE", &bundle_,
        "A bundle directory, a .gpt file, or a trace of torch.profiler, TensorFlow or JAX");
    options->Number("--port", &port_, "PORT", "Port of 127.0.0.1; 0: any free one");
    options->Flag("--open", &opens_, "Open the page in a browser");
  }

  int Execute(const Options&) override {
    if (ReportPage().empty()) {
      Say(kNoReportPage);
      return kExitUsage;
    }
    if (port_ > UINT16_MAX) {
      Say("--port: " + std::to_string(port_) + " is not a port; the largest is 65535");
      return kExitUsage;
    }
    if (const std::string lacks = HttpServer::Lacks(); !lacks.empty()) {
      BecomeServer();
      Say(lacks);
      return kExitUsage;
    }
    const int found = Find();
    if (found != kExitOk) return found;
    return Run();
  }

 private:
  // Becomes the command that has the server. Returns if it is not there.
  void BecomeServer() const {
    const std::string command = OwnFolder() + "/gpuprof-serve";
    std::vector<std::string> words = {"gpuprof", "serve", "--port", std::to_string(port_)};
    if (opens_) words.emplace_back("--open");
    words.insert(words.end(), {"--", bundle_});
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv(command.c_str(), arguments.data());
  }

  // Finds the input's files. The trace of another tool is read whole, and kept for the passes.
  int Find() {
    const bool is_bundle = files_.Find(bundle_);
    std::shared_ptr<const analysis::Trace> trace;
    const int opened = OpenInput(bundle_, is_bundle, &trace);
    if (opened != kExitOk) return opened;
    // What could be read is shown: the fault is no reason to end.
    SayFaults(*trace);
    if (is_bundle) return kExitOk;
    trace_ = std::move(trace);
    return files_.Import(*trace_);
  }

  int Run() {
    analysis::ReportOptions page;
    page.page = ReportPage();
    page.title = LastPart(bundle_);
    page.writer_version = kVersion;
    page.left_out = files_.left_out();
    // Names travel in addresses, which are text.
    for (const analysis::ReportFile& file : files_.files())
      page.files.push_back({analysis::OneLine(file.name), file.path});
    // Blocked before the first thread, so that all threads block them.
    const sigset_t signals = EndSignals();
    sigset_t before;
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    ReportServer server(bundle_, trace_, files_.folder(bundle_), std::move(page));
    if (const std::string fault = server.Start(static_cast<uint16_t>(port_)); !fault.empty()) {
      Say(fault);
      return kExitUsage;
    }
    Say(server.Address() + " shows " + analysis::ShellWord(bundle_) + " until Ctrl-C");
    if (opens_) OpenBrowser(server.Address(), before);
    int number = 0;
    sigwait(&signals, &number);
    if (!server.Stop()) {
      // A pass cannot be interrupted, and its result is of no use any more.
      files_.Remove();
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

  std::string bundle_;
  uint32_t port_ = 0;
  bool opens_ = false;
  PageFiles files_;
  TemporaryFolder folder_;
  std::shared_ptr<const analysis::Trace> trace_;
};

}  // namespace

std::unique_ptr<Verb> MakeServe() { return std::make_unique<Serve>(); }

}  // namespace gpuprof::launcher
