// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/symbols/tensor_cores.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "proto/matrix_ops.h"

namespace gpuprof::analysis::test {
namespace {

using proto::MatrixOp;
using proto::MatrixOpBit;

constexpr uint32_t kHmma = proto::kCodeLookedAt | MatrixOpBit(MatrixOp::kHmma);

TEST(TensorCores, AreToldByNamesOfEveryGeneration) {
  const struct {
    std::string_view name, input;
  } used[] = {
      {"volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn", "fp16"},
      {"turing_h1688gemm_128x128_ldg8_nn", "fp16"},
      {"ampere_bf16_s16816gemm_bf16_128x64_ldg8_relu_f2f_stages_64x4_tn", "bf16"},
      {"sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16_"
       "stage4_warpsize2x2x1_g1_tensor16x8x8_alignc4_execute_kernel",
       "tf32"},
      {"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_align1>"
       "(cutlass_80_tensorop_s1688gemm_128x64_32x6_nt_align1::Params)",
       "tf32"},
      {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1_execute_"
       "segment_k_off_kernel__5x_cublas",
       "bf16"},
      {"nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT", "bf16"},
      {"nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_TNT", "bf16"},
      {"nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_TNN", "fp16"},
      {"bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_sm100f", "fp4"},
      {"fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext",
       "fp8"},
      {"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, "
       "4, false, false, cutlass::bfloat16_t>>",
       "bf16"},
  };
  for (const auto& kernel : used) {
    const TensorCoreVerdict verdict = TensorCoresOf(kernel.name, 9, 0);
    EXPECT_EQ(verdict.use, TensorCores::kUsed) << kernel.name;
    EXPECT_EQ(verdict.input, kernel.input) << kernel.name;
    EXPECT_NE(kernel.name.find(verdict.evidence), std::string_view::npos);
  }
}

TEST(TensorCores, AreNotWherePlainArithmeticIs) {
  for (const std::string_view name :
       {"ampere_sgemm_32x32_sliced1x4_tn", "volta_sgemm_64x64_nt",
        "cudnn_ampere_scudnn_128x64_relu_xregs_large_nn_v1",
        "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_"
        "alignc4_execute_kernel__5x_cublas",
        "void cutlass::Kernel<cutlass_80_simt_sgemm_128x64_8x5_nn_align1>",
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>",
        "void pytorch_flash::flash_fwd_splitkv_combine_kernel<pytorch_flash::Flash_fwd_kernel>",
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "triton_poi_fused__to_copy_1"}) {
    const TensorCoreVerdict verdict = TensorCoresOf(name, 9, 0);
    EXPECT_EQ(verdict.use, TensorCores::kUnused) << name;
    EXPECT_EQ(verdict.input, "") << name;
  }
}

TEST(TensorCores, AreLeftOpenWhereTheNameTellsNothing) {
  for (const std::string_view name :
       {"VectorAdd(float*, int)", "_matmul_kernel", "main_kernel", ""})
    EXPECT_EQ(TensorCoresOf(name, 9, 0).use, TensorCores::kUnknown) << name;
}

TEST(TensorCores, OldDevicesHaveNone) {
  const TensorCoreVerdict verdict = TensorCoresOf("some_hmma_kernel", 6, kHmma);
  EXPECT_EQ(verdict.use, TensorCores::kUnused);
  EXPECT_EQ(TensorCoresOf("some_hmma_kernel", 0, 0).use, TensorCores::kUsed);
}

TEST(TensorCores, AreToldByTheCodeRatherThanTheName) {
  const TensorCoreVerdict used = TensorCoresOf("plain_name", 9, kHmma);
  EXPECT_EQ(used.use, TensorCores::kUsed);
  EXPECT_EQ(used.evidence, "SASS: HMMA");
  EXPECT_EQ(used.input, "");
  const TensorCoreVerdict unused = TensorCoresOf("my_hmma_kernel", 9, proto::kCodeLookedAt);
  EXPECT_EQ(unused.use, TensorCores::kUnused);
  EXPECT_EQ(unused.evidence, "SASS: no matrix instructions");
  EXPECT_EQ(unused.input, "");
  EXPECT_EQ(TensorCoresOf("my_hmma_kernel", 9, 0).use, TensorCores::kUsed);
  EXPECT_EQ(TensorCoresOf("ampere_sgemm_32x32", 9, kHmma).use, TensorCores::kUsed);
}

TEST(TensorCores, OperandsAreThoseOfTheInstruction) {
  const struct {
    std::string_view name;
    std::vector<MatrixOp> ops;
    std::string_view evidence, input;
  } kernels[] = {
      {"k", {MatrixOp::kDmma}, "SASS: DMMA", "fp64"},
      {"k", {MatrixOp::kImma}, "SASS: IMMA", "int8"},
      {"k", {MatrixOp::kBmma}, "SASS: BMMA", "int1"},
      {"k", {MatrixOp::kQgmma}, "SASS: QGMMA", "fp8"},
      {"k", {MatrixOp::kUtcomma}, "SASS: UTCOMMA", "fp4"},
      {"k_e2m1", {MatrixOp::kUtcqmma}, "SASS: UTCQMMA", "fp4"},
      {"nvjet_sm90_tst_128x128_64x6_2x1_v_bz_NNT", {MatrixOp::kHgmma}, "SASS: HGMMA", "bf16"},
      {"k_bf16", {MatrixOp::kQmma}, "SASS: QMMA", "fp8"},
      {"k_bf16", {MatrixOp::kHgmma, MatrixOp::kHmma}, "SASS: HMMA, HGMMA", "bf16"},
      // Eight bits are made sixteen where the instructions want them so.
      {"dequantized_e4m3_half", {MatrixOp::kHmma}, "SASS: HMMA", "fp16"},
      {"k_bf16", {MatrixOp::kHgmma, MatrixOp::kQgmma}, "SASS: HGMMA, QGMMA", ""},
  };
  for (const auto& kernel : kernels) {
    uint32_t ops = proto::kCodeLookedAt;
    for (const MatrixOp op : kernel.ops) ops |= MatrixOpBit(op);
    const TensorCoreVerdict verdict = TensorCoresOf(kernel.name, 9, ops);
    EXPECT_EQ(verdict.use, TensorCores::kUsed) << kernel.name;
    EXPECT_EQ(verdict.evidence, kernel.evidence);
    EXPECT_EQ(verdict.input, kernel.input) << kernel.name << ": " << kernel.evidence;
  }
}

}  // namespace
}  // namespace gpuprof::analysis::test
