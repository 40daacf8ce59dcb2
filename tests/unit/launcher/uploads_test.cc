// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "launcher/upload/uploads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpuprof::launcher {
namespace {

using testing::ElementsAre;

TEST(UploadEnvironment, HasNothingOfGpuprofsButTheFolder) {
  const char* const environment[] = {
      "HOME=/home/me",
      "GPUPROF_RING=1048576",
      "GPUPROF_BUNDLE=/other",
      "LD_PRELOAD=/usr/lib/gpuprof/libgpuprof_inject.so:/usr/lib/libjemalloc.so",
      "CUDA_INJECTION64_PATH=/usr/lib/gpuprof/libgpuprof_inject.so",
      "NVTX_INJECTION64_PATH=/opt/tool.so",
      nullptr};
  EXPECT_THAT(UploadEnvironment(environment, "/a b/bundle"),
              ElementsAre("HOME=/home/me", "LD_PRELOAD=/usr/lib/libjemalloc.so",
                          "NVTX_INJECTION64_PATH=/opt/tool.so", "GPUPROF_BUNDLE=/a b/bundle"));
}

TEST(UploadEnvironment, LeavesOtherPreloadsAsTheyAre) {
  const char* const own[] = {"LD_PRELOAD=/usr/lib/gpuprof/libgpuprof_inject.so", nullptr};
  EXPECT_THAT(UploadEnvironment(own, "/b"), ElementsAre("GPUPROF_BUNDLE=/b"));
  const char* const foreign[] = {"LD_PRELOAD=a.so  b.so", nullptr};
  EXPECT_THAT(UploadEnvironment(foreign, "/b"),
              ElementsAre("LD_PRELOAD=a.so  b.so", "GPUPROF_BUNDLE=/b"));
}

}  // namespace
}  // namespace gpuprof::launcher
