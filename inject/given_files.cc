// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/given_files.h"

#include <sys/stat.h>

#include "inject/raw_syscall.h"
#include "inject/state.h"
#include "inject/text.h"

namespace gpuprof::inject {
namespace {

constinit char g_ring[sizeof(tracer::Settings::given_trace)] = {};

bool IsNewFileOfOurs(int fd) {
  struct stat status;
  return raw::Call(SYS_fstat, fd, raw::Arg(&status)) == 0 && S_ISREG(status.st_mode) &&
         status.st_size == 0 && status.st_uid == static_cast<uint32_t>(raw::Call(SYS_geteuid));
}

void NameDescriptor(int fd, char* path, size_t bytes) {
  Text(path, bytes).Add("/proc/self/task/").Number(raw::GetTid()).Add("/fd/").Number(fd);
}

}  // namespace

void TakeGivenFiles(const int* descriptors, int count) noexcept {
  bool is_wanted = count == kGivenFiles && g_ring[0] == 0 &&
                   g_process.ring_file_state.load() == 0 && g_settings.flight_bytes == 0;
  for (int i = 0; i < count; ++i) is_wanted = is_wanted && IsNewFileOfOurs(descriptors[i]);
  for (int i = 0; i < count && !is_wanted; ++i) raw::Call(SYS_close, descriptors[i]);
  if (!is_wanted) return;
  NameDescriptor(descriptors[0], g_ring, sizeof(g_ring));
  NameDescriptor(descriptors[1], g_settings.given_trace, sizeof(g_settings.given_trace));
}

const char* GivenRing() noexcept { return g_ring; }

void ForgetGivenFiles() noexcept { g_ring[0] = g_settings.given_trace[0] = 0; }

}  // namespace gpuprof::inject
