// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Who is alive, by /proc alone: the recording process holds no lock that could tell. Its mapping of
// its own ring file, whose name is unique, is the proof; one that does not carry our object records
// nothing, whatever its number; age is what remains where maps cannot be read. Reads /proc, changes
// nothing.

#include "proto/codec/process_alive.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "proto/codec/recover.h"
#include "proto/contract.h"
#include "proto/ticks.h"

namespace gpuprof::codec {
namespace {

// A process is made before its first instruction notes the time; the kernel counts in steps of 10
// ms.
constexpr int64_t kAgeSlackUs = 2'000'000;
constexpr int kFlagsField = 9;
constexpr int kStartTimeField = 22;
constexpr uint64_t kKernelThread = 0x0020'0000;  // PF_KTHREAD

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

bool IsNumber(const char* name) {
  return name[0] != 0 && std::strspn(name, "0123456789") == std::strlen(name);
}

// The text behind "(name) " in a stat file, from the state letter on; empty if there is no such
// process.
std::string StatTail(const std::string& folder) {
  std::ifstream file(folder + "/stat");
  std::string line;
  if (!std::getline(file, line)) return "";
  const size_t close = line.rfind(')');
  return close == std::string::npos || close + 2 >= line.size() ? "" : line.substr(close + 2);
}

bool IsDeadState(const std::string& stat_tail) {
  return stat_tail.empty() || stat_tail[0] == 'Z' || stat_tail[0] == 'X';
}

// The number at `field` of the whole stat line, whose tail begins with field 3; 0 if it ends
// before.
uint64_t StatField(const std::string& stat_tail, int field) {
  const char* at = stat_tail.c_str();
  for (int i = 3; i < field; ++i) {
    at = std::strchr(at, ' ');
    if (at == nullptr) return 0;
    ++at;
  }
  return std::strtoull(at, nullptr, 10);
}

// CLOCK_REALTIME microseconds at which the process began, by the wall clock of now; 0: not to be
// had.
uint64_t StartTimeUs(const std::string& stat_tail) {
  const uint64_t ticks = StatField(stat_tail, kStartTimeField);
  if (ticks == 0) return 0;
  const uint64_t rate = static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
  const uint64_t since_boot_us = proto::ReadClockNs(CLOCK_BOOTTIME) / 1000;
  const uint64_t start_us = ticks * (1'000'000 / rate);
  const uint64_t age_us = since_boot_us > start_us ? since_boot_us - start_us : 0;
  return proto::ReadClockNs(CLOCK_REALTIME) / 1000 - age_us;
}

struct Maps {
  bool readable = false;
  bool has_own = false;     // the ring file asked for
  bool has_other = false;   // one of the same pid with another start
  bool has_object = false;  // the one that records
};

void ReadMaps(const std::string& folder, int32_t pid, uint64_t start_id, Maps* maps) {
  std::ifstream file(folder + "/maps");
  if (!file) return;
  char own[64];
  char any[32];
  std::snprintf(own, sizeof own, "/p%d-%" PRIx64 "%s", pid, start_id, proto::kRingSuffix);
  std::snprintf(any, sizeof any, "/p%d-", pid);
  std::string line;
  while (std::getline(file, line)) {
    maps->readable = true;
    maps->has_object |= line.find(proto::kInjectObject) != std::string::npos;
    if (line.find(own) != std::string::npos) {
      maps->has_own = true;
      return;
    }
    const size_t at = line.find(any);
    if (at != std::string::npos && line.find(proto::kRingSuffix, at) != std::string::npos)
      maps->has_other = true;
  }
}

// Whether one of its threads has the name of ours: a recorded process has one, but for its first
// moments.
bool HasControlThread(const std::string& folder) {
  const Folder tasks(opendir((folder + "/task").c_str()));
  while (tasks != nullptr) {
    const dirent* entry = readdir(tasks.get());
    if (entry == nullptr) break;
    std::ifstream file(folder + "/task/" + entry->d_name + "/comm");
    std::string name;
    if (IsNumber(entry->d_name) && std::getline(file, name) && name == proto::kControlThread)
      return true;
  }
  return false;
}

// `pid` is the process's number where it lives, `folder` its place in our /proc.
RingUse UseBy(const std::string& folder, int32_t pid, uint64_t start_id) {
  const std::string stat_tail = StatTail(folder);
  if (stat_tail.empty()) return RingUse::kGone;
  Maps maps;
  bool lives = !IsDeadState(stat_tail);
  ReadMaps(folder, pid, start_id, &maps);
  if (!lives) {
    // The first thread may have ended before the others.
    const Folder tasks(opendir((folder + "/task").c_str()));
    while (tasks != nullptr && !lives) {
      const dirent* entry = readdir(tasks.get());
      if (entry == nullptr) break;
      const std::string task = folder + "/task/" + entry->d_name;
      if (!IsNumber(entry->d_name) || IsDeadState(StatTail(task))) continue;
      lives = true;
      ReadMaps(task, pid, start_id, &maps);
    }
  }
  if (maps.has_own) return RingUse::kMapped;
  if (!lives || maps.has_other) return RingUse::kGone;
  // A number that another process has here: of the recorder's own pid namespace, or given anew.
  const bool is_stranger = maps.readable && !maps.has_object;
  if (is_stranger || (StatField(stat_tail, kFlagsField) & kKernelThread) != 0)
    return RingUse::kGone;
  // Names of threads can be read where maps cannot.
  const bool is_new = proto::ReadClockNs(CLOCK_REALTIME) / 1000 < start_id + kAgeSlackUs;
  if (!maps.readable && !is_new && !HasControlThread(folder)) return RingUse::kGone;
  const uint64_t started = StartTimeUs(stat_tail);
  const bool is_younger = started != 0 && static_cast<int64_t>(started - start_id) > kAgeSlackUs;
  if (is_younger) return RingUse::kGone;
  return maps.readable ? RingUse::kUnmapped : RingUse::kHidden;
}

// The process's number in the innermost namespace that it belongs to; 0 if it has no namespace
// below ours.
int32_t InnerPid(const std::string& folder) {
  std::ifstream file(folder + "/status");
  std::string line;
  while (std::getline(file, line)) {
    if (line.compare(0, 6, "NSpid:") != 0) continue;
    const size_t last = line.find_last_of(" \t");
    const size_t first = line.find_first_of("0123456789");
    return last > first ? static_cast<int32_t>(std::atoi(line.c_str() + last + 1)) : 0;
  }
  return 0;
}

// Processes in pid namespaces below ours, as of one moment. Most machines that finish many traces
// at once have none: one look serves all processes that are older than it.
class InnerProcesses {
 public:
  struct Process {
    int32_t inner_pid;
    std::string folder;
  };

