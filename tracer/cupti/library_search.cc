// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/library_search.h"

#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <initializer_list>

#include "proto/library_file.h"
#include "tracer/base/loaded_library.h"
#include "tracer/cupti/text.h"

namespace gpuprof::tracer::cupti {
namespace {

constexpr size_t kRoom = 1024;

// From the folder of a program's libcudart.so.
constexpr const char* kBesideRuntime[] = {
    "",                              // toolkits since 13, distributions, conda, nvidia/cu13/lib
    "../extras/CUPTI/lib64/",        // older toolkits
    "../../cuda_cupti/lib/",         // nvidia/cuda_runtime/lib of wheels for CUDA 11 and 12
    "../../../extras/CUPTI/lib64/",  // targets/x86_64-linux/lib
};
// From a folder of Python packages.
constexpr const char* kInPackages[] = {"nvidia/cu13/lib/", "nvidia/cuda_cupti/lib/"};
// From a toolkit's own folder.
constexpr const char* kInToolkit[] = {"lib64/", "lib/", "extras/CUPTI/lib64/"};

struct Visitor {
  VisitFolder visit;
  void* data;

  bool operator()(const char* folder, const char* inside) const {
    char path[kRoom];
    Text text(path);
    text.Add(folder).Add(inside);
    return !text.is_cut() && visit(path, data);
  }
};

bool BesideRuntime(const Visitor& visit) {
  LoadedLibrary runtime;
  if (!FindLibrary("libcudart.so", &runtime)) return false;
  char* slash = strrchr(runtime.path, '/');
  if (slash == nullptr) return false;
  slash[1] = 0;
  for (const char* beside : kBesideRuntime) {
    if (visit(runtime.path, beside)) return true;
  }
  return false;
}

// What the program was linked to look for libraries in.
struct OwnPath {
  char text[kRoom] = {};
  bool is_known = false;
};

int ReadOwnPath(dl_phdr_info* info, size_t, void* data) {
  auto* own = static_cast<OwnPath*>(data);
  const ElfW(Dyn)* entry = nullptr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
  }
  const char* strings = nullptr;
  ElfW(Xword) path = 0;
  bool has_path = false;
  for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_RUNPATH || (entry->d_tag == DT_RPATH && !has_path)) {
      path = entry->d_un.d_val;
      has_path = true;
    }
  }
  // The loader has made an address of the offset, on most machines.
  const auto base = reinterpret_cast<const char*>(info->dlpi_addr);
  if (strings != nullptr && strings < base) strings = base + reinterpret_cast<size_t>(strings);
  if (strings != nullptr && has_path) Text(own->text).Add(strings + path);
  own->is_known = has_path;
  return 1;  // the program itself comes first
}

bool OnOwnPath(const Visitor& visit) {
  OwnPath own;
  dl_iterate_phdr(ReadOwnPath, &own);
  if (!own.is_known) return false;
  char origin[kRoom];
  const ssize_t length = readlink("/proc/self/exe", origin, sizeof(origin) - 1);
  if (length <= 0) return false;
  origin[length] = 0;
  if (char* slash = strrchr(origin, '/')) *slash = 0;
  char folder[kRoom];
  for (const char* at = own.text; NextOnPath(&at, origin, folder, sizeof(folder));) {
    if (visit(folder, "")) return true;
  }
  return false;
}

// Folders of Python packages, by any library that was loaded from one. They are looked into later:
// under the lock of this walk nothing may be loaded.
struct PackageFolders {
  static constexpr uint32_t kMost = 8;
  char folder[kMost][kRoom];
  uint32_t count = 0;

  void Add(const char* path) {
    for (uint32_t i = 0; i < count; ++i) {
      if (strcmp(folder[i], path) == 0) return;
    }
    if (count < kMost) strcpy(folder[count++], path);
  }
};

int VisitObject(dl_phdr_info* info, size_t, void* data) {
  if (info->dlpi_name == nullptr) return 0;
  for (const char* inside : {"/site-packages/", "/dist-packages/"}) {
    char folder[kRoom];
    if (CutBehind(info->dlpi_name, inside, folder, sizeof(folder)))
      static_cast<PackageFolders*>(data)->Add(folder);
  }
  return 0;
}

