// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/kept_snapshots.h"

#include <errno.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "proto/contract.h"

namespace gpuprof::tracer {
namespace {

struct Name {
  char text[128];  // of a folder in the bundle
};
char kept_stem[sizeof(Settings::file_stem)];  // of the process's trace
std::vector<Name>* kept = nullptr;            // oldest first; never destroyed

void Remove(const Settings& settings, const char* name) {
  char folder[900], file[1000];
  std::snprintf(folder, sizeof(folder), "%s/%s", settings.bundle, name);
  char target;
  if (readlink(folder, &target, 1) >= 0) return;
  std::snprintf(file, sizeof(file), "%s/%s%s", folder, kept_stem, proto::kTraceSuffix);
  unlink(file);
  std::snprintf(file, sizeof(file), "%s/%s", folder, proto::kBundleFile);
  unlink(file);
  if (rmdir(folder) == 0) return;
  // What another process has put there still needs the description.
  char manifest[900];
  std::snprintf(manifest, sizeof(manifest), "%s/%s", settings.bundle, proto::kBundleFile);
  if (link(manifest, file) != 0) errno = 0;
}

}  // namespace

void KeepSnapshot(const char* folder, const Settings& settings, uint64_t keep) {
  // A forked child knows its parent's.
  if (std::strcmp(kept_stem, settings.file_stem) != 0) {
    if (kept != nullptr) kept->clear();
    std::memcpy(kept_stem, settings.file_stem, sizeof(kept_stem));
  }
  if (keep == 0) return;
  if (kept == nullptr) kept = new std::vector<Name>;
  Name name = {};
  std::snprintf(name.text, sizeof(name.text), "%s", std::strrchr(folder, '/') + 1);
  kept->push_back(name);
  while (kept->size() > keep) {
    Remove(settings, kept->front().text);
    kept->erase(kept->begin());
  }
}

}  // namespace gpuprof::tracer
