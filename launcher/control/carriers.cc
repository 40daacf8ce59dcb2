// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See carriers.h. The environment is the one that a process began with: a program that writes over
// it (setproctitle) is not found here, but by its ring or its socket.

#include "launcher/control/carriers.h"

#include <time.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <fstream>

#include "launcher/base/read_file.h"
#include "launcher/control/dormant.h"
#include "proto/contract.h"

namespace gpuprof::launcher {
namespace {

constexpr int kStepMs = 10;

// A process may end at any time, and with it what its files had to say.
std::string ReadAll(const std::string& path) { return ReadFile(path).value_or(""); }

// In clock ticks since the machine began; 0: the process is gone, or has ended and waits for its
// parent.
uint64_t StartOf(const std::string& process) {
  const std::string stat = ReadAll("/proc/" + process + "/stat");
  size_t at = stat.rfind(')');  // the name before it may hold anything
  if (at == std::string::npos || at + 2 >= stat.size()) return 0;
  if (stat[at + 2] == 'Z' || stat[at + 2] == 'X') return 0;
  constexpr int kFieldsBetween = 20;
  for (int i = 0; i < kFieldsBetween && at != std::string::npos; ++i) at = stat.find(' ', at + 1);
  return at == std::string::npos ? 0 : std::strtoull(stat.c_str() + at + 1, nullptr, 10);
}

bool HasControlThread(const std::string& process) {
  const std::string tasks = "/proc/" + process + "/task";
  for (const std::string& task : ListFolder(tasks)) {
    if (task[0] != '.' &&
        ReadAll(tasks + "/" + task + "/comm") == std::string(proto::kControlThread) + "\n")
      return true;
  }
  return false;
}

bool HasVariable(const std::string& process, const std::string& entry) {
  // Between zeros, as they stand in memory.
  const std::string all = '\0' + ReadAll("/proc/" + process + "/environ") + '\0';
  return all.find('\0' + entry + '\0') != std::string::npos;
}

uint64_t AgeMs(uint64_t start) {
  timespec now = {};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const auto ticks = static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
  const uint64_t now_ms =
      static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000;
  const uint64_t start_ms = start * 1000 / ticks;
  return now_ms > start_ms ? now_ms - start_ms : 0;
}

// Those with our control thread, dormant ones, and those so young that the thread may come.
std::vector<int32_t> FindCarriers(const std::string& bundle, uint64_t since, int young_ms) {
  std::vector<int32_t> found;
  for (const std::string& name : ListFolder("/proc")) {
    int32_t pid = 0;
    const auto number = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (number.ec != std::errc() || number.ptr != name.data() + name.size()) continue;
    if (pid == getpid()) continue;
    // First what waits for no lock of the process.
    const uint64_t start = StartOf(name);
    if (start == 0 || start < since) continue;
    const bool may_carry = HasControlThread(name) ||
                           AgeMs(start) < static_cast<uint64_t>(young_ms) ||
                           WakeUpSignal("/proc/" + name) != 0;
    if (may_carry && HasVariable(name, std::string(proto::kEnvBundle) + "=" + bundle) &&
        LoadsRecorder(pid))
      found.push_back(pid);
  }
  return found;
}

}  // namespace

bool LoadsRecorder(int32_t pid) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(proto::kInjectObject) != std::string::npos) return true;
  }
  return false;
}

std::vector<int32_t> AwaitCarriers(const std::string& bundle, int limit_ms) {
  const uint64_t since = StartOf("self");
  for (int waited = 0; waited < limit_ms; waited += kStepMs) {
    if (FindCarriers(bundle, since, limit_ms).empty()) return {};
    usleep(kStepMs * 1000);
  }
  return FindCarriers(bundle, since, 0);
}

}  // namespace gpuprof::launcher
