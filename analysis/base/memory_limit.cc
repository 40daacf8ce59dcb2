// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See memory_limit.h.

#include "analysis/base/memory_limit.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
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

// Returns the least figure of a group and of those above it. Inside a container the group's path
// may be that of the host: what is not there is passed over.
template <typename Figure>
uint64_t LeastOf(const std::string& root, std::string group, const Figure& figure) {
  uint64_t least = kNone;
  if (group.find("/..") != std::string::npos) group.clear();  // outside this container
  for (;;) {
    while (!group.empty() && group.back() == '/') group.pop_back();
    least = std::min(least, figure(root + group + "/"));
    if (group.empty()) return least;
    group.resize(std::min(group.rfind('/'), group.size()));
    if (group.find('/') == std::string::npos) group.clear();
  }
}

uint64_t LimitOfTwo(const std::string& folder) {
  return std::min(LimitIn(folder + "memory.max"), LimitIn(folder + "memory.high"));
}

uint64_t LimitOfOne(const std::string& folder) { return LimitIn(folder + "memory.limit_in_bytes"); }

// Returns the number behind a name at the beginning of a line.
uint64_t NumberBehind(std::istream& text, const std::string& name) {
  uint64_t number = 0;
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string word;
    if (words >> word && word == name && words >> number) return number;
  }
  return kNone;
}

// Returns what is left of a limit. `used` holds memory of files, too, and `of_files` names the
// part of it that the kernel takes back first.
uint64_t RoomBelow(uint64_t limit, const std::string& folder, const char* used,
                   const char* of_files) {
  const uint64_t taken = LimitIn(folder + used);
  if (limit == kNone || taken == kNone) return limit;
  std::ifstream file(folder + "memory.stat");
  const uint64_t cache = NumberBehind(file, of_files);
  const uint64_t held = taken - std::min(taken, cache == kNone ? 0 : cache);
  return limit - std::min(limit, held);
}

uint64_t RoomOfTwo(const std::string& folder) {
  return RoomBelow(LimitOfTwo(folder), folder, "memory.current", "inactive_file");
}

uint64_t RoomOfOne(const std::string& folder) {
  return RoomBelow(LimitOfOne(folder), folder, "memory.usage_in_bytes", "total_inactive_file");
}

// Whether `list`, parted by commas, names the controller `memory`.
bool NamesMemory(const std::string& list) {
  return ("," + list + ",").find(",memory,") != std::string::npos;
}

// Lines are NUMBER:CONTROLLERS:PATH, without controllers for version 2.
template <typename OfTwo, typename OfOne>
uint64_t LeastOfGroups(const std::string& groups, const std::string& root, const OfTwo& of_two,
                       const OfOne& of_one) {
  uint64_t least = kNone;
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      least = std::min(least, LeastOf(root, path, of_two));
      least = std::min(least, LeastOf(root + "/unified", path, of_two));
    } else if (NamesMemory(controllers)) {
      least = std::min(least, LeastOf(root + "/memory", path, of_one));
    }
  }
  return least;
}

std::string TextOf(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

uint64_t GroupMemoryLimit(const std::string& groups, const std::string& root) {
  return LeastOfGroups(groups, root, LimitOfTwo, LimitOfOne);
}

uint64_t GroupMemoryRoom(const std::string& groups, const std::string& root) {
  return LeastOfGroups(groups, root, RoomOfTwo, RoomOfOne);
}

uint64_t AvailableMemory(const std::string& meminfo) {
  std::istringstream lines(meminfo);
  const uint64_t kibibytes = NumberBehind(lines, "MemAvailable:");
  return kibibytes > kNone / 1024 ? kNone : kibibytes * 1024;
}

uint64_t RoomInMemory() {
  return std::min(AvailableMemory(TextOf("/proc/meminfo")),
                  GroupMemoryRoom(TextOf("/proc/self/cgroup"), "/sys/fs/cgroup"));
}

uint64_t DefaultMemoryLimit() {
  constexpr uint64_t kUnknown = uint64_t{8} << 30;
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  const uint64_t machine = pages <= 0 || page <= 0
                               ? kUnknown / 3 * 4
                               : static_cast<uint64_t>(pages) * static_cast<uint64_t>(page);
  return std::min(machine, GroupMemoryLimit(TextOf("/proc/self/cgroup"), "/sys/fs/cgroup")) / 4 * 3;
}

}  // namespace gpuprof::analysis
