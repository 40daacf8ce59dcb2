// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof run`: prepares a bundle and the environment, runs the command as if it had been typed
// alone, finishes what dead processes left, says what was recorded, and ends as the command ended.

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <optional>

#include "analysis/analysis.h"
#include "launcher/base/limit_values.h"
#include "launcher/base/settings.h"
#include "launcher/base/text.h"
#include "launcher/base/values.h"
#include "launcher/command.h"
#include "launcher/control/carriers.h"
#include "launcher/control/control_client.h"
#include "launcher/gpu/nvml_library.h"
#include "launcher/gpu/sampler_process.h"
#include "launcher/record/bundle.h"
#include "launcher/record/child.h"
#include "launcher/record/dead_processes.h"
#include "launcher/record/job.h"
#include "launcher/record/job_folder.h"
#include "launcher/record/objects.h"
#include "launcher/record/obstacle_inbox.h"
#include "launcher/record/out_of_memory.h"
#include "launcher/record/program.h"
#include "launcher/record/summary.h"
#include "launcher/upload/exit_snapshot.h"
#include "launcher/upload/uploads.h"
#include "proto/contract.h"
#include "proto/obstacle.h"
#include "proto/ticks.h"

namespace gpuprof::launcher {
namespace {

// Workers of a program that has just ended commonly end within this.
constexpr int kGraceMs = 300;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

class Run : public Verb {
 public:
  void Declare(Options* options) override {
    for (const SettingInfo& info : SettingTable()) {
      if (!info.flag.empty()) options->Setting(info);
    }
    options->Value("--gpu-log", &gpu_log_path_, "FILE",
                   "Write the GPUs' counters to this CSV file while the command runs, in the "
                   "format of nvidia-smi");
    options->Flag("--no-arguments", &no_arguments_,
                  "Leave the arguments of commands out of the bundle; as --arguments=none");
    options->Flag("--report", &writes_report_,
                  "Write a report of the bundle to BUNDLE.html; see 'gpuprof help report'");
    options->Value("--upload", &upload_, "COMMAND",
                   "Run this shell command for the finished bundle, and before that for each "
                   "snapshot as it comes. The folder is $1; gpuprof removes nothing");
    options->Value("--upload-limit", &upload_limit_, "DURATION",
                   "How long an upload may take, and how long all uploads may take after the "
                   "command's end",
                   CheckLimit);
    options->Flag("--quiet", &quiet_, "Print nothing if all went well");
    options->Command(&command_);
  }

  int Execute(const Options& options) override {
    if (command_.empty()) return Usage("a command is missing: gpuprof run [OPTIONS] -- COMMAND");
    RunWithoutMemory(command_.size(), &bundle_);
    Variables flags = options.flag_settings();
    if (no_arguments_) flags["arguments"] = proto::kArgumentsNone;
    const std::string error =
        ResolveSettings(flags, CurrentEnvironment(), options.file_settings(), &facts_.settings);
    if (!error.empty()) return Usage(AsSentence(error) + " The command was not started");
    facts_.program =
        FindProgram(command_[0], {command_.begin() + 1, command_.end()}, std::getenv("PATH"));
    facts_.command_name = BaseName(command_[0]);
    if (!facts_.program.found) {
      Say("'" + command_[0] + "' was not found" +
          (command_[0].find('/') == std::string::npos ? " on PATH" : "") + "; check its name");
      return kExitNotFound;
    }
    if (!facts_.program.executable) return NotExecutable(EACCES);
    uint64_t upload_limit_ns = 0;
    ParseDuration(upload_limit_, &upload_limit_ns);
    uploads_.Prepare(upload_, upload_limit_ns);
    job_ = FindJob(CurrentEnvironment());
    const std::string misnamed = FillNames();
    if (!misnamed.empty()) return Usage(AsSentence(misnamed) + " The command was not started");
    const Objects objects = FindObjects(facts_.settings);
    if (!objects.error.empty()) return Fail(objects.error);
    if (const std::string why = WhyUnloadable(objects); !why.empty()) return Fail(why);
    std::string fault = OpenGpuLog();
    if (fault.empty()) fault = OpenBundle();
    if (!fault.empty()) return Fail(fault);
    return Start(objects);
  }

