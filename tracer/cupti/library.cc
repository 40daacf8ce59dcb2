// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <initializer_list>

#include "tracer/base/loaded_library.h"

namespace gpuprof::tracer::cupti {
namespace {

constexpr char kFileName[] = "libcupti.so";
// Newest first: an older library cannot decode what a newer driver tells.
constexpr const char* kSonames[] = {"libcupti.so.14", "libcupti.so.13", "libcupti.so.12",
                                    "libcupti.so.11.8", "libcupti.so"};
// Where a toolkit or a Python wheel keeps it, from the folder of its libcudart.so.
constexpr const char* kBesideRuntime[] = {
    "",                              // toolkits since 13, distributions, conda, nvidia/cu13/lib
    "../extras/CUPTI/lib64/",        // older toolkits
    "../../cuda_cupti/lib/",         // nvidia/cuda_runtime/lib of wheels for CUDA 11 and 12
    "../../../extras/CUPTI/lib64/",  // targets/x86_64-linux/lib
};

// strlcat's half: false if it does not fit.
bool Append(char* to, size_t room, const char* text) {
  const size_t used = strlen(to);
  if (used + strlen(text) + 1 > room) return false;
  strcpy(to + used, text);
  return true;
}

void* OpenIn(const char* folder, char (&path)[1024]) {
  for (const char* soname : kSonames) {
    path[0] = 0;
    if (!Append(path, sizeof(path), folder) || !Append(path, sizeof(path), soname)) continue;
    // dlopen of what is not there allocates for its error text; most places hold nothing.
    if (folder[0] != 0 && access(path, F_OK) != 0) continue;
    if (void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  return nullptr;
}

void* OpenBesideRuntime(char (&path)[1024]) {
  LoadedLibrary runtime;
  if (!FindLibrary("libcudart.so", &runtime)) return nullptr;
  char* slash = strrchr(runtime.path, '/');
  if (slash == nullptr) return nullptr;
  slash[1] = 0;
  for (const char* beside : kBesideRuntime) {
    char folder[1024] = {};
    if (!Append(folder, sizeof(folder), runtime.path) || !Append(folder, sizeof(folder), beside))
      continue;
    if (void* handle = OpenIn(folder, path)) return handle;
  }
  return nullptr;
}

void* OpenInToolkit(char (&path)[1024]) {
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* home = getenv(variable);
    if (home == nullptr || *home == 0) continue;
    for (const char* inside : {"/lib64/", "/lib/", "/extras/CUPTI/lib64/"}) {
      char folder[1024] = {};
      if (!Append(folder, sizeof(folder), home) || !Append(folder, sizeof(folder), inside))
        continue;
      if (void* handle = OpenIn(folder, path)) return handle;
    }
  }
  for (const char* folder : {"/usr/local/cuda/lib64/", "/usr/local/cuda/extras/CUPTI/lib64/"}) {
    if (void* handle = OpenIn(folder, path)) return handle;
  }
  return nullptr;
}

void* Open(char (&path)[1024]) {
  LoadedLibrary loaded;
  if (FindLibrary(kFileName, &loaded)) {
    strcpy(path, loaded.path);
    return loaded.handle;
  }
  if (void* handle = OpenBesideRuntime(path)) return handle;
  if (void* handle = OpenIn("", path)) {
    // By its name alone: where that led to is what the report should say.
    if (FindLibrary(kFileName, &loaded)) strcpy(path, loaded.path);
    return handle;
  }
  return OpenInToolkit(path);
}

// Null: all there. Else the symbol that is missing.
const char* Resolve(void* handle, Functions* functions) {
  const char* missing = nullptr;
#define GPUPROF_CUPTI_RESOLVE(member, symbol, type, needed)                                      \
  functions->member = reinterpret_cast<Functions::member##_type>(dlsym(handle, "cupti" symbol)); \
  if (functions->member == nullptr && needed && missing == nullptr) missing = "cupti" symbol;
  GPUPROF_CUPTI_FUNCTIONS(GPUPROF_CUPTI_RESOLVE)
#undef GPUPROF_CUPTI_RESOLVE
  return missing;
}

}  // namespace

bool DriverIsLoaded() {
  LoadedLibrary driver;
  return FindLibrary("libcuda.so", &driver);
}

bool Load(Library* library) {
  library->reason[0] = 0;
  char* reason = library->reason;
  constexpr size_t kRoom = sizeof(library->reason);
  void* handle = Open(library->path);
  if (handle == nullptr) {
    Append(reason, kRoom,
           "no GPU activity can be recorded: libcupti was found neither beside the program's CUDA "
           "runtime nor by the loader; install the CUPTI of its CUDA (pip: nvidia-cuda-cupti), or "
           "name its folder in LD_LIBRARY_PATH");
    return false;
  }
  if (const char* missing = Resolve(handle, &library->functions)) {
    Append(reason, kRoom, "no GPU activity can be recorded: ");
    Append(reason, kRoom, library->path);
    Append(reason, kRoom, " has no ");
    Append(reason, kRoom, missing);
    Append(reason, kRoom, "; gpuprof needs CUPTI of CUDA 11.8 or newer");
    return false;
  }
  if (library->functions.get_version(&library->version) != kSuccess) library->version = 0;
  return true;
}

}  // namespace gpuprof::tracer::cupti
