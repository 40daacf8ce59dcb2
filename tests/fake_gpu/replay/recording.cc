// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fake_gpu/replay/recording.h"

#include <cstdio>
#include <cstring>
#include <memory>

namespace fake_gpu_replay {
namespace {

constexpr uint32_t kMostNameBytes = 1 << 20;

struct Closer {
  void operator()(FILE* file) const { fclose(file); }
};

bool ReadBytes(FILE* file, void* to, size_t bytes) { return fread(to, 1, bytes, file) == bytes; }

bool ReadName(FILE* file, std::string* name) {
  uint32_t length;
  if (!ReadBytes(file, &length, sizeof length) || length > kMostNameBytes) return false;
  name->resize(length);
  return ReadBytes(file, name->data(), length);
}

bool IsSound(const Row& row, const Recording& recording) {
  return row.type >= kRuntimeCall && row.type <= kSet && row.name < recording.names.size() &&
         row.start <= row.end;
}

}  // namespace

const char* Read(const char* path, Recording* recording) {
  const std::unique_ptr<FILE, Closer> file(fopen(path, "rb"));
  if (file == nullptr) return "cannot be opened";
  FileHeader header;
  if (!ReadBytes(file.get(), &header, sizeof header) ||
      memcmp(header.magic, kMagic, sizeof kMagic) != 0) {
    return "is no recording";
  }
  for (uint32_t i = 0; i < header.strings; ++i) {
    if (!ReadName(file.get(), &recording->names.emplace_back())) return "ends within its names";
  }
  for (uint32_t i = 0; i < header.rows; ++i) {
    Row& row = recording->rows.emplace_back();
    if (!ReadBytes(file.get(), &row, sizeof row)) return "ends within its rows";
    if (!IsSound(row, *recording)) return "has a row that means nothing";
    if (i != 0 && row.end < recording->rows[i - 1].end) return "is not sorted";
  }
  return nullptr;
}

}  // namespace fake_gpu_replay
