// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "launcher/attach/attach.h"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>

#include "launcher/attach/late_load.h"
#include "launcher/attach/safe_moment.h"
#include "launcher/attach/stack_walk.h"
#include "launcher/attach/stopped_thread.h"
#include "launcher/attach/target_memory.h"
#include "launcher/attach/target_objects.h"
#include "launcher/attach/wait_calls.h"
#include "launcher/base/text.h"
#include "proto/attach.h"
#include "proto/contract.h"
#include "proto/ticks.h"

namespace gpuprof::launcher {
namespace {

constexpr int kBeginMs = 20'000;   // of the object's own work
constexpr int kDetachMs = 20'000;  // a capture's end may wait for the GPU and for a slow disk
constexpr long kLookNs = 1'000'000;

uint64_t NowNs() { return proto::ReadClockNs(CLOCK_MONOTONIC); }

void SleepNs(long ns) {
  const timespec time = {0, ns};
  nanosleep(&time, nullptr);
}

// Signals to this process wait while one lives.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsHeld() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_;
};

// A stopped thread waits for this process: it goes first where it may.
class Urgent {
 public:
  Urgent() {
    sched_getparam(0, &before_);
    policy_ = sched_getscheduler(0);
    sched_param first = {};
    first.sched_priority = 1;
    has_changed_ = sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &first) == 0;
  }
  ~Urgent() {
    if (has_changed_) sched_setscheduler(0, policy_, &before_);
  }
  Urgent(const Urgent&) = delete;
  Urgent& operator=(const Urgent&) = delete;

 private:
  int policy_ = SCHED_OTHER;
  sched_param before_ = {};
  bool has_changed_ = false;
};

struct Candidate {
  pid_t tid = 0;
  bool waits = false;
  user_regs_struct registers = {};  // where it waits, as far as /proc tells
};

// The process's threads, those that wait first.
std::vector<Candidate> FindCandidates(int32_t pid) {
  std::vector<Candidate> candidates;
  const std::string folder = "/proc/" + std::to_string(pid) + "/task";
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(opendir(folder.c_str()), closedir);
  while (tasks != nullptr) {
    const dirent* entry = readdir(tasks.get());
    if (entry == nullptr) break;
    if (entry->d_name[0] == '.') continue;
    Candidate candidate;
    candidate.tid = static_cast<pid_t>(atoi(entry->d_name));
    std::ifstream file(folder + "/" + entry->d_name + "/syscall");
    std::string line;
    std::getline(file, line);
    unsigned long long a[6];
    long number = -1;
    if (sscanf(line.c_str(), "%ld %llx %llx %llx %llx %llx %llx %llx %llx", &number, &a[0], &a[1],
               &a[2], &a[3], &a[4], &a[5], &candidate.registers.rsp,
               &candidate.registers.rip) == 9) {
      candidate.waits = IsWaitCall(number);
    }
    candidates.push_back(candidate);
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.waits && !b.waits; });
  return candidates;
}

std::string SettingsText(const Variables& settings) {
  std::string text;
  for (const auto& [name, value] : settings) text += name + "=" + value + '\0';
  return text;
}

// Finds the report in the process's memory; 0: the object is not in it.
uint64_t FindReport(TargetMemory* memory) {
  TargetObjects objects(memory);
  if (!objects.Read().empty()) return 0;
  // After an update two objects may be in it: the last one is the newest.
  uint64_t found = 0;
  for (const TargetObject& object : objects.all()) {
    if (object.name().starts_with(proto::kInjectObject))
      found = objects.Find(object, proto::kAttachReport);
  }
  return found;
}

bool ReadReport(const TargetMemory& memory, uint64_t address, proto::AttachReport* report) {
  return address != 0 && memory.Read(address, static_cast<void*>(report), sizeof *report);
}

proto::AttachState StateOf(const proto::AttachReport& report) {
  return static_cast<proto::AttachState>(report.state.load());
}

void Refuse(Attached* attached, const char* word, const std::string& reason) {
  attached->refusal = word;
  attached->reason = reason;
}

std::string MomentWords(const std::map<Moment, int>& seen) {
  const auto count = [&seen](Moment moment) {
    const auto at = seen.find(moment);
    return at == seen.end() ? 0 : at->second;
  };
  const int all = count(Moment::kInAllocator) + count(Moment::kInLoader) +
                  count(Moment::kInHandler) + count(Moment::kInLibrary) +
                  count(Moment::kUnknownStack);
  if (all == 0) return "none of its threads could be stopped";
  if (count(Moment::kUnknownStack) * 2 > all)
    return "the call stacks of its threads could not be followed to their ends";
  if (count(Moment::kInAllocator) * 2 > all)
    return "its threads were in the allocator whenever they were looked at";
  if (count(Moment::kInLoader) * 2 > all)
    return "its threads were in the loader whenever they were looked at";
  return "its threads were inside calls of the C library whenever they were looked at";
}

