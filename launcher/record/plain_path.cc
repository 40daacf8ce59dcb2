// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See plain_path.h.

#include "launcher/record/plain_path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "launcher/base/trusted_folder.h"

namespace gpuprof::launcher {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The folder's owner may write, and all others may only follow a link whose name they know: a child
// may run as another user.
constexpr mode_t kMode = 0711;

std::vector<std::string> Places() {
  std::vector<std::string> places;
  // Nobody but root may enter root's home, but its children are often other users.
  if (geteuid() != 0) {
    if (const std::string cache = Variable("XDG_CACHE_HOME"); !cache.empty())
      places.push_back(cache + "/gpuprof/objects");
    if (const std::string home = Variable("HOME"); !home.empty())
      places.push_back(home + "/.cache/gpuprof/objects");
  }
  const std::string own = "/gpuprof-objects-" + std::to_string(geteuid());
  places.push_back("/dev/shm" + own);
  places.push_back("/tmp" + own);
  if (const std::string chosen = Variable("TMPDIR"); !chosen.empty())
    places.push_back(chosen + own);
  return places;
}

// FNV-1a: two installations have two links.
std::string NameFor(const std::string& target) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : target) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::array<char, 17> text;
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

// Returns "", or why the place has no link to the target.
std::string LinkAt(const std::string& place, const std::string& name, const std::string& target) {
  TrustedFolder folder({"links to gpuprof's objects", "HOME"});
  if (const int error = folder.Make(place, TrustedFolder::Last::kAny); error != 0)
    return std::strerror(error);
  if (const std::string why = folder.WhyForeign(place); !why.empty()) return why;
  if (const std::string why = folder.Risk(); !why.empty()) return why;
  if (fchmod(folder.fd(), kMode) != 0) return std::strerror(errno);
  std::array<char, PATH_MAX> held;
  for (int i = 0; i < 2; ++i) {
    if (symlinkat(target.c_str(), folder.fd(), name.c_str()) != 0 && errno != EEXIST)
      return std::strerror(errno);
    const ssize_t size = readlinkat(folder.fd(), name.c_str(), held.data(), held.size());
    if (size > 0 && target == std::string(held.data(), static_cast<size_t>(size))) return "";
    unlinkat(folder.fd(), name.c_str(), 0);
  }
  return "another file has the name of the link";
}

}  // namespace

bool IsPlain(const std::string& path) { return path.find_first_of(" :") == std::string::npos; }

std::string PlainPathTo(const std::string& target, std::string* error) {
  const std::string name = NameFor(target);
  std::string reasons;
  for (const std::string& place : Places()) {
    if (!IsPlain(place) || place[0] != '/') continue;
    const std::string why = LinkAt(place, name, target);
    if (why.empty()) return place + "/" + name;
    reasons += (reasons.empty() ? "" : "; ") + place + ": " + why;
  }
  *error = target +
           " has a space or a colon, which LD_PRELOAD cannot hold. No folder can hold a link: " +
           reasons + ". Move gpuprof, or name a writable folder in TMPDIR";
  return "";
}

}  // namespace gpuprof::launcher
