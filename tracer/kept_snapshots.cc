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

constexpr size_t kPathBytes = 900;

void PathOf(const Settings& settings, const Name& name, char (&path)[kPathBytes]) {
  std::snprintf(path, sizeof(path), "%s/%s", settings.bundle, name.text);
}

void Remove(const Settings& settings, const Name& name) {
  char folder[kPathBytes], file[1000];
  PathOf(settings, name, folder);
  char target;
  if (readlink(folder, &target, 1) >= 0) return;
  std::snprintf(file, sizeof(file), "%s/%s%s", folder, kept_stem, proto::kTraceSuffix);
  unlink(file);
  std::snprintf(file, sizeof(file), "%s/%s", folder, proto::kBundleFile);
  unlink(file);
  if (rmdir(folder) == 0) return;
  // What another process has put there still needs the description.
  char manifest[kPathBytes];
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
  Name added = {};
  std::snprintf(added.text, sizeof(added.text), "%s", std::strrchr(folder, '/') + 1);
  // What somebody else has removed takes no place. Its name may be free again.
  std::erase_if(*kept, [&](const Name& name) {
    char path[kPathBytes];
    PathOf(settings, name, path);
    return access(path, F_OK) != 0 || std::strcmp(name.text, added.text) == 0;
  });
  errno = 0;
  kept->push_back(added);
  while (kept->size() > keep) {
    Remove(settings, kept->front());
    kept->erase(kept->begin());
  }
}

}  // namespace gpuprof::tracer
