// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See cupti_folders.h.

#include "launcher/gpu/cupti_folders.h"

#include "launcher/base/read_file.h"
#include "launcher/base/values.h"
#include "proto/library_file.h"

namespace gpuprof::launcher {
namespace {

using Visit = std::function<bool(const CuptiFolder&)>;

std::string ValueOf(const Variables& environment, const char* variable) {
  const auto found = environment.find(variable);
  return found == environment.end() ? "" : found->second;
}

bool InFolders(const Variables& environment, const Visit& visit) {
  for (const std::string& folder : Split(ValueOf(environment, "LD_LIBRARY_PATH"), ':')) {
    if (folder.starts_with('/') && visit({folder + "/", true})) return true;
  }
  const std::string conda = ValueOf(environment, "CONDA_PREFIX");
  return conda.starts_with('/') && visit({conda + "/lib/", true});
}

bool InToolkit(const std::string& folder, bool is_named, const Visit& visit) {
  for (const char* part : {"/lib64/", "/lib/", "/extras/CUPTI/lib64/"}) {
    if (visit({folder + part, is_named})) return true;
  }
  return false;
}

bool InCache(const Visit& visit) {
  const std::string cache = ReadFile("/etc/ld.so.cache").value_or("");
  char folder[1024];
  for (size_t at = 0; proto::NextInLoaderCache(cache.data(), cache.size(), &at, "libcupti.so",
                                               folder, sizeof folder);) {
    if (visit({folder, false})) return true;
  }
  return false;
}

}  // namespace

bool EachCuptiFolder(const Variables& environment, const Visit& visit,
                     std::vector<std::string>* searched) {
  const auto passed = [searched](const std::string& words) {
    if (searched != nullptr) searched->push_back(words);
  };
  passed("the loader's folders");
  if (InFolders(environment, visit)) return true;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const std::string home = ValueOf(environment, variable);
    if (!home.starts_with('/')) continue;  // the working directory may be another user's
    if (InToolkit(home, true, visit)) return true;
    passed(home);
  }
  if (InCache(visit) || visit({"", false})) return true;
  if (InToolkit("/usr/local/cuda", false, visit)) return true;
  passed("/usr/local/cuda");
  return false;
}

}  // namespace gpuprof::launcher