class Attacher {
 public:
  Attacher(const TargetFacts& facts, const std::string& object, const Variables& settings)
      : pid_(facts.pid),
        object_(object),
        settings_(SettingsText(settings)),
        memory_(facts.pid),
        objects_(&memory_) {}

  Attached Run(int wait_ms) {
    const uint64_t began = NowNs();
    const Urgent urgent;
    Prepare();
    if (attached_.refusal.empty()) Search(wait_ms);
    if (attached_.refusal.empty()) AwaitBegin();
    attached_.total_ns = NowNs() - began;
    return attached_;
  }

 private:
  // All that can be done while the process runs.
  void Prepare() {
    const std::string fault = objects_.Read();
    if (!fault.empty()) return Refuse(&attached_, "rights", fault + "; attach as root");
    if (settings_.size() > proto::kMostAttachBytes)
      return Refuse(&attached_, "settings", "the settings are too long; shorten them");
    moments_ = std::make_unique<SafeMoments>(&objects_);
    std::string missing = moments_->missing();
    if (missing.empty()) missing = FindLoaderFunctions(memory_, objects_, &functions_);
    if (!missing.empty()) {
      return Refuse(&attached_, "libc",
                    missing + ", so nothing can be loaded into it; start it with gpuprof run");
    }
    walker_ = std::make_unique<StackWalker>(&memory_, &objects_);
    // The tables that the stops will need come into this process's memory now.
    for (const Candidate& candidate : FindCandidates(pid_))
      if (candidate.registers.rip != 0) walker_->Walk(candidate.registers);
  }

  void Search(int wait_ms) {
    const uint64_t end = NowNs() + static_cast<uint64_t>(wait_ms) * 1'000'000;
    std::map<Moment, int> seen;
    for (long pause = kLookNs / 4;; pause = std::min(pause * 2, 20 * kLookNs)) {
      const std::vector<Candidate> candidates = FindCandidates(pid_);
      if (candidates.empty()) return Refuse(&attached_, "ended", "it has ended");
      for (const Candidate& candidate : candidates) {
        if (Try(candidate.tid, &seen)) return;
        if (NowNs() >= end) {
          return Refuse(&attached_, "moment",
                        MomentWords(seen) + " (" + std::to_string(attached_.stops) +
                            " looks); try again with a longer --wait, or start it with gpuprof "
                            "run");
        }
      }
      SleepNs(pause);
    }
  }

  // False: another thread or another moment may do.
  bool Try(pid_t tid, std::map<Moment, int>* seen) {
    const SignalsHeld held;
    StoppedThread thread(tid);
    const bool is_stopped = thread.Stop().empty();
    if (is_stopped) {
      ++attached_.stops;
      const Moment moment = moments_->Judge(walker_->Walk(thread.registers()), thread.call());
      if (moment != Moment::kSafe) {
        ++(*seen)[moment];
        NoteStop(thread.Release());
        return false;
      }
      const LateLoad load = LoadLate(memory_, functions_, object_, settings_, &thread);
      const uint64_t stopped = thread.Release();
      NoteStop(stopped);
      attached_.thread = tid;
      attached_.stopped_ns = stopped;
      TakeLoad(load);
      load_ = load;
    }
    return is_stopped;
  }

  void NoteStop(uint64_t ns) {
    attached_.longest_stop_ns = std::max(attached_.longest_stop_ns, ns);
  }

  void TakeLoad(const LateLoad& load) {
    if (!load.has_returned) {
      attached_.is_unknown = true;
      return Refuse(&attached_, "lost",
                    "process " + std::to_string(pid_) +
                        " may be left with one thread inside dlopen(). The thread goes on by "
                        "itself once dlopen() returns");
    }
    if (!load.is_loaded)
      return Refuse(&attached_, "load", "it cannot load " + object_ + ": " + load.error);
    const auto refusal = static_cast<proto::AttachRefusal>(load.attach_result);
    if (refusal == proto::AttachRefusal::kAlready) {
      return Refuse(&attached_, "already",
                    "gpuprof is in it already; 'gpuprof ctl start " + std::to_string(pid_) +
                        "' begins a capture");
    }
    if (refusal != proto::AttachRefusal::kNone)
      Refuse(&attached_, "load", "it could not make a thread for gpuprof; raise its limits");
  }