 private:
  static std::string CheckLimit(std::string_view value) {
    uint64_t nanoseconds = 0;
    return ParseDuration(value, &nanoseconds);
  }
  static int Usage(const std::string& what) {
    Say(what);
    return kExitUsage;
  }
  // A rank that does not start makes its launcher end the whole job. So it runs unrecorded.
  int Fail(const std::string& what) {
    if (!job_) {
      Say(AsSentence(what) + " The command was not started");
      return kExitOwnFailure;
    }
    const std::string rank = RankWords(*job_);
    Say((rank.empty() ? "" : rank + ": ") + AsSentence(what) + " The command runs unrecorded");
    std::vector<char*> words;
    for (std::string& word : command_) words.push_back(word.data());
    words.push_back(nullptr);
    execvp(words[0], words.data());
    return NotExecutable(errno);
  }

  // Fills the patterns in names. Returns what is wrong with them.
  std::string FillNames() {
    const Setting& bundle = FindSetting(facts_.settings, proto::kEnvBundle);
    // Inside another run its GPUPROF_BUNDLE is inherited: that bundle is not ours to write.
    const bool inherited =
        bundle.source == Setting::Source::kEnvironment && PreloadHasOurs(Variable("LD_PRELOAD"));
    named_ = bundle.source != Setting::Source::kDefault && !inherited;
    std::string fault;
    if (named_) fault = FillPattern(bundle.value, job_, getpid(), &name_);
    if (!fault.empty()) return "-o " + bundle.value + ": " + fault;
    BundleName log;
    fault = FillPattern(gpu_log_path_, job_, getpid(), &log);
    if (!fault.empty()) return "--gpu-log " + gpu_log_path_ + ": " + fault;
    gpu_log_path_ = log.path;
    return "";
  }

  std::string OpenBundle() {
    const std::string error =
        job_     ? OpenInJob()
        : named_ ? bundle_.Open(name_.path)
                 : bundle_.OpenNew(DefaultBundleName(facts_.command_name, time(nullptr), getpid()));
    facts_.bundle = bundle_.path();
    facts_.shown_bundle =
        ShortPath(job_folder_.path().empty() ? facts_.bundle : job_folder_.path());
    if (!error.empty() || quiet_) return error;
    if (job_ && !Speaks()) return "";
    if (!job_folder_.why_beside().empty()) {
      Say(job_folder_.why_beside() + ", so " +
          (job_folder_.path().empty() ? "this rank" : "the job") + " is recorded in " +
          facts_.shown_bundle);
    }
    const std::string risk = bundle_.folder().Risk();
    if (!risk.empty()) Say(risk);
    return "";
  }

  bool Speaks() const { return !job_ || job_folder_.Speaks(*job_); }

  std::string OpenInJob() {
    proto::Bundle manifest = DescribeStart({}, {});
    manifest.clear_host();
    AddJob(&manifest);
    const std::string path =
        named_ ? name_.path : JobBundleName(facts_.command_name, JobLabel(*job_));
    if (name_.is_own || !job_->is_shared()) return job_folder_.OpenAlone(path, *job_, &bundle_);
    return job_folder_.Join(path, named_, *job_, manifest, &bundle_);
  }

  // How the command failed is known to its parent alone.
  void TakeExitSnapshot() const {
    Triggers triggers;
    ParseTriggers(FindSetting(facts_.settings, proto::kEnvTrigger).value, &triggers);
    const int status = facts_.child.ExitStatus();
    if (!triggers.at_failed_exit || status == 0 || facts_.bundle_is_gone ||
        ListProcesses(facts_.folder).empty())
      return;
    std::string error;
    const std::string name = MakeExitSnapshot(bundle_.folder(), status, &error);
    if (name.empty()) return Say("no snapshot of the failed command could be made: " + error);
    Say("a snapshot was taken, because the command ended with status " + std::to_string(status) +
        ": " + bundle_.path() + "/" + name);
  }

  void AddJob(proto::Bundle* bundle) const {
    bundle->mutable_job()->set_launcher(job_->launcher);
    bundle->mutable_job()->set_id(job_->id);
    bundle->mutable_job()->set_size(job_->size);
  }

  std::string OpenGpuLog() {
    ParseGpuPeriod(FindSetting(facts_.settings, proto::kEnvGpuPeriod).value, &gpu_period_ns_);
    ParseGpuPm(FindSetting(facts_.settings, proto::kEnvGpuPm).value, &gpu_pm_ns_);
    if (gpu_log_path_.empty()) return "";
    if (gpu_period_ns_ == 0) return "--gpu-log needs counters, which --gpu-period=off turns off";
    return gpu_log_.Open(gpu_log_path_);
  }

