// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/library.h"

#include <dlfcn.h>
#include <unistd.h>

#include "proto/cupti_functions.h"
#include "proto/library_file.h"
#include "tracer/base/loaded_library.h"
#include "tracer/cupti/driver.h"
#include "tracer/cupti/library_search.h"
#include "tracer/cupti/text.h"

namespace gpuprof::tracer::cupti {
namespace {

constexpr char kFileName[] = "libcupti.so";
struct Soname {
  const char* name;
  uint32_t major;  // 0: not told
};
// Newest first: an older library cannot decode what a newer driver tells.
constexpr Soname kSonames[] = {{"libcupti.so.14", 14},
                               {"libcupti.so.13", 13},
                               {"libcupti.so.12", 12},
                               {"libcupti.so.11.8", 11},
                               {"libcupti.so", 0}};
constexpr uint32_t kSonameCount = sizeof(kSonames) / sizeof(kSonames[0]);
constexpr uint32_t kDriverMajor = 1000;  // of cuDriverGetVersion

struct Search {
  uint32_t driver_major = 0;
  void* handle = nullptr;
  char path[1024] = {};
  char too_new[1024] = {};  // the first that was found and is not for this driver
  // As Library's; and of which names there are such files, a bit each. Asked for by that name, the
  // loader could take the same file.
  char passed_over[1200] = {};
  uint32_t unsound_names = 0;
};

bool Fits(uint32_t major, uint32_t driver_major) {
  return major == 0 || driver_major == 0 || major <= driver_major;
}

// True: it is none that the loader may be given.
bool PassOver(uint32_t name, Search* search) {
  const char* fault = proto::FaultOfLibrary(search->path);
  if (fault == nullptr) return false;
  search->unsound_names |= 1u << name;
  if (search->passed_over[0] == 0) Text(search->passed_over).Add(search->path).Add(" ").Add(fault);
  return true;
}

bool OpenIn(const char* folder, void* data) {
  auto* search = static_cast<Search*>(data);
  const bool by_name = folder[0] == 0;
  bool is_too_new = by_name && search->too_new[0] != 0;
  for (uint32_t name = 0; name < kSonameCount; ++name) {
    const Soname& soname = kSonames[name];
    Text text(search->path);
    text.Add(folder).Add(soname.name);
    // dlopen of what is not there allocates for its error text; most places hold nothing.
    if (text.is_cut() || (!by_name && access(search->path, F_OK) != 0)) continue;
    if (!Fits(soname.major, search->driver_major)) {
      is_too_new |= !by_name;
      if (!by_name && search->too_new[0] == 0) strcpy(search->too_new, search->path);
      continue;
    }
    // The name that tells no version is a link to the newest there is.
    if (soname.major == 0 && is_too_new) continue;
    if (by_name ? (search->unsound_names >> name & 1) != 0 : PassOver(name, search)) continue;
    search->handle = dlopen(search->path, RTLD_NOW | RTLD_LOCAL);
    if (search->handle != nullptr) return true;
  }
  return false;
}

void Open(Search* search) {
  LoadedLibrary loaded;
  if (FindLibrary(kFileName, &loaded)) {
    strcpy(search->path, loaded.path);
    search->handle = loaded.handle;
    return;
  }
  search->driver_major = DriverVersion() / kDriverMajor;
  if (!EachFolder(OpenIn, search)) return;
  // By its name alone: where that led to is what the report should say.
  if (FindLibrary(kFileName, &loaded)) strcpy(search->path, loaded.path);
}

void SayNotFound(const Search& search, Text* reason) {
  if (search.passed_over[0] != 0) {
    reason->Add("no GPU activity is recorded: ").Add(search.passed_over).Add("; install it anew");
    if (search.too_new[0] != 0)
      reason->Add(" (").Add(search.too_new).Add(" is for a newer driver than this one)");
    return;
  }
  if (search.too_new[0] != 0) {
    reason->Add("no GPU activity is recorded: ")
        .Add(search.too_new)
        .Add(" is for a newer driver than this one, of CUDA ")
        .Number(search.driver_major)
        .Add("; install the CUPTI that fits the driver, or a newer driver");
    return;
  }
  reason->Add(
      "no GPU activity can be recorded: libcupti was found neither next to the program's CUDA "
      "runtime, nor in its Python packages, nor by the loader. Install the CUPTI of the program's "
      "CUDA (pip: nvidia-cuda-cupti), or name its folder in LD_LIBRARY_PATH");
}

constexpr bool IsNeeded(const char* symbol) {
  for (const char* needed : proto::kNeededCuptiFunctions) {
    if (__builtin_strcmp(needed, symbol) == 0) return true;
  }
  return false;
}

// Doctor asks for the same as the table of functions.
constexpr bool NeededAgree() {
  size_t count = 0;
  bool agree = true;
#define GPUPROF_CUPTI_COMPARE(member, symbol, type, needed) \
  agree &= IsNeeded("cupti" symbol) == (needed);            \
  count += (needed) ? 1 : 0;
  GPUPROF_CUPTI_FUNCTIONS(GPUPROF_CUPTI_COMPARE)
#undef GPUPROF_CUPTI_COMPARE
  return agree &&
         count == sizeof(proto::kNeededCuptiFunctions) / sizeof(proto::kNeededCuptiFunctions[0]);
}
static_assert(NeededAgree());

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

bool Load(Library* library) {
  Text reason(library->reason);
  Search search;
  Open(&search);
  strcpy(library->passed_over, search.passed_over);
  if (search.handle == nullptr) {
    SayNotFound(search, &reason);
    return false;
  }
  strcpy(library->path, search.path);
  if (const char* missing = Resolve(search.handle, &library->functions)) {
    reason.Add("no GPU activity can be recorded: ").Add(library->path).Add(" has no ").Add(missing);
    reason.Add("; gpuprof needs CUPTI of CUDA 11.8 or newer");
    return false;
  }
  if (library->functions.get_version(&library->version) != kSuccess) library->version = 0;
  return true;
}

}  // namespace gpuprof::tracer::cupti
