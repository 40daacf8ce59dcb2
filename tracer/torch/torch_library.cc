// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/torch/torch_library.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

namespace gpuprof::tracer {
namespace {

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
