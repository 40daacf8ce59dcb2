// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/inductor/kernel_rows.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "proto/columns.h"
#include "proto/compiled_names.h"
#include "proto/container.h"
#include "proto/name_table.h"

namespace gpuprof::tracer::inductor {
namespace {

constexpr uint64_t kMostFileBytes = 32u << 20;
constexpr uint64_t kMostKernels = 8192;  // of the process
constexpr size_t kMostPathBytes = 4096;

// Reads a regular file whole. False: it is none, it is too long, or it cannot be read.
bool ReadWhole(Text path, std::vector<char>* out) {
  char name[kMostPathBytes];
  if (path.empty() || path.front() != '/' || path.size() >= sizeof name) return false;
  memcpy(name, path.data(), path.size());
  name[path.size()] = 0;
  struct stat status = {};
  // What is no file is not even opened: a pipe would wait, and a device may act. lstat is a
  // function since glibc 2.33 only.
  if (syscall(SYS_newfstatat, AT_FDCWD, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISREG(status.st_mode))
    return false;
  const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return false;
  bool is_read = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                 static_cast<uint64_t>(status.st_size) <= kMostFileBytes;
  if (is_read) out->resize(static_cast<size_t>(status.st_size));
  for (size_t at = 0; is_read && at < out->size();) {
    const ssize_t got = read(fd, out->data() + at, out->size() - at);
    if (got < 0 && errno == EINTR) continue;
    is_read = got > 0;
    if (got > 0) at += static_cast<size_t>(got);
  }
  close(fd);
  return is_read;
}

}  // namespace

void KernelRows::Pass(uint64_t now, uint32_t time_shift, bool keeps, jax::TrackSource* tracks,
                      cupti::BlockSink* sink) {
  GeneratedModule* module = WaitingModules().Take();
  if (module == nullptr) return;
  const size_t from = rows_.size();
  while (module != nullptr) {
    GeneratedModule* const next = module->next;
    tid_ = module->tid;
    Read(*module);
    GeneratedModule::Release(module);
    module = next;
  }
  Write(from, now, time_shift, tracks, sink);
  if (!keeps) rows_.clear();
}

void KernelRows::WriteAgain(uint64_t now, uint32_t time_shift, jax::TrackSource* tracks,
                            cupti::BlockSink* sink) {
  Write(0, now, time_shift, tracks, sink);
}

void KernelRows::Read(const GeneratedModule& module) {
  std::vector<char> file;
  if (!ReadWhole(module.path(), &file)) {
    ++files_lost_;
    return;
  }
  std::vector<LineOrigin> origins;
  LineOrigin origin;
  for (uint64_t at = 0; module.Next(&at, &origin.line, &origin.stack);) {
    if (origins.empty() || origin.line >= origins.back().line) origins.push_back(origin);
  }
  const uint32_t path = IdOf(module.path());
  for (const GeneratedKernel& kernel : ReadGeneratedFile({file.data(), file.size()}, origins)) {
    if (++kernels_ > kMostKernels) {
      ++kernels_lost_;
      continue;
    }
    Take(kernel, path);
  }
}

void KernelRows::Take(const GeneratedKernel& kernel, uint32_t file) {
  rows_.push_back({IdOf(proto::kCompiledKernel), IdOf(kernel.name), kernel.line});
  rows_.push_back({IdOf(proto::kCompiledFile), file, 0});
  const auto text = [this](Text name, Text value) {
    if (!value.empty()) rows_.push_back({IdOf(name), IdOf(value), 0});
  };
  text(proto::kCompiledOperations, kernel.operations);
  text(proto::kCompiledValues, kernel.values);
  for (const SourceLine& source : kernel.sources) {
    rows_.push_back({IdOf(proto::kCompiledSource), IdOf(source.file), source.line});
    text(proto::kCompiledFunction, source.function);
    text(proto::kCompiledCode, source.code);
  }
}

uint32_t KernelRows::IdOf(Text text) {
  const Text kept = text.substr(0, proto::kMostNameBytes);
  return strings_->InternText(kept.data(), static_cast<uint32_t>(kept.size()));
}

void KernelRows::Write(size_t from, uint64_t now, uint32_t time_shift, jax::TrackSource* tracks,
                       cupti::BlockSink* sink) {
  if (from >= rows_.size()) return;
  codec::ChunkBuilder builder(proto::ChunkKind::kOpValue, tracks->TrackOf(tid_, now), time_shift);
  // What rows refer to comes before them.
  tracks->WriteTracks();
  sink->WriteStringsBlock();
  for (size_t i = from; i < rows_.size(); ++i) {
    const uint64_t row[] = {now, rows_[i].name, rows_[i].value, rows_[i].text};
    builder.Append(row, now);
    if (builder.count() >= proto::kRowsPerChunk) sink->WriteRowBlock(&builder);
  }
  if (builder.count() != 0) sink->WriteRowBlock(&builder);
}

}  // namespace gpuprof::tracer::inductor
