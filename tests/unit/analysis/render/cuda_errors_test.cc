// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/base/cuda_errors.h"

#include <gtest/gtest.h>

namespace gpuprof::analysis::test {
namespace {

TEST(CudaErrors, AreWordsWithTheirNumber) {
  EXPECT_EQ(CudaErrorWords(2), "out of memory (2)");
  EXPECT_EQ(CudaErrorWords(700), "illegal address (700)");
  EXPECT_EQ(CudaErrorWords(123456), "error 123456");
}

}  // namespace
}  // namespace gpuprof::analysis::test
