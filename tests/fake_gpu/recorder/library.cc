// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fake_gpu/recorder/library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace fake_gpu_recorder {
namespace {

constexpr size_t kRoom = sizeof(Library::path);

struct Release {
  const char* name;
  int major;
};
constexpr Release kReleases[] = {
    {"libcupti.so.13", 13}, {"libcupti.so.12", 12}, {"libcupti.so.11.8", 11}};
// %s: the folder of the program's libcudart, with its slash. The empty one is the loader's.
constexpr const char* kFolders[] = {
    "%s", "%s../extras/CUPTI/lib64/", "%s../../cuda_cupti/lib/",
    "",   "/usr/local/cuda/lib64/",   "/usr/local/cuda/extras/CUPTI/lib64/"};

struct Mapped {
  const char* name;
  char path[kRoom];
};

int LookAt(dl_phdr_info* info, size_t, void* data) {
  auto* mapped = static_cast<Mapped*>(data);
  const char* slash = info->dlpi_name != nullptr ? strrchr(info->dlpi_name, '/') : nullptr;
  if (slash == nullptr || strncmp(slash + 1, mapped->name, strlen(mapped->name)) != 0) return 0;
  snprintf(mapped->path, sizeof mapped->path, "%s", info->dlpi_name);
  return 1;
}

bool FindMapped(const char* name, Mapped* mapped) {
  mapped->name = name;
  return dl_iterate_phdr(LookAt, mapped) != 0;
}

int DriverVersion() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return 0;
  using Ask = int (*)(int*);
  const auto ask = reinterpret_cast<Ask>(dlsym(driver, "cuDriverGetVersion"));
  int version = 0;
  return ask != nullptr && ask(&version) == 0 ? version : 0;
}

void* OpenFirst(int driver_major, char (&path)[kRoom]) {
  Mapped runtime = {};
  const bool has_runtime = FindMapped("libcudart.so", &runtime);
  if (has_runtime) strrchr(runtime.path, '/')[1] = 0;
  for (const char* folder : kFolders) {
    const bool is_beside = folder[0] == '%';
    if (is_beside && !has_runtime) continue;
    for (const Release& release : kReleases) {
      if (driver_major != 0 && release.major > driver_major) continue;
      const int length = snprintf(path, kRoom, "%s%s%s", is_beside ? runtime.path : "",
                                  is_beside ? folder + 2 : folder, release.name);
      if (length >= static_cast<int>(kRoom)) continue;
      if (void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)) return handle;
    }
  }
  return nullptr;
}

void* Open(Library* library) {
  Mapped mapped = {};
  const char* given = getenv("CUPTI_RECORDER_LIBRARY");
  if (FindMapped("libcupti.so", &mapped)) given = mapped.path;
  if (given == nullptr || given[0] == 0)
    return OpenFirst(library->driver_version / 1000, library->path);
  snprintf(library->path, kRoom, "%s", given);
  return dlopen(library->path, RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

bool Load(Library* library) {
  library->driver_version = DriverVersion();
  void* handle = Open(library);
  if (handle == nullptr) {
    snprintf(library->path, kRoom, "no libcupti for this driver (%d) was found",
             library->driver_version);
    return false;
  }
  const char* missing = nullptr;
#define CUPTI_RECORDER_RESOLVE(name, needed)                                               \
  library->name = reinterpret_cast<decltype(library->name)>(dlsym(handle, "cupti" #name)); \
  if (library->name == nullptr && (needed)) missing = "cupti" #name;
  CUPTI_RECORDER_FUNCTIONS(CUPTI_RECORDER_RESOLVE)
#undef CUPTI_RECORDER_RESOLVE
  if (missing != nullptr) {
    snprintf(library->path, kRoom, "libcupti has no %s", missing);
    return false;
  }
  // Where a name alone led to.
  Mapped mapped = {};
  if (FindMapped("libcupti.so", &mapped)) memcpy(library->path, mapped.path, kRoom);
  return library->GetVersion(&library->version) == CUPTI_SUCCESS;
}

}  // namespace fake_gpu_recorder
