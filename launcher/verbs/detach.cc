// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof detach`: ends what `gpuprof attach` began. The process goes on without gpuprof.

#include <charconv>

#include "launcher/attach/attach.h"
#include "launcher/attach/attached_bundle.h"
#include "launcher/base/text.h"
#include "launcher/command.h"
#include "launcher/control/control_client.h"
#include "proto/control.h"

namespace gpuprof::launcher {
namespace {

constexpr int kStatusMs = 2'000;

class Detach : public Verb {
 public:
  void Declare(Options* options) override {
    options->Positionals("PID", &pids_, "The processes");
    options->Flag("--quiet", &quiet_, "Print nothing if all went well");
  }

  int Execute(const Options&) override {
    std::vector<int32_t> pids;
    for (const std::string& text : pids_) {
      int32_t pid = 0;
      const auto result = std::from_chars(text.data(), text.data() + text.size(), pid);
      if (result.ec != std::errc() || result.ptr != text.data() + text.size() || pid <= 0) {
        Say("'" + text + "' is not a process number; 'gpuprof ps' lists processes");
        return kExitUsage;
      }
      pids.push_back(pid);
    }
    int exit = kExitOk;
    for (const int32_t pid : pids) exit = std::max(exit, One(pid));
    return exit;
  }

 private:
  int One(int32_t pid) const {
    const std::vector<Endpoint> names = NamesOf(FindEndpoints(), pid);
    const std::string path =
        names.empty()
            ? ""
            : AskTogether({names}, proto::kVerbStatus, kStatusMs).front().Get(proto::kKeyBundle);
    const std::string error = DetachFrom(pid);
    if (!error.empty()) {
      Say(error);
      return kExitFindings;
    }
    const std::string heading = "detached from process " + std::to_string(pid);
    AttachedBundle bundle;
    if (!path.empty() && bundle.OpenAgain(path).empty()) {
      bundle.Finish(heading, quiet_);
    } else if (!quiet_) {
      Say(heading);
    }
    return kExitOk;
  }

  std::vector<std::string> pids_;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeDetach() { return std::make_unique<Detach>(); }

}  // namespace gpuprof::launcher