  void GiveMemoryBack(uint64_t report_at) const {
    if (report_at == 0 || load_.memory_bytes == 0) return;
    memory_.Write(report_at + offsetof(proto::AttachReport, call_memory), &load_.memory_at,
                  sizeof load_.memory_at);
    memory_.Write(report_at + offsetof(proto::AttachReport, call_bytes), &load_.memory_bytes,
                  sizeof load_.memory_bytes);
  }

  void AwaitBegin() {
    const uint64_t report_at = FindReport(&memory_);
    GiveMemoryBack(report_at);
    const uint64_t end = NowNs() + uint64_t{kBeginMs} * 1'000'000;
    proto::AttachReport report = {};
    for (long pause = kLookNs / 4; NowNs() < end; pause = std::min(pause * 2, 10 * kLookNs)) {
      if (!ReadReport(memory_, report_at, &report)) break;
      if (StateOf(report) != proto::AttachState::kBeginning) break;
      SleepNs(pause);
    }
    attached_.slots = report.slots;
    attached_.objects = report.objects;
    attached_.left_slots = report.left_slots;
    attached_.start_id = report.start_id;
    if (StateOf(report) == proto::AttachState::kAttached) return;
    report.said[sizeof report.said - 1] = 0;
    const auto refusal = static_cast<proto::AttachRefusal>(report.refusal.load());
    if (refusal == proto::AttachRefusal::kSanitizer) {
      Refuse(&attached_, "sanitizer", "a sanitizer watches its threads and its memory");
    } else if (refusal == proto::AttachRefusal::kSettings) {
      Refuse(&attached_, "settings",
             report.said[0] != 0 ? report.said
                                 : "it runs with more rights "
                                   "than its user, and takes no settings");
    } else if (refusal == proto::AttachRefusal::kSession) {
      Refuse(&attached_, "session", std::string("no capture could begin in it: ") + report.said);
    } else {
      Refuse(&attached_, "session", "it ended, or its thread of gpuprof got no processor in time");
    }
  }

  int32_t pid_;
  std::string object_;
  std::string settings_;
  TargetMemory memory_;
  TargetObjects objects_;
  std::unique_ptr<SafeMoments> moments_;
  std::unique_ptr<StackWalker> walker_;
  LoaderFunctions functions_;
  LateLoad load_;
  Attached attached_;
};

// Whether the control thread is in the process. Its number is that of the process's namespace, and
// threads that it made for CUPTI have its name.
bool HasThread(int32_t pid, int32_t inner) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/task";
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(opendir(folder.c_str()), closedir);
  while (tasks != nullptr) {
    const dirent* entry = readdir(tasks.get());
    if (entry == nullptr) break;
    std::ifstream file(folder + "/" + entry->d_name + "/status");
    for (std::string line; std::getline(file, line);) {
      if (!line.starts_with("NSpid:")) continue;
      if (atoi(line.c_str() + line.find_last_of(" \t")) == inner) return true;
      break;
    }
  }
  return false;
}

}  // namespace

Attached AttachTo(const TargetFacts& facts, const std::string& object, const Variables& settings,
                  int wait_ms) {
  return Attacher(facts, object, settings).Run(wait_ms);
}

bool IsAttachedTo(int32_t pid) {
  TargetMemory memory(pid);
  proto::AttachReport report = {};
  return ReadReport(memory, FindReport(&memory), &report) &&
         StateOf(report) == proto::AttachState::kAttached;
}

std::string DetachFrom(int32_t pid) {
  TargetMemory memory(pid);
  const uint64_t at = FindReport(&memory);
  proto::AttachReport report = {};
  if (!ReadReport(memory, at, &report) || StateOf(report) != proto::AttachState::kAttached) {
    return "gpuprof is not attached to process " + std::to_string(pid) +
           "; 'gpuprof ps' lists the processes that have it";
  }
  const uint32_t wanted = 1;
  if (!memory.Write(at + offsetof(proto::AttachReport, detach), &wanted, sizeof wanted))
    return "the memory of process " + std::to_string(pid) + " cannot be written; detach as root";
  const uint64_t end = NowNs() + uint64_t{kDetachMs} * 1'000'000;
  for (long pause = kLookNs; NowNs() < end; pause = std::min(pause * 2, 20 * kLookNs)) {
    // A process that ends meanwhile has finished its trace, or left it for recovery.
    if (!ReadReport(memory, at, &report)) return "";
    if (StateOf(report) == proto::AttachState::kDetached && !HasThread(pid, report.thread))
      return "";
    SleepNs(pause);
  }
  return "process " + std::to_string(pid) +
         " did not leave gpuprof in time; it may be stopped, or wait for the GPU: try again";
}

}  // namespace gpuprof::launcher