  std::vector<Process> Find(int32_t pid, uint64_t start_id) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (looked_us_ <= start_id) Look();
    std::vector<Process> found;
    for (const Process& process : processes_) {
      if (process.inner_pid == pid) found.push_back(process);
    }
    return found;
  }

 private:
  void Look() {
    looked_us_ = proto::ReadClockNs(CLOCK_REALTIME) / 1000;
    processes_.clear();
    const Folder all(opendir("/proc"));
    while (all != nullptr) {
      const dirent* entry = readdir(all.get());
      if (entry == nullptr) break;
      if (!IsNumber(entry->d_name)) continue;
      std::string folder = std::string("/proc/") + entry->d_name;
      const int32_t inner_pid = InnerPid(folder);
      if (inner_pid != 0) processes_.push_back({inner_pid, std::move(folder)});
    }
  }

  std::mutex mutex_;
  uint64_t looked_us_ = 0;
  std::vector<Process> processes_;
};

}  // namespace

RingUse FindRingUse(int32_t pid, uint64_t start_id, bool has_ring_file, int32_t* number_here) {
  const RingUse use = UseBy("/proc/" + std::to_string(pid), pid, start_id);
  if (use != RingUse::kGone) {
    if (number_here != nullptr) *number_here = pid;
    return use;
  }
  static InnerProcesses inner_processes;
  for (const auto& process : inner_processes.Find(pid, start_id)) {
    const RingUse inner = UseBy(process.folder, pid, start_id);
    // Age alone proves nothing here: numbers repeat between namespaces.
    if (inner != RingUse::kMapped && (inner != RingUse::kUnmapped || has_ring_file)) continue;
    if (number_here != nullptr)
      *number_here = std::atoi(process.folder.c_str() + std::strlen("/proc/"));
    return inner;
  }
  return RingUse::kGone;
}

bool SharesProcessNumbers(const proto::RingFileHeader& header) {
  struct stat status;
  utsname names;
  return header.pid_namespace != 0 && stat("/proc/self/ns/pid", &status) == 0 &&
         header.pid_namespace == status.st_ino && uname(&names) == 0 &&
         std::strncmp(header.host, names.nodename, sizeof header.host - 1) == 0;
}

bool ProcessIsAlive(int32_t pid, uint64_t start_id) {
  return pid > 0 && FindRingUse(pid, start_id) != RingUse::kGone;
}

}  // namespace gpuprof::codec