bool InPackages(const Visitor& visit) {
  PackageFolders folders;
  dl_iterate_phdr(VisitObject, &folders);
  for (uint32_t i = 0; i < folders.count; ++i) {
    for (const char* in_packages : kInPackages) {
      if (visit(folders.folder[i], in_packages)) return true;
    }
  }
  return false;
}

bool OnLoaderPath(const Visitor& visit) {
  const char* at = getenv("LD_LIBRARY_PATH");
  char folder[kRoom];
  while (at != nullptr && NextOnPath(&at, "", folder, sizeof(folder))) {
    if (visit(folder, "")) return true;
  }
  return false;
}

bool InEnvironment(const Visitor& visit, const char* variable,
                   std::initializer_list<const char*> inside) {
  const char* home = getenv(variable);
  if (home == nullptr || *home != '/') return false;
  char folder[kRoom];
  Text text(folder);
  text.Add(home).Add("/");
  if (text.is_cut()) return false;
  for (const char* in_home : inside) {
    if (visit(folder, in_home)) return true;
  }
  return false;
}

bool InNamedToolkit(const Visitor& visit) {
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (InEnvironment(visit, variable, {kInToolkit[0], kInToolkit[1], kInToolkit[2]})) return true;
  }
  return false;
}

// The places that the loader knows by itself, one by one: what lies there is looked at before the
// loader is asked for it by name. By system calls: mappings of the program's are recorded.
bool InLoaderCache(const Visitor& visit) {
  const long fd = syscall(SYS_openat, AT_FDCWD, "/etc/ld.so.cache", O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return false;
  const long size = syscall(SYS_lseek, fd, 0, SEEK_END);
  const long address =
      size <= 0 ? -1 : syscall(SYS_mmap, nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  syscall(SYS_close, fd);
  if (address == -1) return false;
  const auto* bytes = reinterpret_cast<const char*>(address);
  bool is_done = false;
  char folder[kRoom];
  for (size_t at = 0; !is_done && proto::NextInLoaderCache(bytes, static_cast<size_t>(size), &at,
                                                           "libcupti.so", folder, sizeof(folder));)
    is_done = visit(folder, "");
  syscall(SYS_munmap, address, size);
  return is_done;
}

bool InUsualToolkit(const Visitor& visit) {
  for (const char* in_toolkit : kInToolkit) {
    if (visit("/usr/local/cuda/", in_toolkit)) return true;
  }
  return false;
}

}  // namespace

bool CutBehind(const char* path, const char* inside, char* folder, size_t room) {
  const char* at = strstr(path, inside);
  if (at == nullptr) return false;
  const size_t length = static_cast<size_t>(at - path) + strlen(inside);
  if (length + 1 > room) return false;
  memcpy(folder, path, length);
  folder[length] = 0;
  return true;
}

bool NextOnPath(const char** at, const char* origin, char* folder, size_t room) {
  while (**at != 0) {
    const char* end = strchrnul(*at, ':');
    const char* part = *at;
    *at = *end == 0 ? end : end + 1;
    size_t used = 0;
    for (const char* name : {"$ORIGIN", "${ORIGIN}"}) {
      const size_t length = strlen(name);
      if (strncmp(part, name, length) != 0) continue;
      used = strlen(origin);
      if (used >= room) break;
      memcpy(folder, origin, used);
      part += length;
      break;
    }
    const auto rest = static_cast<size_t>(end - part);
    // What begins with neither is relative to wherever the program happens to stand.
    if ((used == 0 && *part != '/') || used + rest + 2 > room) continue;
    memcpy(folder + used, part, rest);
    folder[used + rest] = '/';
    folder[used + rest + 1] = 0;
    return true;
  }
  return false;
}

bool EachFolder(VisitFolder visit, void* data) {
  const Visitor visitor = {visit, data};
  return BesideRuntime(visitor) || OnLoaderPath(visitor) || OnOwnPath(visitor) ||
         InPackages(visitor) || InEnvironment(visitor, "CONDA_PREFIX", {"lib/"}) ||
         InNamedToolkit(visitor) || InLoaderCache(visitor) || visit("", data) ||
         InUsualToolkit(visitor);
}

}  // namespace gpuprof::tracer::cupti
