// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/torch/torch_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

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

// The beginning of a file as a string. False: it cannot be read.
bool ReadBeginning(const char* path, char* text, size_t room) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t got = read(fd, text, room - 1);
  close(fd);
  if (got <= 0) return false;
  text[got] = '\0';
  return true;
}

// The text of <folder two levels above the library>/name.
bool ReadBeside(const char* path, const char* name, char* text, size_t room) {
  char file[1100];
  const size_t length = std::strlen(path);
  if (length + std::strlen(name) + 2 > sizeof(file)) return false;
  std::memcpy(file, path, length + 1);
  for (int level = 0; level < 2; ++level) {
    char* slash = std::strrchr(file, '/');
    if (slash == nullptr) return false;
    *slash = '\0';
  }
  std::strcat(std::strcat(file, "/"), name);
  return ReadBeginning(file, text, room);
}

uint32_t Number(const char** text) {
  uint32_t value = 0;
  while (**text >= '0' && **text <= '9' && value < 100000)
    value = value * 10 + static_cast<uint32_t>(*(*text)++ - '0');
  return value;
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

TorchVersion ParseVersion(const char* text) {
  while (*text == ' ' || *text == '\'' || *text == '"') ++text;
  TorchVersion version;
  version.major = Number(&text);
  if (*text != '.') return {};
  ++text;
  if (*text < '0' || *text > '9') return {};
  version.minor = Number(&text);
  return version;
}

TorchVersion VersionBeside(const char* path) {
  char text[1024];
  if (ReadBeside(path, "version.py", text, sizeof(text))) {
    constexpr char kAssignment[] = "__version__ = ";
    if (const char* found = std::strstr(text, kAssignment)) {
      return ParseVersion(found + sizeof(kAssignment) - 1);
    }
  }
  if (ReadBeside(path, "build-version", text, sizeof(text))) return ParseVersion(text);
  const char* suffix = std::strstr(path, ".so.");
  return suffix != nullptr ? ParseVersion(suffix + 4) : TorchVersion{};
}

}  // namespace gpuprof::tracer
