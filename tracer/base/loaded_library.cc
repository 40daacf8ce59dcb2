// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/base/loaded_library.h"

#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <cstring>

namespace gpuprof::tracer {
namespace {

struct Search {
  const char* name;
  char* path;
  size_t room;
};

int VisitForName(dl_phdr_info* info, size_t, void* data) {
  const Search* search = static_cast<const Search*>(data);
  if (info->dlpi_name == nullptr) return 0;
  const char* slash = std::strrchr(info->dlpi_name, '/');
  const char* file = slash != nullptr ? slash + 1 : info->dlpi_name;
  if (std::strncmp(file, search->name, std::strlen(search->name)) != 0) return 0;
  if (std::strlen(info->dlpi_name) >= search->room) return 0;
  std::strcpy(search->path, info->dlpi_name);
  return 1;
}

int VisitForCounters(dl_phdr_info* info, size_t size, void* data) {
  if (size >= offsetof(dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs)) {
    // Adds alone would do for finding; a library that went can come back.
    *static_cast<uint64_t*>(data) = info->dlpi_adds + info->dlpi_subs;
  }
  return 1;
}

}  // namespace

bool LoaderChanged(uint64_t* seen) {
  uint64_t now = *seen + 1;
  dl_iterate_phdr(VisitForCounters, &now);
  const bool changed = now != *seen;
  *seen = now;
  return changed;
}

bool FindLibrary(const char* name, LoadedLibrary* library) {
  Search search = {name, library->path, sizeof(library->path)};
  if (dl_iterate_phdr(VisitForName, &search) == 0) return false;
  // Takes the loader's lock, which a load under way holds until the library's constructors have
  // run.
  library->handle = dlopen(library->path, RTLD_NOLOAD | RTLD_LAZY);
  return library->handle != nullptr;
}

}  // namespace gpuprof::tracer
