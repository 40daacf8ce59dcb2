// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Families of kernels: of real traces, whose shares readers added up by hand, of names from other
// libraries, and of names that only sound like one.

#include "analysis/symbols/kernel_family.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/symbols/family_rules.h"
#include "analysis/symbols/mangled_names.h"

namespace gpuprof::analysis {
namespace {

using results::KernelFamily;

struct GoldenKernel {
  std::string family, name;
  int64_t total_ns = 0;
};
using GoldenTraces = std::map<std::string, std::vector<GoldenKernel>>;

GoldenTraces ReadKernels() {
  GoldenTraces traces;
  std::ifstream file(GPUPROF_GOLDEN_KERNEL_FAMILIES);
  std::vector<GoldenKernel>* kernels = nullptr;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("## ", 0) == 0) kernels = &traces[line.substr(3)];
    const size_t tab = line.find('\t');
    if (tab == std::string::npos || kernels == nullptr) continue;
    const size_t next = line.find('\t', tab + 1);
    kernels->push_back({line.substr(0, tab), line.substr(next + 1),
                        std::stoll(line.substr(tab + 1, next - tab - 1))});
  }
  return traces;
}

KernelFamily Found(const std::string& name) { return KernelFamilyOf(Demangle(name.c_str())); }

TEST(KernelFamilies, OfRealTracesAreAsReviewed) {
  const GoldenTraces traces = ReadKernels();
  ASSERT_EQ(traces.size(), 15U);
  for (const auto& [trace, kernels] : traces) {
    for (const GoldenKernel& kernel : kernels) {
      EXPECT_EQ(Found(kernel.name), FamilyOfWord(kernel.family)) << trace << ": " << kernel.name;
    }
  }
}

// The readers had fewer classes. Where a rule of theirs took a kernel for another class, it says
// so here.
std::string ClassOf(KernelFamily family, std::string_view name) {
  struct Different {
    std::string_view piece, reading;
  };
  constexpr Different kDifferent[] = {
      {"splitKreduce", "norm"},
      {"recat_copy", "other"},
      {"_get_FP8_qparam", "other"},
      {"computeBOffsetsKernel", "other"},
      {"scal_kernel", "other"},
      {"DeviceReduceByKey", "other"},
      {"fused_dropout", "other"},
      {"indexSelect", "copy"},
      {"vectorized_gather_kernel", "copy"},
      {"_scatter_gather_elementwise", "elementwise"},
      {"index_elementwise_kernel", "elementwise"},
      {"distribution_elementwise", "elementwise"},
  };
  for (const Different& each : kDifferent) {
    if (name.find(each.piece) != std::string_view::npos) return std::string(each.reading);
  }
  switch (family) {
    case results::KERNEL_FAMILY_MATRIX:
      return "matrix";
    case results::KERNEL_FAMILY_CONVOLUTION:
      return "convolution";
    case results::KERNEL_FAMILY_ATTENTION:
      return "attention";
    case results::KERNEL_FAMILY_NORMALISATION:
    case results::KERNEL_FAMILY_SOFTMAX:
    case results::KERNEL_FAMILY_REDUCTION:
      return "norm";
    case results::KERNEL_FAMILY_ELEMENTWISE:
    case results::KERNEL_FAMILY_OPTIMIZER:
      return "elementwise";
    case results::KERNEL_FAMILY_COPY:
      return "copy";
    case results::KERNEL_FAMILY_EMBEDDING:
      return "embedding";
    case results::KERNEL_FAMILY_ROUTING:
      return "routing";
    case results::KERNEL_FAMILY_COLLECTIVE:
      return "collective";
    default:
      return "other";
  }
}

