// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/op_work.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/derived/precision.h"
#include "proto/matrix_ops.h"

namespace gpuprof::analysis {
namespace {

class OpWorkTest : public testing::Test {
 protected:
  // Reads a detail as the importer writes it.
  const RowDetail& Read(const std::string& dims, const std::string& types,
                        const std::string& values = "") {
    std::string text = "{\"Input Dims\":" + dims + ",\"Input type\":" + types;
    if (!values.empty()) text += ",\"Concrete Inputs\":" + values;
    return ReadText(text + "}");
  }
  const RowDetail& ReadText(const std::string& text) {
    process_.strings[++last_] = text;
    return details_.Of(last_);
  }

  Process process_;
  RowDetails details_{process_};
  uint32_t last_ = 0;
};

TEST_F(OpWorkTest, ProductsOfMatricesCountTwoForEachStep) {
  const std::string two = R"(["c10::BFloat16","c10::BFloat16"])";
  EXPECT_EQ(FlopsOf("aten::mm", Read("[[8944,1024],[1024,2816]]", two)), 2ull * 8944 * 1024 * 2816);
  EXPECT_EQ(FlopsOf("aten::bmm", Read("[[3,4,5],[3,5,6]]", two)), 2u * 3 * 4 * 5 * 6);
  const std::string five = R"(["float","float","float","Scalar","Scalar"])";
  EXPECT_EQ(FlopsOf("aten::addmm", Read("[[7],[2,3],[3,7],[],[]]", five)), 2u * 2 * 3 * 7);
  EXPECT_EQ(FlopsOf("aten::mm", Read("[[2,3],[4,5]]", two)), std::nullopt) << "do not fit";
  EXPECT_EQ(FlopsOf("aten::add", Read("[[2,3],[2,3]]", two)), std::nullopt);
}

TEST_F(OpWorkTest, ConvolutionsCountTheirOutputs) {
  const std::string types = R"(["float","float","ScalarList","ScalarList","ScalarList","Scalar"])";
  const RowDetail& forward = Read("[[8,3,32,32],[16,3,3,3],[],[],[],[]]", types,
                                  R"(["","","[1, 1]","[2, 2]","[1, 1]","1"])");
  EXPECT_EQ(FlopsOf("aten::cudnn_convolution", forward), 2u * 8 * 16 * 16 * 16 * 3 * 3 * 3);
  const std::string backward = R"(["float","float","float"])";
  EXPECT_EQ(FlopsOf("aten::convolution_backward",
                    Read("[[8,16,16,16],[8,3,32,32],[16,3,3,3]]", backward,
                         R"(["","","","","","","","","","","[True, True, True]"])")),
            2u * 2 * 8 * 16 * 16 * 16 * 3 * 3 * 3);
  EXPECT_EQ(FlopsOf("aten::convolution_backward",
                    Read("[[8,16,16,16],[8,3,32,32],[16,3,3,3]]", backward)),
            std::nullopt)
      << "it may be for one of the inputs";
}

TEST_F(OpWorkTest, CausalAttentionIsHalf) {
  const std::string types = R"(["c10::Half","c10::Half","c10::Half"])";
  const std::string dims = "[[2,10,4,8],[2,20,4,8],[2,20,4,8]]";
  const RowDetail& whole = Read(dims, types, R"(["","","","","","","","","False"])");
  const RowDetail& causal = Read(dims, types, R"(["","","","","","","","","True"])");
  EXPECT_EQ(FlopsOf("aten::_flash_attention_forward", whole), 4u * 2 * 10 * 4 * 8 * 20);
  EXPECT_EQ(FlopsOf("aten::_flash_attention_forward", causal), 2u * 2 * 10 * 4 * 8 * 20);
  EXPECT_EQ(FlopsOf("aten::_flash_attention_forward", Read(dims, types)), std::nullopt);
}

TEST_F(OpWorkTest, ElementwiseOperationsMoveTheirInputsAndOneOutput) {
  const std::string two = R"(["c10::BFloat16","c10::BFloat16"])";
  EXPECT_EQ(ElementwiseBytesOf("aten::mul", Read("[[4,8],[8]]", two)), 2u * (32 + 8 + 32));
  EXPECT_EQ(ElementwiseBytesOf("aten::mul_", Read("[[4,8],[8]]", two)), 2u * (32 + 8 + 32));
  const std::string cast = R"(["float","c10::BFloat16","Scalar"])";
  EXPECT_EQ(ElementwiseBytesOf("aten::copy_", Read("[[4,8],[4,8],[]]", cast)), 32u * 4 + 32 * 2);
  EXPECT_EQ(ElementwiseBytesOf("aten::eq", Read("[[4,8],[]]", R"(["float","Scalar"])")),
            32u * 4 + 32);
  EXPECT_EQ(ElementwiseBytesOf("aten::mul", Read("[[4],[4]]", R"(["float","odd type"])")),
            std::nullopt);
  EXPECT_EQ(ElementwiseBytesOf("aten::mm", Read("[[4,8],[8,4]]", two)), std::nullopt);
}

TEST_F(OpWorkTest, DamagedDetailsSayNothing) {
  for (const std::string text :
       {"", "[]", "{\"Input Dims\":7}", "{\"Input Dims\":[[1,2],[2,3]]",
        "{\"Input Dims\":[[1e300,2],[2,3]],\"Input type\":[\"float\",\"float\"]}",
        "{\"Input Dims\":[[1,2]],\"Input type\":[]}"}) {
    const RowDetail& detail = ReadText(text);
    EXPECT_EQ(FlopsOf("aten::mm", detail), std::nullopt) << text;
    EXPECT_EQ(ElementwiseBytesOf("aten::mul", detail), std::nullopt) << text;
    EXPECT_EQ(PrecisionOfInputs(detail), InputPrecision()) << text;
  }
  const RowDetail& huge =
      Read("[[4000000000,4000000000],[4000000000,4000000000]]", R"(["float","float"])");
  EXPECT_EQ(FlopsOf("aten::mm", huge), std::nullopt);
}

TEST_F(OpWorkTest, InputsOfOneTypeTellIt) {
  using Found = InputPrecision;
  constexpr auto kBf16 = results::PRECISION_BF16, kUnknown = results::PRECISION_UNKNOWN;
  EXPECT_EQ(PrecisionOfInputs(Read("[[4],[4],[]]", R"(["c10::BFloat16","long int","Scalar"])")),
            (Found{kBf16, kBf16}));
  EXPECT_EQ(PrecisionOfInputs(Read("[[4],[4]]", R"(["float","c10::BFloat16"])")),
            (Found{kUnknown, kBf16}));
  EXPECT_EQ(PrecisionOfInputs(Read("[[4],[4]]", R"(["c10::Half","c10::BFloat16"])")), Found());
  EXPECT_EQ(PrecisionOfInputs(Read("[[4],[4]]", R"(["float","float"])")),
            (Found{results::PRECISION_FP32, kUnknown}));
  EXPECT_EQ(PrecisionOfInputs(ReadText(R"x({"shape_with_layout":"(bf16[4]{0}, f32[])"})x")),
            (Found{kBf16, kBf16}));
}

TEST(Precision, TheStrongestEvidenceCounts) {
  const auto of = [](std::string_view name, results::Precision inputs) {
    return PrecisionOf(name, 9, 0, {inputs, results::PRECISION_UNKNOWN});
  };
  using Found = PrecisionFound;
  const uint32_t fp8 = proto::kCodeLookedAt | MatrixOpBit(proto::MatrixOp::kQgmma);
  EXPECT_EQ(PrecisionOf("my_kernel", 9, fp8, {results::PRECISION_BF16, results::PRECISION_BF16}),
            (Found{results::PRECISION_FP8, results::EVIDENCE_SASS}));
  const uint32_t any16 = proto::kCodeLookedAt | MatrixOpBit(proto::MatrixOp::kHgmma);
  EXPECT_EQ(PrecisionOf("my_kernel", 9, any16, {results::PRECISION_FP16, results::PRECISION_FP16}),
            (Found{results::PRECISION_FP16, results::EVIDENCE_OPERATION}));
  EXPECT_EQ(of("nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT", results::PRECISION_FP32),
            (Found{results::PRECISION_BF16, results::EVIDENCE_NAME}));
  EXPECT_EQ(of("my_kernel", results::PRECISION_BF16),
            (Found{results::PRECISION_BF16, results::EVIDENCE_OPERATION}));
  EXPECT_EQ(of("my_hmma_kernel", results::PRECISION_FP32),
            (Found{results::PRECISION_TF32, results::EVIDENCE_OPERATION}));
  EXPECT_EQ(of("my_kernel", results::PRECISION_UNKNOWN), (Found{}));
  EXPECT_EQ(of("my_kernel", results::PRECISION_INT8), (Found{})) << "not what it computes with";
  EXPECT_EQ(PrecisionOf("k", 9, proto::kCodeLookedAt), (Found{})) << "plain arithmetic of any type";
}

// cuDNN's attention names both types of 16 bits alike.
TEST(Precision, InputsTellTheTypeOf16BitsIfTheNameDoesNot) {
  using Found = PrecisionFound;
  constexpr auto kFp16 = results::PRECISION_FP16, kBf16 = results::PRECISION_BF16;
  constexpr auto kUnknown = results::PRECISION_UNKNOWN;
  const uint32_t any16 = proto::kCodeLookedAt | MatrixOpBit(proto::MatrixOp::kHgmma);
  for (const std::string_view name :
       {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64_4x1x1_"
        "kernel0_0",
        "cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16_knob_3_64x64x128_4x1x1_"
        "kernel0_0"}) {
    for (const uint32_t code : {0u, any16}) {
      EXPECT_EQ(PrecisionOf(name, 9, code, {kBf16, kBf16}),
                (Found{kBf16, results::EVIDENCE_OPERATION}));
      EXPECT_EQ(PrecisionOf(name, 9, code, {kFp16, kFp16}),
                (Found{kFp16, results::EVIDENCE_OPERATION}));
      EXPECT_EQ(PrecisionOf(name, 9, code, {kUnknown, kBf16}),
                (Found{kBf16, results::EVIDENCE_OPERATION}))
          << "a gradient reads sums of fp32 too";
      EXPECT_EQ(PrecisionOf(name, 9, code), (Found{kFp16, results::EVIDENCE_NAME, true}));
      EXPECT_EQ(PrecisionOf(name, 9, code, {results::PRECISION_FP32, kUnknown}),
                (Found{kFp16, results::EVIDENCE_NAME, true}));
    }
  }
  const std::string_view other = "fmha_cutlassF_f16_aligned_64x128_rf_sm80(Params)";
  EXPECT_EQ(PrecisionOf(other, 9, 0, {kBf16, kBf16}), (Found{kFp16, results::EVIDENCE_NAME}));
  const std::string_view product = "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_nn";
  EXPECT_EQ(PrecisionOf(product, 9, 0, {kBf16, kBf16}), (Found{kFp16, results::EVIDENCE_NAME}));
}

}  // namespace
}  // namespace gpuprof::analysis
