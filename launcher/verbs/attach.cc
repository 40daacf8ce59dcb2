// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof attach`: records a process that runs already, without gpuprof. Says beforehand what
// cannot be seen, and afterwards how long which thread was stopped.

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>

#include "analysis/analysis.h"
#include "launcher/attach/attach.h"
#include "launcher/attach/attached_bundle.h"
#include "launcher/attach/target_facts.h"
#include "launcher/base/end_signals.h"
#include "launcher/base/settings.h"
#include "launcher/base/text.h"
#include "launcher/base/values.h"
#include "launcher/command.h"
#include "launcher/record/nccl_plugin.h"
#include "launcher/record/objects.h"
#include "proto/contract.h"
#include "proto/ticks.h"

namespace gpuprof::launcher {
namespace {

// Settings that belong to the start of a program.
bool IsOfStart(const SettingInfo& info) {
  const std::string_view name = info.variable;
  return name == proto::kEnvInclude || name == proto::kEnvExclude || name == proto::kEnvSignal ||
         name == proto::kEnvGpuPeriod || name == proto::kEnvGpuPm;
}

std::string Milliseconds(uint64_t ns) {
  char text[32];
  const double ms = static_cast<double>(ns) / 1e6;
  snprintf(text, sizeof text, ms < 10 ? "%.1f ms" : "%.0f ms", ms);
  return text;
}

class Attach : public Verb {
 public:
  void Declare(Options* options) override {
    options->Positional("PID", &pid_text_, "The process");
    options->Value("--for", &for_text_, "TIME",
                   "Detach after this time and finish the bundle; without it 'gpuprof detach PID' "
                   "does");
    options->Value("--wait", &wait_text_, "TIME",
                   "How long a safe moment is looked for (default 3s)");
    for (const SettingInfo& info : SettingTable())
      if (!info.flag.empty() && !IsOfStart(info)) options->Setting(info);
    options->Flag("--quiet", &quiet_, "Print nothing if all went well");
  }

  int Execute(const Options& options) override {
    const std::string fault = Read(options);
    if (!fault.empty()) {
      Say(fault);
      return kExitUsage;
    }
    facts_ = LookAtTarget(pid_);
    if (!facts_.refusal.empty()) return Refused(facts_.refusal, facts_.reason);
    const Objects objects = FindObjects(settings_);
    if (!objects.error.empty()) return Fail(objects.error);
    const std::vector<std::string> unseen = Unseen(facts_);
    if (!quiet_) {
      for (const std::string& line : unseen) Say("not seen: " + line);
      Say("to see everything from the start: " + RestartLine(facts_));
    }
    const std::string error = bundle_.Open(facts_, FindSetting(settings_, proto::kEnvBundle),
                                           RecorderVariables(settings_, "", objects), unseen);
    if (!error.empty()) return Fail(error);
    const std::string no_place = MakeStage(objects);
    if (!no_place.empty()) {
      bundle_.RemoveIfUnused();
      return Refused("namespace", no_place);
    }
    return Go(objects);
  }

 private:
  std::string Read(const Options& options) {
    const auto result =
        std::from_chars(pid_text_.data(), pid_text_.data() + pid_text_.size(), pid_);
    if (result.ec != std::errc() || result.ptr != pid_text_.data() + pid_text_.size() || pid_ <= 0)
      return "'" + pid_text_ + "' is not a process number; 'gpuprof ps --why' lists processes";
    std::string fault;
    if (!for_text_.empty()) fault = ParseDuration(for_text_, &for_ns_);
    if (!fault.empty()) return "--for: " + fault;
    if (!wait_text_.empty()) fault = ParseDuration(wait_text_, &wait_ns_);
    if (!fault.empty()) return "--wait: " + fault;
    return ResolveSettings(options.flag_settings(), CurrentEnvironment(), options.file_settings(),
                           &settings_);
  }

  // A process with another file system gets a folder in it. Returns empty, or cause and fix.
  std::string MakeStage(const Objects& objects) {
    bool sees_all = true;
    for (const std::string& path : {objects.inject, objects.tracer, bundle_.path()})
      sees_all = sees_all && SeesSameFile(pid_, path);
    if (sees_all) return "";
    if (for_ns_ == 0)
      return "its file system is another one, so the recording needs an end here; add --for TIME";
    return stage_.Make(pid_, facts_.user, objects.inject, objects.tracer);
  }

