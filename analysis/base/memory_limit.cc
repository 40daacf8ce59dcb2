// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See memory_limit.h.

#include "analysis/base/memory_limit.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <sstream>

namespace gpuprof::analysis {
namespace {

constexpr uint64_t kNone = UINT64_MAX;

// A file without a number ("max"), or none at all, sets no limit.
uint64_t LimitIn(const std::string& path) {
  std::ifstream file(path);
  uint64_t bytes = 0;
  return file >> bytes ? bytes : kNone;
}

// Inside a container the group's path may be that of the host: what is not there is passed over.
uint64_t LeastOf(const std::string& root, std::string group,
                 std::initializer_list<const char*> names) {
  uint64_t least = kNone;
  if (group.find("/..") != std::string::npos) group.clear();  // outside this container
  for (;;) {
    while (!group.empty() && group.back() == '/') group.pop_back();
    for (const char* name : names) least = std::min(least, LimitIn(root + group + "/" + name));
    if (group.empty()) return least;
    group.resize(std::min(group.rfind('/'), group.size()));
    if (group.find('/') == std::string::npos) group.clear();
  }
}

// Whether `list`, parted by commas, names the controller `memory`.
bool NamesMemory(const std::string& list) {
  return ("," + list + ",").find(",memory,") != std::string::npos;
}

}  // namespace

// Lines are NUMBER:CONTROLLERS:PATH, without controllers for version 2.
uint64_t GroupMemoryLimit(const std::string& groups, const std::string& root) {
  uint64_t least = kNone;
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      least = std::min(least, LeastOf(root, path, {"memory.max", "memory.high"}));
      least = std::min(least, LeastOf(root + "/unified", path, {"memory.max", "memory.high"}));
    } else if (NamesMemory(controllers)) {
      least = std::min(least, LeastOf(root + "/memory", path, {"memory.limit_in_bytes"}));
    }
  }
  return least;
}

uint64_t DefaultMemoryLimit() {
  constexpr uint64_t kUnknown = uint64_t{8} << 30;
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  const uint64_t machine = pages <= 0 || page <= 0
                               ? kUnknown / 3 * 4
                               : static_cast<uint64_t>(pages) * static_cast<uint64_t>(page);
  std::ifstream file("/proc/self/cgroup");
  const std::string groups((std::istreambuf_iterator<char>(file)), {});
  return std::min(machine, GroupMemoryLimit(groups, "/sys/fs/cgroup")) / 4 * 3;
}

}  // namespace gpuprof::analysis
