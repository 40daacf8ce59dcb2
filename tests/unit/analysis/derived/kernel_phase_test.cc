// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/kernel_phase.h"

#include <gtest/gtest.h>

namespace gpuprof::analysis {
namespace {

TEST(PhaseOfName, KnowsTheWordsOfLibraries) {
  EXPECT_EQ(PhaseOfName("flash_fwd_kernel"), Category::kForward);
  EXPECT_EQ(PhaseOfName("flash_bwd_dq_dk_dv_loop"), Category::kBackward);
  EXPECT_EQ(PhaseOfName("cudnn::cnn::wgrad2d_grouped_direct_kernel"), Category::kBackward);
  EXPECT_EQ(PhaseOfName("sm80_xmma_dgrad_implicit_gemm"), Category::kBackward);
  EXPECT_EQ(PhaseOfName("sm80_xmma_fprop_implicit_gemm"), Category::kForward);
  EXPECT_EQ(PhaseOfName("at::native::cunn_SoftMaxForward"), Category::kForward);
  EXPECT_EQ(PhaseOfName("LayerNormBackward_of_forward"), Category::kBackward);
  EXPECT_EQ(PhaseOfName("ampere_sgemm_128x64_tn"), std::nullopt);
  EXPECT_EQ(PhaseOfName(""), std::nullopt);
}

}  // namespace
}  // namespace gpuprof::analysis