  int Fail(const std::string& what) {
    Say(AsSentence(what) + " Nothing was done to the process");
    return kExitOwnFailure;
  }

  int Refused(const std::string& word, const std::string& reason) {
    Say("process " + std::to_string(pid_) + " was not attached to (" + word + "): " + reason);
    return word == "ended" ? kExitUnreadable : kExitFindings;
  }

  int Go(Objects objects) {
    if (stage_.is_made()) {
      objects.inject = stage_.inject();
      objects.tracer = stage_.tracer();
    }
    Variables variables =
        RecorderVariables(settings_, stage_.is_made() ? stage_.bundle() : bundle_.path(), objects);
    for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH",
                             "INTEL_LIBITTNOTIFY64", kNcclPluginVariable})
      variables.erase(name);
    variables[proto::kEnvSignal] = "none";
    variables[proto::kEnvInclude] = facts_.program;
    const std::string runtime = RuntimeFolderOf(pid_);
    if (!runtime.empty()) variables["XDG_RUNTIME_DIR"] = runtime;
    // From here on Ctrl-C ends the recording, and the process is detached from.
    const EndSignals ends;
    const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
    const Attached attached =
        AttachTo(facts_, objects.inject, variables, static_cast<int>(wait_ns_ / 1'000'000));
    if (!attached.refusal.empty()) {
      if (!attached.is_unknown) bundle_.RemoveIfUnused();
      return Refused(attached.refusal, attached.reason);
    }
    if (!quiet_) SayAttached(attached);
    if (for_ns_ == 0) {
      if (!quiet_) {
        Say("bundle: " + analysis::ShellWord(bundle_.path()));
        Say("next: gpuprof detach " + std::to_string(pid_));
      }
      return kExitOk;
    }
    const bool has_ended = AwaitEnd(pidfd, ends.fd());
    const std::string error = has_ended ? "" : DetachFrom(pid_);
    if (!error.empty()) Say(error);
    if (stage_.is_made()) {
      const std::string left = bundle_.TakeFrom(&stage_);
      if (!left.empty()) Say(left);
      stage_.Remove();
    }
    bundle_.Finish(has_ended ? "process " + std::to_string(pid_) + " ended while it was recorded"
                             : "detached from process " + std::to_string(pid_),
                   quiet_);
    return error.empty() ? kExitOk : kExitFindings;
  }

  void SayAttached(const Attached& attached) const {
    Say("attached to " + std::to_string(pid_) + " in " + Milliseconds(attached.total_ns) +
        "; thread " + std::to_string(attached.thread) + " was stopped for " +
        Milliseconds(attached.stopped_ns));
    if (attached.stops > 1) {
      Say("the search for a moment stopped threads " + std::to_string(attached.stops) +
          " times, the longest for " + Milliseconds(attached.longest_stop_ns));
    }
  }

  // Returns whether the process ended by itself.
  bool AwaitEnd(int pidfd, int signals) const {
    pollfd waits[] = {{pidfd, POLLIN, 0}, {signals, POLLIN, 0}};
    const uint64_t end = proto::ReadClockNs(CLOCK_MONOTONIC) + for_ns_;
    bool has_ended = false;
    for (;;) {
      const uint64_t now = proto::ReadClockNs(CLOCK_MONOTONIC);
      if (now >= end) break;
      const auto left = static_cast<int>(std::min<uint64_t>((end - now) / 1'000'000 + 1, 60'000));
      if (poll(waits, 2, left) <= 0) continue;
      has_ended = (waits[0].revents & POLLIN) != 0;
      break;
    }
    return has_ended;
  }

  std::string pid_text_, for_text_, wait_text_;
  int32_t pid_ = 0;
  uint64_t for_ns_ = 0;
  uint64_t wait_ns_ = 3'000'000'000;
  bool quiet_ = false;
  std::vector<Setting> settings_;
  TargetFacts facts_;
  AttachedBundle bundle_;
  Stage stage_;
};

}  // namespace

std::unique_ptr<Verb> MakeAttach() { return std::make_unique<Attach>(); }

}  // namespace gpuprof::launcher
