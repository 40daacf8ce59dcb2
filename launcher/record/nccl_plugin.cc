// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See nccl_plugin.h. NCCL's settings files are read by initEnv in src/misc/param.cc of NCCL, and
// its libraries are found by src/plugin/plugin_open.cc.

#include "launcher/record/nccl_plugin.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <iterator>
#include <vector>

#include "launcher/base/values.h"
#include "proto/codec/open_regular.h"

namespace gpuprof::launcher {
namespace {

constexpr char kLibrary[] = "libnccl-profiler.so";
// Where the dynamic loader looks without a cache.
constexpr const char* kFolders[] = {"/lib64",
                                    "/usr/lib64",
                                    "/lib",
                                    "/usr/lib",
                                    "/usr/local/lib",
                                    "/lib/x86_64-linux-gnu",
                                    "/lib/aarch64-linux-gnu"};

std::string Variable(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? "" : value;
}

// Returns the start of a settings file; empty: it cannot be read.
std::string StartOf(const std::string& path) {
  constexpr size_t kMostBytes = 64 << 10;
  const codec::OwnedFile file(codec::OpenRegular(AT_FDCWD, path.c_str(), O_RDONLY));
  std::string text(kMostBytes, '\0');
  const ssize_t bytes = file.fd() < 0 ? -1 : read(file.fd(), text.data(), text.size());
  text.resize(bytes > 0 ? static_cast<size_t>(bytes) : 0);
  return text;
}

bool Names(const std::string& settings) {
  for (const std::string& line : Split(settings, '\n'))
    if (line.starts_with(std::string(kNcclPluginVariable) + "=")) return true;
  return false;
}

}  // namespace

std::string ChosenNcclPlugin() {
  if (const std::string named = Variable(kNcclPluginVariable); !named.empty()) return named;
  std::vector<std::string> files = {"/etc/nccl.conf"};
  if (const std::string own = Variable("NCCL_CONF_FILE"); !own.empty()) {
    files.push_back(own);
  } else if (const std::string home = Variable("HOME"); !home.empty()) {
    files.push_back(home + "/.nccl.conf");
  }
  for (const std::string& file : files)
    if (Names(StartOf(file))) return file;
  std::vector<std::string> folders = Split(Variable("LD_LIBRARY_PATH"), ':');
  folders.insert(folders.end(), std::begin(kFolders), std::end(kFolders));
  for (const std::string& folder : folders) {
    const std::string path = (folder.empty() ? "." : folder) + "/" + kLibrary;
    if (access(path.c_str(), R_OK) == 0) return path;
  }
  return "";
}

}  // namespace gpuprof::launcher