  // Counters are on by themselves where NVML is, and the program's use of CUDA is recorded. They
  // grow with time alone: beside a flight recorder, which may run for weeks, they are for those who
  // ask. PM sampling is for those who ask anyway.
  void PrepareSampler() {
    Sources sources;
    ParseSources(FindSetting(facts_.settings, proto::kEnvTrace).value, &sources);
    const bool is_asked =
        FindSetting(facts_.settings, proto::kEnvGpuPeriod).source != Setting::Source::kDefault;
    const bool is_ring = !FindSetting(facts_.settings, proto::kEnvRing).value.empty();
    const bool has_cuda = (sources.bits & proto::kSourceCuda) != 0;
    // One rank of each host reads all GPUs.
    if (job_ && job_->local_rank.value_or(0) != 0) return;
    if (gpu_pm_ns_ != 0 && !has_cuda)
      Say("--gpu-pm samples nothing: it begins with the program's use of CUDA, which --trace "
          "leaves "
          "out");
    const bool reads_nvml = gpu_period_ns_ != 0 && (is_asked || !is_ring) && NvmlIsHere();
    SamplerOptions options;
    options.bundle = bundle_.path();
    options.period_ns = reads_nvml || gpu_log_.is_open() ? gpu_period_ns_ : 0;
    options.pm_period_ns = has_cuda ? gpu_pm_ns_ : 0;
    options.to_trace = has_cuda && (reads_nvml || gpu_pm_ns_ != 0);
    if (options.to_trace || gpu_log_.is_open())
      sampler_.Prepare(options, &bundle_.folder(), &gpu_log_);
  }

  static void SayAll(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) Say(line);
  }

  int Start(const Objects& objects) {
    Variables changes = RecorderVariables(facts_.settings, bundle_.path(), objects);
    // The value of an outer run would be the wrong one: this bundle is not its.
    const std::string address = inbox_.Open();
    proto::Bundle description = DescribeStart(command_, changes);
    if (job_) AddJob(&description);
    if (job_ && job_->rank) description.set_rank(*job_->rank);
    const std::string error = bundle_.Describe(description);
    if (!error.empty()) {
      RemoveIfUnused();
      return Fail(error);
    }
    if (!facts_.program.cannot_preload.empty()) Say(facts_.program.cannot_preload);
    if (facts_.program.preload_is_harmless) {
      changes["LD_PRELOAD"] =
          ComposePreload(objects.inject, facts_.program.sanitizer, Variable("LD_PRELOAD"));
    }
    PrepareSampler();
    changes[proto::kEnvLauncher] = address;
    const auto on_started = [this](int32_t pid) {
      SayAll(sampler_.Start());
      dead_processes_.Start(&bundle_.folder(), pid);
      uploads_.Start(&bundle_.folder(), bundle_.path());
    };
    facts_.child = RunChild(command_, changes, on_started, &inbox_);
    dead_processes_.Stop();
    uploads_.Stop();
    SayAll(sampler_.Stop());
    if (facts_.child.exec_error != 0) return NotStarted();
    Finish(&description);
    if (writes_report_ && has_recorded_ && !facts_.bundle_is_gone && Speaks()) WriteReport();
    if (has_recorded_ && !facts_.bundle_is_gone) uploads_.Finish();
    EndLike(facts_.child);
  }

  // The report is made by a process of its own: what it needs or breaks is not the run's.
  void WriteReport() const {
    const std::string& bundle = job_folder_.path().empty() ? facts_.bundle : job_folder_.path();
    const std::string page = bundle + ".html";
    const pid_t pid = fork();
    if (pid == 0) {
      execl("/proc/self/exe", "gpuprof", "report", bundle.c_str(), "-o", page.c_str(),
            static_cast<char*>(nullptr));
      _exit(kExitOwnFailure);
    }
    if (pid < 0)
      Say("the report was not made: no process could be made; 'gpuprof report' makes it");
    while (pid > 0 && waitpid(pid, nullptr, 0) < 0 && errno == EINTR) continue;
  }

  void RemoveIfUnused() {
    bundle_.RemoveIfUnused();
    job_folder_.LeaveIfUnused();
  }

  int NotStarted() {
    RemoveIfUnused();
    const int error = facts_.child.exec_error;
    if (facts_.child.fork_failed) {
      return Fail(std::string("no process could be made: ") + strerror(error) +
                  "; end other processes or raise the limit (ulimit -u)");
    }
    return NotExecutable(error);
  }

