// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/model/cuda_versions.h"

#include <gtest/gtest.h>

namespace gpuprof::analysis {
namespace {

TEST(CudaVersions, TextsTellTheNumbers) {
  EXPECT_EQ(CudaVersionText(kCudaVersions[0], 13020), "driver for CUDA 13.2");
  EXPECT_EQ(CudaVersionText(kCudaVersions[1], 11080), "CUDA 11.8");
  EXPECT_EQ(CudaVersionText(kCudaVersions[2], 130201), "CUPTI 13.2 (130201)");
  EXPECT_EQ(CudaVersionText(kCudaVersions[0], 0), "");
  EXPECT_EQ(CudaVersionText(kCudaVersions[0], -5), "");
  for (const CudaVersionKind& kind : kCudaVersions) {
    for (const int64_t number : {11080, 12040, 13000, 130001, 120400, 130301}) {
      const std::string text = CudaVersionText(kind, number);
      const bool is_exact = number % kind.per_minor == 0 || kind.key == "cupti_version";
      if (is_exact) {
        EXPECT_EQ(CudaVersionNumber(kind, text), number) << text;
      }
    }
  }
}

TEST(CudaVersions, OtherNotesTellNone) {
  EXPECT_EQ(CudaVersionNumber(kCudaVersions[2], "CUPTI 13.0 (130001) of /a/b.so, by its"), 130001);
  for (const char* note : {"", "CUPTI", "CUPTI x", "CUPTI 13", "CUPTI 13.", "CUPTI -1.0",
                           "CUPTI 13.0 (", "CUDA 13.0", "CUPTI 99999999999999999999.0"})
    EXPECT_EQ(CudaVersionNumber(kCudaVersions[2], note), std::nullopt) << note;
  EXPECT_EQ(CudaVersionNumber(kCudaVersions[1], "driver for CUDA 13.0"), std::nullopt);
}

}  // namespace
}  // namespace gpuprof::analysis