// Readers added these up from the files with a plain script: ns of a class. Copies and changes of
// layout are one class here.
TEST(KernelFamilies, SumUpToTheClassesThatReadersFound) {
  struct Reading {
    std::string_view trace, cls;
    int64_t total_ns;
  };
  constexpr Reading kReadings[] = {
      {"h100_qwen1.5_0.5b", "elementwise", 17'544'382},
      {"h100_qwen1.5_0.5b", "matrix", 12'789'918 + 3'520},
      {"h100_qwen1.5_0.5b", "copy", 10'177'814},
      {"h100_qwen1.5_0.5b", "attention", 3'855'468},
      {"h100_qwen1.5_0.5b", "norm", 1'061'596},
      {"h100_bert_small", "matrix", 197'598},
      {"h100_bert_small", "attention", 37'408},
      {"h100_bert_small", "norm", 34'560},
      {"h100_bert_small", "elementwise", 27'807},
      {"h100_bert_small", "copy", 9'824},
      {"b200_eager", "matrix", 5'999'599},
      {"b200_eager", "collective", 2'141'501},
      {"b200_eager", "copy", 820'441},
      {"b200_eager", "routing", 696'067},
      {"b200_eager", "attention", 485'821},
      {"b200_eager", "norm", 456'644},
      {"b200_eager", "elementwise", 262'843},
      {"ns_resolution_rank0", "convolution", 181'046'871},
      {"ns_resolution_rank0", "matrix", 117'252'320},
      {"ns_resolution_rank0", "norm", 86'450'224},
      {"ns_resolution_rank0", "elementwise", 75'564'133},
      {"ns_resolution_rank0", "other", 6'984'536},
      {"ns_resolution_rank0", "copy", 817'182 + 38'336},
      {"alexnet", "convolution", 3'280'000 + 1'814'000},
      {"alexnet", "matrix", 2'660'000},
      {"alexnet", "elementwise", 1'712'000},
      {"alexnet", "other", 949'000},
      {"alexnet", "copy", 277'000},
      {"sampled_rank0", "collective", 396'199'000},
      {"sampled_rank1", "collective", 379'053'000},
      {"vllm_decode_graph", "matrix", 8'265'155},
      {"vllm_decode_graph", "attention", 724'360},
      {"vllm_decode_graph", "copy", 570'644},
      {"vllm_decode_graph", "routing", 494'941},
      {"vllm_decode_graph", "norm", 332'030},
      {"vllm_decode_graph", "elementwise", 287'387},
      {"h100_vit_nsfw", "matrix", 735'037},
      {"h100_vit_nsfw", "elementwise", 123'328},
      {"h100_vit_nsfw", "attention", 122'848},
      {"h100_vit_nsfw", "norm", 111'201},
      {"h100_vit_nsfw", "convolution", 98'176},
      {"h100_vit_nsfw", "copy", 23'072 + 7'264},
      {"h100_timesformer", "norm", 71'048'939},
      {"h100_timesformer", "matrix", 53'484'517 + 5'056},
      {"h100_timesformer", "elementwise", 18'655'294},
      {"h100_timesformer", "copy", 10'461'218 + 335'167},
      {"h100_timesformer", "convolution", 863'099},
      {"h100_timesformer", "other", 2'305},
      {"hta_diff_control", "collective", 163'535'000},
      {"hta_diff_control", "matrix", 66'811'000 + 11'115'000},
      {"hta_diff_control", "elementwise", 66'644'000},
      {"hta_diff_control", "embedding", 59'995'000},
      {"hta_diff_control", "copy", 35'095'000},
      {"hta_diff_control", "other", 21'875'000},
      {"hta_diff_control", "norm", 21'743'000},
      {"hta_diff_test", "collective", 251'341'000},
      {"hta_diff_test", "matrix", 207'760'000},
      {"hta_diff_test", "embedding", 112'460'000},
      {"hta_diff_test", "elementwise", 103'905'000},
      {"hta_diff_test", "copy", 63'589'000},
      {"hta_diff_test", "other", 36'836'000},
      {"hta_diff_test", "norm", 25'967'000},
      {"hta_nccl", "collective", 46'876'493},
      {"hta_nccl", "norm", 31'556'795},
      {"hta_nccl", "elementwise", 25'465'001},
      {"hta_nccl", "convolution", 19'126'913 + 2'419'841},
      {"hta_nccl", "other", 2'293'186},
      {"hta_negative_queue", "collective", 190'345'000},
      {"hta_negative_queue", "elementwise", 66'242'000},
      {"hta_negative_queue", "other", 12'638'000},
      {"hta_negative_queue", "copy", 7'983'000},
      {"hta_negative_queue", "norm", 3'340'000},
      {"sglang_prefilldecode", "matrix", 420'305'748},
      {"sglang_prefilldecode", "norm", 26'343'283},
      {"sglang_prefilldecode", "elementwise", 21'258'204},
      {"sglang_prefilldecode", "attention", 20'075'158},
      {"sglang_prefilldecode", "copy", 4'759'237},
  };
  std::map<std::pair<std::string, std::string>, int64_t> sums;
  for (const auto& [trace, kernels] : ReadKernels()) {
    for (const GoldenKernel& kernel : kernels)
      sums[{trace, ClassOf(Found(kernel.name), kernel.name)}] += kernel.total_ns;
  }
  for (const Reading& each : kReadings) {
    const int64_t found = sums[{std::string(each.trace), std::string(each.cls)}];
    EXPECT_EQ(found, each.total_ns) << each.trace << " " << each.cls;
  }
}

TEST(KernelFamilies, OfManyLibrariesAreKnown) {
  struct Named {
    KernelFamily family;
    std::string_view name;
  };
  constexpr Named kNames[] = {
      {results::KERNEL_FAMILY_MATRIX, "sm90_fp8_gemm_1d2d_impl"},
      {results::KERNEL_FAMILY_MATRIX,
       "void marlin::Marlin<__nv_bfloat16, 1125899906843648l, 256, 1, 8, 8, false, 4"
       ", 2, false>(int4 const*, int4 const*)"},
      {results::KERNEL_FAMILY_MATRIX, "void vllm::marlin::Marlin<__half, 4, 256>(int)"},
      {results::KERNEL_FAMILY_MATRIX, "fused_moe_kernel"},
      {results::KERNEL_FAMILY_MATRIX, "void machete::mm_kernel<x>(int)"},
      {results::KERNEL_FAMILY_MATRIX,
       "Cijk_Alik_Bljk_I8II_BH_HA_I_SAV_UserArgs_MT128x128x64_MI16x16x1_SN"},
      {results::KERNEL_FAMILY_MATRIX,
       "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"},
      {results::KERNEL_FAMILY_MATRIX, "triton_tem_fused_addmm_3"},
      {results::KERNEL_FAMILY_MATRIX, "triton_mm"},
      {results::KERNEL_FAMILY_MATRIX, "gemm_fusion_dot_3"},
      {results::KERNEL_FAMILY_MATRIX, "%d.1 = bf16[128,128]{1,0} dot(%a, %b)"},
      {results::KERNEL_FAMILY_MATRIX, "void fbgemm_gpu::f8f8bf16_rowwise_gemm<x>(y)"},
      {results::KERNEL_FAMILY_COPY,
       "void marlin::gptq_marlin_repack_kernel<256, 4, true>(unsigned int const*)"},
      {results::KERNEL_FAMILY_COPY, "triton_poi_fused_all_gather_into_tensor_wait_tensor_split_0"},
      {results::KERNEL_FAMILY_COPY, "void vllm::reshape_and_cache_flash_kernel<x>(int)"},
      {results::KERNEL_FAMILY_COPY, "void vllm::concat_and_cache_mla_kernel<x>(int)"},
      {results::KERNEL_FAMILY_COPY, "copy-done.2"},
      {results::KERNEL_FAMILY_COPY, "loop_transpose_fusion_2"},
      {results::KERNEL_FAMILY_COPY, "nvte_transpose_kernel"},
      {results::KERNEL_FAMILY_COPY,
       "void transformer_engine::cast_transpose_optimized_kernel<x>(y)"},
      {results::KERNEL_FAMILY_COPY, "void vllm::scaled_fp8_quant_kernel_strided<x>(y)"},
      {results::KERNEL_FAMILY_COPY, "void at::native::all_gather_copy_in_kernel<x>(y)"},
      {results::KERNEL_FAMILY_ATTENTION, "triton_tem_fused_flex_attention_2"},
      {results::KERNEL_FAMILY_ATTENTION, "_attn_fwd"},
      {results::KERNEL_FAMILY_ATTENTION, "void flash::flash_fwd_splitkv_combine_kernel<x>(int)"},
      {results::KERNEL_FAMILY_ATTENTION,
       "void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<flash"
       "::CollectiveMainloopFwdSm90<2> > > >(x)"},
      {results::KERNEL_FAMILY_ATTENTION,
       "void flashinfer::BatchDecodeWithPagedKVCacheKernel<x>(int)"},
      {results::KERNEL_FAMILY_ATTENTION, "void vllm::paged_attention_v1_kernel<float>(int)"},
      {results::KERNEL_FAMILY_ATTENTION,
       "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x64x64_"
       "4x1x1_cga1x1x1_kernel0_0"},
      {results::KERNEL_FAMILY_ATTENTION,
       "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKe"
       "rnel<x>::Params)"},
      {results::KERNEL_FAMILY_ELEMENTWISE, "triton_poi_fused_add_all_reduce_wait_tensor_1"},
      {results::KERNEL_FAMILY_ELEMENTWISE, "loop_add_convert_fusion"},
      {results::KERNEL_FAMILY_ELEMENTWISE, "void tensorflow::functor::BiasNHWCKernel<float>(int)"},
      {results::KERNEL_FAMILY_ELEMENTWISE,
       "void Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<x> >(y)"},
      {results::KERNEL_FAMILY_ELEMENTWISE,
       "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(x)"},
      {results::KERNEL_FAMILY_REDUCTION, "triton_red_fused_all_reduce_mean_3"},
      {results::KERNEL_FAMILY_REDUCTION, "input_reduce_fusion"},
      {results::KERNEL_FAMILY_REDUCTION, "void my::smallReduce(float*)"},
      {results::KERNEL_FAMILY_SOFTMAX, "triton_per_fused__softmax_add_1"},
      {results::KERNEL_FAMILY_NORMALISATION, "triton_red_fused_native_layer_norm_4"},
      {results::KERNEL_FAMILY_NORMALISATION,
       "std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>"
       "::type vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*)"},
      {results::KERNEL_FAMILY_COLLECTIVE,
       "void deep_ep::internode_ll::dispatch<3, 10, 7168>(void*, float*, int*, long*"
       ", void*)"},
      {results::KERNEL_FAMILY_COLLECTIVE,
       "void deep_ep::intranode::notify_dispatch<8>(int const*, int*, int const*, in"
       "t*)"},
      {results::KERNEL_FAMILY_COLLECTIVE,
       "void dpsk::ep::internode::dispatch_ll<9, 8, 32, 7168>(void*)"},
      {results::KERNEL_FAMILY_COLLECTIVE, "nvshmemi_barrier_all_on_stream_kernel"},
      {results::KERNEL_FAMILY_COLLECTIVE, "void a2a_kernels::a2a_dispatch_send_kernel<8>(int)"},
      {results::KERNEL_FAMILY_COLLECTIVE, "void pplx::kernels::dispatchKernel<1, true>(int)"},
      {results::KERNEL_FAMILY_COLLECTIVE, "userbuffers_fp16_sum_inplace_gpu_rr_ag<8>(int)"},
      {results::KERNEL_FAMILY_COLLECTIVE, "kuserbuffers_pushsend(int*)"},
      {results::KERNEL_FAMILY_COLLECTIVE, "hcom_broadcast_"},
      {results::KERNEL_FAMILY_COLLECTIVE, "hcom_allReduce__123"},
      {results::KERNEL_FAMILY_COLLECTIVE,
       "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)"},
      {results::KERNEL_FAMILY_COLLECTIVE, "ncclAllReduceRingLLKernel_sum_f32(ncclColl)"},
      {results::KERNEL_FAMILY_COLLECTIVE,
       "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(x)"},
      {results::KERNEL_FAMILY_COLLECTIVE, "void mscclpp::allreduce7<int>(x)"},
      {results::KERNEL_FAMILY_COLLECTIVE,
       "void tensorrt_llm::kernels::oneShotAllReduceKernel<float, 8>(x)"},
      {results::KERNEL_FAMILY_COLLECTIVE,
       "%all-gather-start.5 = ((f32[8]{0}), f32[16]{0}) all-gather-start(%z)"},
      {results::KERNEL_FAMILY_COLLECTIVE, "all-reduce.12"},
      {results::KERNEL_FAMILY_COLLECTIVE,
       "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(x)"},
      {results::KERNEL_FAMILY_COLLECTIVE,
       "void c10d::symmetric_memory::barrier_kernel(unsigned int**)"},
      {results::KERNEL_FAMILY_ROUTING,
       "void deep_ep::layout::get_dispatch_layout<256, 32, 8>(long const*)"},
      {results::KERNEL_FAMILY_ROUTING,
       "void vllm::moe::topkGatingSoftmax<8, 64, 4, 16, int>(float const*)"},
      {results::KERNEL_FAMILY_ROUTING, "void vllm::moe::moe_align_block_size_kernel<int>(int*)"},
      {results::KERNEL_FAMILY_OTHER, "%fusion.7 = f32[8]{0} fusion(%all-reduce.3), kind=kLoop"},
      {results::KERNEL_FAMILY_OTHER, "fusion.7"},
      {results::KERNEL_FAMILY_OTHER, "sync_clock_kernel"},
      {results::KERNEL_FAMILY_OTHER, "void my::arc_class_update(int)"},
      {results::KERNEL_FAMILY_OTHER, "void func_classify(float*)"},
      {results::KERNEL_FAMILY_OTHER, "void fbgemm_gpu::jagged_dense_thing<int>(int)"},
      {results::KERNEL_FAMILY_OTHER, "VectorAdd(float const*, float const*, float const*, int)"},
      {results::KERNEL_FAMILY_OTHER, "void tensorrt_llm::x::compute_position_kernel<gemm::T>(int)"},
      {results::KERNEL_FAMILY_CONVOLUTION,
       "%convolution.2 = bf16[128,128]{1,0} convolution(%a, %b)"},
      {results::KERNEL_FAMILY_CONVOLUTION,
       "miopenSp3AsmConv_v30_3_1_gfx94x_fp16_dot2_edc_dilation2"},
      {results::KERNEL_FAMILY_CONVOLUTION, "igemm_fwd_gtcx3_nhwc_fp16_bx0_ex1_bt128x256x32"},
      {results::KERNEL_FAMILY_CONVOLUTION,
       "volta_fp16_s884cudnn_fp16_128x128_ldg8_relu_f2f_exp_small_nhwc2nchw_tn_v1"},
      {results::KERNEL_FAMILY_CONVOLUTION, "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32"},
      {results::KERNEL_FAMILY_CONVOLUTION, "void causal_conv1d_fwd_kernel<x>(y)"},
      {results::KERNEL_FAMILY_INDEX, "void my::wallGather(float*)"},
      {results::KERNEL_FAMILY_INDEX, "void at::native::sbtopk::gatherTopK<float, unsigned int>(x)"},
      {results::KERNEL_FAMILY_RANDOM, "generate_seed_pseudo"},
      {results::KERNEL_FAMILY_OPTIMIZER,
       "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native"
       "::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(a"
       "nonymous namespace)::FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1"
       ", false>, float const*, double>(x)"},
      {results::KERNEL_FAMILY_EMBEDDING,
       "void at::native::(anonymous namespace)::embedding_backward_kernel<float>(x)"},
  };
  for (const Named& each : kNames)
    EXPECT_EQ(KernelFamilyOf(each.name), each.family)
        << each.name << ": " << results::KernelFamily_Name(KernelFamilyOf(each.name));
}

// A rule that an earlier one hides would say something that never holds.
TEST(KernelFamilies, NoRuleStandsTwice) {
  for (const auto& rules :
       {NamespaceFamilies(), FunctionFamilies(), FunctorFamilies(), InstructionFamilies()}) {
    std::map<std::string_view, int> seen;
    for (const FamilyRule& rule : rules) EXPECT_EQ(++seen[rule.words], 1) << rule.words;
  }
}

TEST(KernelFamilies, HaveWordsForPeople) {
  EXPECT_EQ(FamilyOfWord("matrix"), results::KERNEL_FAMILY_MATRIX);
  EXPECT_EQ(FamilyOfWord("normalization"), results::KERNEL_FAMILY_NORMALISATION);
  EXPECT_EQ(FamilyOfWord("gemm"), results::KERNEL_FAMILY_NONE);
}

// Megabytes: quadratic work would take hours.
TEST(KernelFamilies, OfHostileNamesAreFoundInLinearTime) {
  for (const char* piece : {"a<", "f<g<(x),", "int, ", "(", "{", "a::", "x_", "A", "9", "_Z",
                            "nccl_", "Kernel<", "a-", " = ", "%", "moe::dev"}) {
    for (const char* begin : {"void f<", "_ZN", "%f = ", "triton_poi_", ""}) {
      std::string name = begin;
      while (name.size() < 1'000'000) name += piece;
      EXPECT_NE(KernelFamilyOf(name), results::KERNEL_FAMILY_NONE) << begin << piece;
    }
  }
  EXPECT_EQ(KernelFamilyOf(""), results::KERNEL_FAMILY_OTHER);
  EXPECT_EQ(KernelFamilyOf("_Z99999999999999999999999999f"), results::KERNEL_FAMILY_OTHER);
}

}  // namespace
}  // namespace gpuprof::analysis