  int NotExecutable(int error) const {
    const char* fix = "check its permissions (chmod +x)";
    struct stat info;
    if (error == EACCES && stat(command_[0].c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
      fix = "it is a directory; name a program in it";
    }
    if (error == ENOENT) fix = "its interpreter is missing (named in its first line or its header)";
    if (error == ENOEXEC) fix = "it is not a program for this machine";
    if (error == E2BIG) fix = "shorten its arguments or the environment";
    Say("'" + command_[0] + "' cannot be run: " + strerror(error) + "; " + fix);
    return kExitNotExecutable;
  }

  static void AddTo(const std::vector<int32_t>& pids, std::vector<int32_t>* all) {
    for (const int32_t pid : pids) {
      if (std::find(all->begin(), all->end(), pid) == all->end()) all->push_back(pid);
    }
  }

  void FinishAll() {
    const auto finish = [this](int grace_ms) {
      facts_.finish =
          FinishProcesses(facts_.folder, facts_.child.pid, facts_.child.wait_status, grace_ms);
    };
    finish(kGraceMs);
    // Daemons may be so young that they have no ring yet; meanwhile they may get one.
    const std::vector<int32_t> carriers =
        AwaitCarriers(bundle_.path(), facts_.finish.alive.empty() ? kGraceMs : 0);
    if (facts_.finish.alive.empty()) finish(0);
    for (std::string& failure : facts_.finish.failures) {
      if (failure.starts_with("./")) failure.replace(0, 1, bundle_.path());
    }
    facts_.survivors = facts_.finish.alive;
    AddTo(carriers, &facts_.survivors);
  }

  // Stands in the bundle, so that names in it lead nowhere else. Its path can be another folder's
  // by now: the bundle may lie in a folder of another user's.
  void Finish(proto::Bundle* description) {
    const int before = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    const bool is_inside = before >= 0 && fchdir(bundle_.folder().fd()) == 0;
    facts_.folder = is_inside ? "." : bundle_.path();
    FinishInside(description);
    if (is_inside && fchdir(before) != 0) Say("the working directory cannot be entered again");
    if (before >= 0) close(before);
  }

  void FinishInside(proto::Bundle* description) {
    FinishAll();
    // When the command ended: the wait for processes that outlive it is ours.
    description->set_ended_realtime_ns(description->started_realtime_ns() + facts_.child.wall_ns);
    description->set_exit_status(facts_.child.ExitStatus());
    description->set_root_pid(facts_.child.pid);
    for (const std::string& note : sampler_.not_in_trace()) description->add_counter_note(note);
    TakeUnrecorded(bundle_.folder(), description);
    facts_.unrecorded = analysis::UnrecordedWords(*description);
    inbox_.Take();
    facts_.obstacles = ObstacleLines(inbox_.Reports());
    facts_.bundle_is_gone = !bundle_.folder().IsAt(bundle_.path());
    const std::string error = facts_.bundle_is_gone ? "" : bundle_.Describe(*description);
    if (!error.empty()) Say(error);
    TakeExitSnapshot();
    const bool recorded = !ListProcesses(facts_.folder).empty();
    RemoveSocketsOfTheDead(ListProcesses(facts_.folder));
    if (!recorded) AddTo(LiveProcesses(FindEndpoints(), bundle_.path()), &facts_.survivors);
    if (job_) facts_.rank = RankWords(*job_);
    const bool speaks = Speaks();
    facts_.is_joined = !job_folder_.path().empty();
    Summary summary = Summarize(facts_);
    has_recorded_ = summary.recorded;
    // A dormant process that outlives the command may still be told to record.
    if (!recorded && !named_ && facts_.survivors.empty()) RemoveIfUnused();
    const bool is_fine = summary.recorded && !summary.lost && facts_.finish.failures.empty();
    if (quiet_ && is_fine) return;
    if (!speaks) summary.lines = OfOtherRank(facts_, summary, is_fine);
    for (const std::string& line : summary.lines) Say(line);
  }

  std::string upload_;
  std::string upload_limit_ = "10m";
  Uploads uploads_;
  bool no_arguments_ = false;
  bool quiet_ = false;
  bool writes_report_ = false;
  bool has_recorded_ = false;
  bool named_ = false;
  std::string gpu_log_path_;
  uint64_t gpu_period_ns_ = 0;
  uint64_t gpu_pm_ns_ = 0;
  GpuLog gpu_log_;
  SamplerProcess sampler_;
  ObstacleInbox inbox_;
  std::vector<std::string> command_;
  std::optional<Job> job_;
  BundleName name_;
  JobFolder job_folder_;
  BundleDirectory bundle_;
  DeadProcesses dead_processes_;
  RunFacts facts_;
};

}  // namespace

std::unique_ptr<Verb> MakeRun() { return std::make_unique<Run>(); }

}  // namespace gpuprof::launcher
