// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/sampler_call.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

namespace gpuprof::tracer {

void CallSampler(const Settings& settings) {
  char path[sizeof settings.bundle + sizeof proto::kGpuWaitFile + 1];
  stpcpy(stpcpy(stpcpy(path, settings.bundle), "/"), proto::kGpuWaitFile);
  const int saved = errno;
  unlink(path);
  errno = saved;
}

}  // namespace gpuprof::tracer
