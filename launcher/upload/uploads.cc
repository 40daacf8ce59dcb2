// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See uploads.h.

#include "launcher/upload/uploads.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "launcher/base/text.h"
#include "launcher/base/values.h"
#include "launcher/record/objects.h"
#include "launcher/record/summary.h"
#include "proto/contract.h"
#include "proto/ticks.h"

namespace gpuprof::launcher {
namespace {

constexpr uint64_t kMillisecond = 1'000'000u;
constexpr uint64_t kSecond = 1000 * kMillisecond;
// How often a command and the folder are looked at.
constexpr auto kLook = std::chrono::milliseconds(200);
constexpr long kFinalLookNs = 20'000'000;
// Several processes may write into a snapshot of one name: it is complete when nothing has come for
// so long.
constexpr uint64_t kQuiet = 2 * kSecond;
// A command that is asked to end has so long.
constexpr uint64_t kFarewell = 5 * kSecond;

uint64_t Now() { return proto::ReadClockNs(CLOCK_MONOTONIC); }

// Returns whether the folder is a snapshot of this user's with its description, which comes last.
bool IsSnapshot(int bundle, const std::string& name, bool must_be_quiet) {
  if (name.rfind(proto::kSnapshotPrefix, 0) != 0) return false;
  struct stat folder, description;
  const std::string inside = name + "/" + proto::kBundleFile;
  if (fstatat(bundle, name.c_str(), &folder, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISDIR(folder.st_mode) || folder.st_uid != geteuid() ||
      fstatat(bundle, inside.c_str(), &description, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISREG(description.st_mode))
    return false;
  if (!must_be_quiet) return true;
  const uint64_t changed = static_cast<uint64_t>(folder.st_mtim.tv_sec) * kSecond +
                           static_cast<uint64_t>(folder.st_mtim.tv_nsec);
  const uint64_t now = proto::ReadClockNs(CLOCK_REALTIME);
  return now < changed || now - changed >= kQuiet;
}

// Returns LD_PRELOAD without our object.
std::string WithoutOurs(std::string preload) {
  std::replace(preload.begin(), preload.end(), ':', ' ');
  std::string rest;
  for (const std::string& entry : Split(preload, ' ')) {
    if (!entry.empty() && BaseName(entry) != proto::kInjectObject)
      rest += (rest.empty() ? "" : ":") + entry;
  }
  return rest;
}

}  // namespace

std::vector<std::string> UploadEnvironment(const char* const* environment,
                                           const std::string& folder) {
  std::vector<std::string> entries;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string entry = *environment;
    const size_t equals = entry.find('=');
    if (equals == std::string::npos || entry.rfind("GPUPROF_", 0) == 0) continue;
    const std::string name = entry.substr(0, equals), value = entry.substr(equals + 1);
    if (name == "LD_PRELOAD" && PreloadHasOurs(value)) {
      const std::string rest = WithoutOurs(value);
      if (!rest.empty()) entries.push_back(name + "=" + rest);
    } else if (BaseName(value) != proto::kInjectObject) {
      entries.push_back(entry);
    }
  }
  entries.push_back(std::string(proto::kEnvBundle) + "=" + folder);
  return entries;
}

void Uploads::Prepare(std::string command, uint64_t limit_ns) {
  command_ = std::move(command);
  limit_ns_ = limit_ns;
}

void Uploads::Start(const TrustedFolder* folder, const std::string& path) {
  if (!is_wanted()) return;
  folder_ = folder;
  path_ = path;
  // The command's signals are the main thread's to pass on.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error&) {
    // A limit on processes: snapshots are uploaded at the end.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Uploads::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!is_over_) {
    stopped_.wait_for(lock, kLook, [this] { return is_over_; });
    if (is_over_) return;
    lock.unlock();
    FindSnapshots(Phase::kRunning);
    Step();
    lock.lock();
  }
}

void Uploads::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_over_ = true;
  }
  stopped_.notify_all();
  thread_.join();
}

