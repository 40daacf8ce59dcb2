// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See process_numbers.h.

#include "launcher/control/process_numbers.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

#include "launcher/base/read_file.h"
#include "launcher/control/conversation.h"

namespace gpuprof::launcher {
namespace {

std::string FolderOf(int32_t pid) { return "/proc/" + std::to_string(pid); }

std::vector<int32_t> AllProcesses() {
  std::vector<int32_t> pids;
  for (const std::string& name : ListFolder("/proc")) {
    int32_t pid = 0;
    const auto number = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (number.ec == std::errc() && number.ptr == name.data() + name.size()) pids.push_back(pid);
  }
  return pids;
}

// Finds processes by the number that they have in their own namespace. Looks when it is first
// needed.
class NumberMap {
 public:
  // Returns the one process of this user that has the number there; 0: none, or several.
  int32_t Find(int32_t own_pid, uint32_t uid) {
    if (by_own_.empty()) {
      for (const int32_t pid : AllProcesses()) by_own_.emplace(OwnNumberOf(pid), pid);
    }
    int32_t found = 0;
    const auto [begin, end] = by_own_.equal_range(own_pid);
    for (auto at = begin; at != end; ++at) {
      struct stat status;
      if (stat(FolderOf(at->second).c_str(), &status) != 0 || status.st_uid != uid) continue;
      if (found != 0) return 0;
      found = at->second;
    }
    return found;
  }

 private:
  std::multimap<int32_t, int32_t> by_own_;
};

}  // namespace

int32_t OwnNumberOf(int32_t pid) {
  const std::string status = ReadFile(FolderOf(pid) + "/status").value_or("");
  const size_t at = status.find("\nNSpid:");
  if (at == std::string::npos) return pid;
  std::istringstream line(status.substr(at + 7, status.find('\n', at + 1) - at - 7));
  int32_t own = pid;
  for (int32_t number = 0; line >> number;) own = number;
  return own;
}

void FindListeners(std::vector<Endpoint>* sockets) {
  NumberMap numbers;
  std::set<std::tuple<int32_t, int32_t, uint64_t>> seen;
  std::vector<Endpoint> kept;
  for (Endpoint& socket : *sockets) {
    ucred peer = {};
    const int error = FindPeer(socket, &peer);
    // Whoever listens under another's number answers for nobody: the socket keeps the number that
    // it claims, and is found foreign when it is asked.
    const bool is_own = error == 0 && peer.pid != 0 && peer.uid == socket.uid &&
                        OwnNumberOf(peer.pid) == socket.own_pid;
    if (is_own) {
      socket.pid = peer.pid;
      if (!seen.emplace(socket.pid, socket.own_pid, socket.start_id).second) continue;
    } else if (error == EAGAIN) {
      // Its queue is full: no listener can be seen.
      const int32_t found = numbers.Find(socket.own_pid, socket.uid);
      if (found != 0) socket.pid = found;
    }
    kept.push_back(std::move(socket));
  }
  *sockets = std::move(kept);
}

std::vector<std::string> OtherTemporaryFolders(int32_t pid) {
  struct stat ours, theirs;
  const std::string folder = FolderOf(pid) + "/root/tmp";
  const bool is_other = stat("/tmp", &ours) == 0 && stat(folder.c_str(), &theirs) == 0 &&
                        (ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino);
  return is_other ? std::vector<std::string>{folder} : std::vector<std::string>();
}

std::vector<std::string> OtherTemporaryFolders() {
  std::set<std::pair<dev_t, ino_t>> seen;
  struct stat status;
  const auto is_new = [&](const std::string& path) {
    return stat(path.c_str(), &status) == 0 && seen.emplace(status.st_dev, status.st_ino).second;
  };
  is_new("/proc/self/ns/mnt");
  std::vector<std::string> folders;
  for (const int32_t pid : AllProcesses()) {
    // Another user's may not be looked at.
    if (!is_new(FolderOf(pid) + "/ns/mnt")) continue;
    for (std::string& folder : OtherTemporaryFolders(pid)) folders.push_back(std::move(folder));
  }
  return folders;
}

}  // namespace gpuprof::launcher