void Uploads::FindSnapshots(Phase phase) {
  for (const std::string& name : folder_->List()) {
    if (known_.count(name) != 0 || !IsSnapshot(folder_->fd(), name, phase == Phase::kRunning))
      continue;
    known_.insert(name);
    waiting_.push_back(path_ + "/" + name);
  }
}

void Uploads::Finish() {
  if (folder_ == nullptr) return;
  Stop();
  FindSnapshots(Phase::kFinal);
  waiting_.push_back(path_);
  const uint64_t until = Now() + limit_ns_;
  if (pid_ > 0) deadline_ns_ = std::min(deadline_ns_, until);
  // What would end this process ends the uploads.
  sigset_t ends, before;
  sigemptyset(&ends);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&ends, number);
  sigprocmask(SIG_BLOCK, &ends, &before);
  while (Step()) {
    deadline_ns_ = std::min(deadline_ns_, until);
    const timespec moment = {0, kFinalLookNs};
    const int number = sigtimedwait(&ends, nullptr, &moment);
    if (number > 0) {
      LeaveWaiting("a signal ended the uploads");
      why_ended_ = std::string("a signal to gpuprof (") + strsignal(number) + ")";
      if (pid_ > 0) EndCommand();
    } else if (Now() >= until) {
      LeaveWaiting("the time of --upload-limit is over");
    }
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

void Uploads::LeaveWaiting(const char* why) {
  for (const std::string& folder : waiting_) Say(ShortPath(folder) + " was not uploaded: " + why);
  waiting_.clear();
}

bool Uploads::Step() {
  if (pid_ > 0) {
    int status = 0;
    const pid_t ended = waitpid(pid_, &status, WNOHANG);
    if (ended == pid_ || (ended < 0 && errno == ECHILD)) {
      Report(status);
      pid_ = -1;
    } else if (kill_ns_ != 0 && Now() >= kill_ns_) {
      kill(-pid_, SIGKILL);
    } else if (kill_ns_ == 0 && Now() >= deadline_ns_) {
      why_ended_ = "the time limit (--upload-limit)";
      EndCommand();
    }
  }
  if (pid_ < 0 && !waiting_.empty()) {
    const std::string folder = std::move(waiting_.front());
    waiting_.pop_front();
    StartCommand(folder);
  }
  return pid_ > 0 || !waiting_.empty();
}

void Uploads::StartCommand(const std::string& folder) {
  std::vector<std::string> entries = UploadEnvironment(environ, folder);
  std::vector<char*> variables;
  for (std::string& entry : entries) variables.push_back(entry.data());
  variables.push_back(nullptr);
  std::string shell = "sh", option = "-c", name = "gpuprof-upload", path = folder;
  char* const words[] = {shell.data(), option.data(), command_.data(),
                         name.data(),  path.data(),   nullptr};
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, 2, 1);
  uploading_ = folder;
  why_ended_.clear();
  kill_ns_ = 0;
  deadline_ns_ = Now() + limit_ns_;
  const int error = posix_spawn(&pid_, "/bin/sh", &actions, &attributes, words, variables.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error == 0) return;
  pid_ = -1;
  Say("the upload of " + ShortPath(folder) + " could not be started: " + strerror(error));
}

void Uploads::EndCommand() {
  kill(-pid_, SIGTERM);
  kill_ns_ = Now() + kFarewell;
}

void Uploads::Report(int wait_status) {
  if (why_ended_.empty() && wait_status == 0) return;
  std::string how = "failed with status " + std::to_string(WEXITSTATUS(wait_status));
  if (WIFSIGNALED(wait_status))
    how = "was ended by signal " + std::to_string(WTERMSIG(wait_status));
  if (!why_ended_.empty()) how = "was ended by " + why_ended_;
  const bool is_there = access(uploading_.c_str(), F_OK) == 0;
  Say("the upload of " + ShortPath(uploading_) + " " + how +
      (is_there ? "; the folder stays" : "; the folder is gone"));
}

}  // namespace gpuprof::launcher
