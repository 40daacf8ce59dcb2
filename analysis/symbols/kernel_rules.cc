// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See kernel_rules.h.

#include "analysis/symbols/kernel_rules.h"

namespace gpuprof::analysis {
namespace {

constexpr KernelFunctionRule kFunctions[] = {
    // PyTorch: elementwise.
    {"vectorized_elementwise_kernel", "{op} vec{1}"},
    {"vectorized_templated_elementwise_kernel", "{op} vec{1} templated"},
    {"unrolled_elementwise_kernel", "{op} unrolled {cast}"},
    {"unrolled_elementwise_kernel_for_multi_outputs", "{op} unrolled outputs"},
    {"elementwise_kernel", "{op} strided"},
    {"legacy_elementwise_kernel", "{op} strided"},
    {"elementwise_kernel_manual_unroll", "{op} strided unrolled"},
    {"elementwise_kernel_with_index", "{op}"},
    {"index_elementwise_kernel", "{op}"},
    {"_scatter_gather_elementwise_kernel", "{op}"},
    {"_assert_async_cuda_kernel", "assert_async {1}"},
    {"distribution_elementwise_grid_stride_kernel", "{op}"},
    {"distribution_nullary_kernel", "{op}"},
    {"multi_tensor_apply_kernel", "foreach {3!} {2} {2:type}"},
    {"reduce_kernel", "{op}"},
    // PyTorch: copies, indices, sorting.
    {"CatArrayBatchedCopy", "cat {1} {3}-d"},
    {"CatArrayBatchedCopy_contig", "cat {1} {3}-d contig"},
    {"CatArrayBatchedCopy_alignedK_contig", "cat {1} {3}-d aligned"},
    {"CatArrayBatchedCopy_aligned16_contig", "cat {1} {3}-d aligned16"},
    {"CatArrayBatchedCopy_vectorized", "cat {1} {3}-d vec"},
    {"indexSelectLargeIndex", "index_select {1}"},
    {"indexSelectSmallIndex", "index_select {1} small"},
    {"indexFuncLargeIndex", "index_add {1}"},
    {"indexFuncSmallIndex", "index_add {1} small"},
    {"indexing_backward_kernel*", "index_put {1}"},
    {"vectorized_gather_kernel", "gather {1}B {2}"},
    {"gatherTopK", "topk {1}"},
    {"bitonicSortKVInPlace", "sort bitonic {1}"},
    {"radixSortKVInPlace", "sort radix {1}"},
    {"fill_reverse_indices_kernel", "fill_reverse_indices"},
    {"triu_tril_kernel", "triu_tril {1}"},
    {"tensor_kernel_scan_innermost_dim*", "scan {1} innermost"},
    {"tensor_kernel_scan_outer_dim*", "scan {1} outer"},
    // PyTorch: layers.
    {"softmax_warp_forward", "{5?log_softmax:softmax} {1} 2^{4} {6?masked}"},
    {"softmax_warp_backward", "{5?log_softmax_bwd:softmax_bwd} {1} 2^{4} {6?masked}"},
    {"cunn_SoftMaxForward*", "softmax {1:type} {2} {5}"},
    {"cunn_SoftMaxBackward*", "softmax_bwd {1:type} {2} {5}"},
    {"vectorized_layer_norm_kernel", "layer_norm {1}"},
    {"LayerNormForwardCUDAKernel", "layer_norm apply {1}"},
    {"RowwiseMomentsCUDAKernel", "layer_norm moments {1}"},
    {"GammaBetaBackwardCUDAKernel_32x32", "layer_norm_bwd gamma_beta {1} 32x32"},
    {"GammaBetaBackwardCUDAKernel*", "layer_norm_bwd gamma_beta {1}"},
    {"layer_norm_grad_input_kernel", "layer_norm_bwd input {1}"},
    {"layer_norm_grad_input_kernel_vectorized", "layer_norm_bwd input {1} vec"},
    {"batch_norm_collect_statistics_kernel", "batch_norm stats {2}"},
    {"batch_norm_transform_input_kernel", "batch_norm apply {1}"},
    {"batch_norm_backward_kernel", "batch_norm_bwd {1}"},
    {"fused_dropout_kernel_vec", "dropout {1} vec{5}"},
    {"fused_dropout_kernel", "dropout {1}"},
    {"max_pool_forward_nchw", "max_pool {1} nchw"},
    {"max_pool_forward_nhwc", "max_pool {1} nhwc"},
    {"max_pool_backward_nchw", "max_pool_bwd {1} nchw"},
    {"max_pool_backward_nhwc", "max_pool_bwd {1} nhwc"},
    {"adaptive_average_pool", "adaptive_avg_pool {1}"},
    {"atomic_adaptive_average_gradinput", "adaptive_avg_pool_bwd {1}"},
    {"nll_loss_forward*", "nll_loss {1}"},
    {"nll_loss_backward*", "nll_loss_bwd {1}"},
    {"embedding_backward_kernel", "embedding_bwd {1}"},
    {"EmbeddingBag_updateOutputKernel_sum_mean", "embedding_bag {1}"},
    // Attention.
    {"flash_fwd_kernel", "flash_fwd {1:type} hd{1.1} {1.2}x{1.3}"},
    {"flash_fwd_splitkv_kernel", "flash_fwd splitkv {1:type} hd{1.1} {1.2}x{1.3}"},
    {"flash_fwd_splitkv_combine_kernel", "flash_fwd combine {1:type} hd{1.1}"},
    {"flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel", "flash_bwd {1:type} hd{1.1} {1.2}x{1.3}"},
    {"flash_bwd_dq_dk_dv_loop*", "flash_bwd {1:type} hd{1.1} {1.2}x{1.3}"},
    {"flash_bwd_dot_do_o_kernel", "flash_bwd dot_do_o {type} hd{2.1}"},
    {"flash_bwd_convert_dq_kernel", "flash_bwd convert_dq {1:type} hd{1.1}"},
    {"FlashAttnFwdSm*", "flash3_fwd {type} {tile}"},
    {"FlashAttnBwdSm*", "flash3_bwd {type} {tile}"},
    {"FlashAttnFwdCombine", "flash3_fwd combine {type}"},
    {"paged_attention_v1_kernel", "paged_attention v1 {1} hd{3} block{4}"},
    {"paged_attention_v2_kernel", "paged_attention v2 {1} hd{3} block{4}"},
    {"paged_attention_v2_reduce_kernel", "paged_attention v2 reduce {1} hd{2}"},
    // vLLM and other servers.
    {"rms_norm_kernel", "rms_norm {1}"},
    {"fused_add_rms_norm_kernel", "fused_add_rms_norm {1}"},
    {"rotary_embedding_kernel", "rotary_embedding {1}"},
    {"reshape_and_cache_kernel", "reshape_and_cache {1}->{2}"},
    {"reshape_and_cache_flash_kernel", "reshape_and_cache_flash {1}->{2}"},
    {"act_and_mul_kernel", "{2}_and_mul {1}"},
    {"scaled_fp8_quant_kernel_strided", "scaled_fp8_quant {1} strided"},
    {"scaled_fp8_quant_kernel", "scaled_fp8_quant {1}"},
    {"multimem_all_reduce_kernel", "multimem_all_reduce {1} {2}B"},
    {"quantize_with_block_size", "quantize {2} block{3}"},
    {"routingIndicesHistogramKernel", "moe_routing histogram {1:type}"},
    {"routingIndicesHistogramScoresKernel", "moe_routing histogram_scores {1:type}"},
    {"routingIndicesOffsetsKernel", "moe_routing offsets {1:type}"},
    {"finalizeKernelVecLoad", "moe_finalize {1:type} vec{1.3}"},
    {"finalizeKernel", "moe_finalize {1:type}"},
    // CUTLASS 3 and Composable Kernel.
    {"GemmUniversal", "gemm {type} {tile} cutlass3"},
    {"kentry", "ck {agent} {type} {tile}"},
    {"Marlin", "gemm {type} marlin"},
    // cuBLAS.
    {"gemvx::kernel", "gemv {3} gemvx"},
    {"gemvNSP_kernel", "gemv {1} nsp {6}"},
    {"gemv2T_kernel_val", "gemv {3} t"},
    {"gemv2N_kernel", "gemv {3} n"},
    {"gemmk1_kernel", "gemm {1} k1"},
    {"gemmSN_TN_kernel*", "gemm {1} tn small"},
    {"gemmSN_NN_kernel*", "gemm {1} nn small"},
    {"sgemm_largek_lds64", "gemm f32 largek"},
    {"splitKreduce_kernel", "splitk_reduce {type}"},
    {"scal_kernel", "scal {1}"},
    {"dot_kernel", "dot {1}"},
    {"reduce_1Block_kernel", "dot_reduce {1}"},
    {"epilogue::impl::globalKernel", "gemm_epilogue {1}"},
    // cuDNN.
    {"bn_fw_tr_1C11_kernel_NCHW", "batch_norm {1} nchw {4}"},
    {"bn_fw_tr_1C11_singleread", "batch_norm {1} singleread {2}"},
    {"bn_fw_inf_1C11_kernel_NCHW", "batch_norm inference {1} nchw"},
    {"bn_bw_1C11_kernel_new", "batch_norm_bwd {1} {4}"},
    {"bn_bw_1C11_singleread", "batch_norm_bwd {1} singleread {2}"},
    {"nchwToNhwcKernel", "nchw_to_nhwc {1}"},
    {"nhwcToNchwKernel", "nhwc_to_nchw {1}"},
    {"scalePackedTensor_kernel", "scale_packed {1}"},
    {"generateWinogradTilesKernel", "conv winograd tiles {2}"},
    {"winogradForwardData4x4", "conv winograd fwd data 4x4 {1}"},
    {"winogradForwardFilter4x4", "conv winograd fwd filter 4x4 {1}"},
    {"winogradForwardOutput4x4", "conv winograd fwd output 4x4 {1}"},
    {"winogradWgradData4x4", "conv winograd wgrad data 4x4 {1}"},
    {"winogradWgradDelta4x4", "conv winograd wgrad delta 4x4 {1}"},
    {"winogradWgradOutput4x4", "conv winograd wgrad output 4x4 {1}"},
    {"fft2d_r2c_32x32", "conv fft2d r2c 32x32 {1} {3}"},
    {"fft2d_c2r_32x32", "conv fft2d c2r 32x32 {1}"},
    {"dgrad_engine", "conv dgrad {1} {2}x{3}x{4}"},
    {"wgrad_alg0_engine", "conv wgrad {1} {2}x{3}x{4}"},
    {"reduce_wgrad_nchw_helper", "conv wgrad reduce {1} nchw"},
    {"implicit_convolve_sgemm", "conv fprop {1} {3}x{4}x{5} sgemm"},
    {"computeOffsetsKernel", "conv offsets"},
    {"computeOffsetsKernel3D", "conv offsets 3d"},
    {"computeBOffsetsKernel", "conv offsets B"},
    {"computeWgradSplitKOffsetsKernel", "conv wgrad offsets splitk"},
    {"computeWgradBOffsetsKernel", "conv wgrad offsets B"},
    {"pooling_fw_4d_kernel", "pooling {1}"},
    {"pooling_bw_kernel_max*", "max_pool_bwd {1}"},
    // CUB and Thrust.
    {"DeviceScanInitKernel", "scan init {type}"},
    {"DeviceScanKernel", "scan {type} {5} {6!}"},
    {"DeviceReduceKernel", "reduce {type}"},
    {"DeviceReduceSingleTileKernel", "reduce {type} single_tile"},
    {"DeviceSegmentedReduceKernel", "reduce {type} segmented"},
    {"DeviceRadixSortHistogramKernel", "radix_sort histogram {1.1},{1.2}"},
    {"DeviceRadixSortExclusiveSumKernel", "radix_sort exclusive_sum {1.1},{1.2}"},
    {"DeviceRadixSortOnesweepKernel", "radix_sort onesweep {3},{4}"},
    {"DeviceRadixSortUpsweepKernel", "radix_sort upsweep {1.1},{1.2}"},
    {"DeviceRadixSortDownsweepKernel", "radix_sort downsweep {1.1},{1.2}"},
    {"DeviceRadixSortSingleTileKernel", "radix_sort single_tile {1.1},{1.2}"},
    {"DeviceSegmentedRadixSortKernel", "radix_sort segmented {1.1},{1.2}"},
    {"DeviceCompactInitKernel", "compact init"},
    {"DeviceSelectSweepKernel", "select {type}"},
    {"DeviceReduceByKeyKernel", "reduce_by_key {type}"},
    {"_kernel_agent", "thrust {agent} {type}"},
    {"static_kernel", "for_each {agent} {type}"},
    // Eigen, which TensorFlow's operators are made of.
    {"EigenMetaKernel", "eigen {scalar} {type}"},
    {"FullReductionKernel", "eigen reduce {type}"},
};

constexpr FunctorRule kFunctors[] = {
    {"CUDAFunctor_add", "add"},
    {"CUDAFunctorOnSelf_add", "add scalar"},
    {"CUDAFunctorOnOther_add", "scalar add"},
    {"direct_copy_kernel_cuda", "copy"},
    {"bfloat16_copy_kernel_cuda", "cast to bf16"},
    {"bfloat16tofloat32_copy_kernel_cuda", "cast bf16 to"},
    {"float16_copy_kernel_cuda", "cast to f16"},
    {"float8_copy_kernel_cuda", "cast fp8"},
    {"pow_tensor_scalar_kernel_impl", "pow"},
    {"launch_clamp_scalar", "clamp"},
    {"compare_scalar_kernel", "compare scalar"},
    {"and_kernel_cuda", "all"},
    {"or_kernel_cuda", "any"},
    {"CompareEqFunctor", "eq"},
    {"TensorAssign", ""},
    {"ReduceAdd", "add"},
    {"ReduceMultiply", "mul"},
    {"LogicalOr", "or"},
    {"NormTwoOps", "norm2"},
    {"NormOneOps", "norm1"},
    {"multiplies", "mul"},
    {"plus", "add"},
    {"minus", "sub"},
    {"divides", "div"},
    {"BinaryOpScalarFunctor", "scalar"},
    {"BinaryOpListAlphaFunctor", "list"},
    {"UnaryOpFunctor", ""},
    {"FusedAdamMathFunctor", "adam"},
    {"FusedSgdMathFunctor", "sgd"},
    {"NullType", "inclusive"},
    {"SoftMaxForwardEpilogue", ""},
    {"SoftMaxBackwardEpilogue", ""},
    {"LogSoftMaxForwardEpilogue", "log"},
    {"LogSoftMaxBackwardEpilogue", "log"},
    {"uniform_and_transform", "uniform"},
    {"normal_and_transform", "normal"},
    {"exponential_and_transform", "exponential"},
    {"_cuda_scatter_gather_internal_kernel", "{1?scatter:gather}"},
};

constexpr FunctorHolder kHolders[] = {
    {"gpu_kernel_impl", 1}, {"gpu_kernel_impl_nocast", 1}, {"gpu_index_kernel", 1},
    {"ReduceOp", 2},        {"func_wrapper_t", 2},
};

constexpr std::string_view kPrefixes[] = {"launch_", "direct_"};

// The longest of a kind come first.
constexpr std::string_view kSuffixes[] = {
    "_cuda_kernel_impl", "_kernel_cuda_impl", "_kernel_cuda", "_kernel_impl", "_cuda_kernel",
    "_cuda_out",         "CUDAKernelImpl",    "_kernel",      "_cuda",        "_functor",
    "KernelImpl",        "Functor",           "Ops",
};

constexpr TypeRule kTypes[] = {
    {"float", "f32"},
    {"double", "f64"},
    {"__half", "f16"},
    {"Half", "f16"},
    {"half", "f16"},
    {"half_t", "f16"},
    {"__half2", "f16x2"},
    {"_Float16", "f16"},
    {"BFloat16", "bf16"},
    {"__nv_bfloat16", "bf16"},
    {"bfloat16_t", "bf16"},
    {"__hip_bfloat16", "bf16"},
    {"hip_bfloat16", "bf16"},
    {"bfloat16", "bf16"},
    {"Float8_e4m3fn", "fp8"},
    {"Float8_e4m3fnuz", "fp8"},
    {"Float8_e5m2", "fp8"},
    {"float_e4m3_t", "fp8"},
    {"float_e5m2_t", "fp8"},
    {"__nv_fp8_e4m3", "fp8"},
    {"__nv_fp8_e5m2", "fp8"},
    {"tfloat32_t", "tf32"},
    {"int", "i32"},
    {"int32_t", "i32"},
    {"unsigned int", "u32"},
    {"unsigned", "u32"},
    {"uint32_t", "u32"},
    {"long", "i64"},
    {"long long", "i64"},
    {"long int", "i64"},
    {"int64_t", "i64"},
    {"unsigned long", "u64"},
    {"unsigned long long", "u64"},
    {"uint64_t", "u64"},
    {"short", "i16"},
    {"int16_t", "i16"},
    {"unsigned short", "u16"},
    {"uint16_t", "u16"},
    {"signed char", "i8"},
    {"int8_t", "i8"},
    {"unsigned char", "u8"},
    {"uint8_t", "u8"},
    {"bool", "bool"},
};

constexpr std::string_view kLibraryPrefixes[] = {
    "sm50_",      "sm53_",   "sm60_",  "sm61_",   "sm70_",   "sm72_",   "sm75_",      "sm80_",
    "sm86_",      "sm87_",   "sm89_",  "sm90_",   "sm100_",  "sm103_",  "sm110_",     "sm120_",
    "maxwell_",   "pascal_", "volta_", "turing_", "ampere_", "hopper_", "blackwell_", "cutlass_",
    "cutlass3x_", "cudnn_",  "nvjet_", "fmha_",   "fmhaSm",  "bmm_",    "Cijk_",
};

// In one table, the first decides.
constexpr LibraryRule kLibrary[] = {
    {"fmha_cutlassF", "fmha_fwd"},
    {"fmha_cutlassB", "fmha_bwd"},
    {"flash_bprop", "sdpa_bwd"},
    {"sdpa", "sdpa_fwd"},
    {"fmha", "fmha"},
    {"winograd", "conv winograd"},
    {"3dconv_fprop", "conv3d fprop"},
    {"fprop", "conv fprop"},
    {"dgrad", "conv dgrad"},
    {"wgrad", "conv wgrad"},
    {"convolve", "conv"},
    {"cudnn_", "conv"},
    {"gcgemm", "gemm c64"},
    {"bmm_", "bmm"},
    {"nvjet_", "gemm"},
    {"Cijk_", "gemm"},
    {"gemm", "gemm"},
};

constexpr TypeRule kLibraryTypes[] = {
    {"bf16", "bf16"}, {"tf32", "tf32"},  {"f16", "f16"},    {"fp16", "f16"},
    {"e4m3", "fp8"},  {"e5m2", "fp8"},   {"i8i8", "i8"},    {"s8", "i8"},
    {"u8", "u8"},     {"f32f32", "f32"}, {"f64f64", "f64"}, {"fp8", "fp8"},
};

// What stands before "gemm" or "cudnn", by its begin.
constexpr TypeRule kInstructions[] = {
    {"h", "f16"},       {"s884", "f16"}, {"s1688", "tf32"}, {"s16816", "f16"},
    {"s161616", "f16"}, {"d", "f64"},    {"i", "i8"},       {"z", "c128"},
    {"c", "c64"},       {"gc", "c64"},   {"s", "f32"},
};

constexpr TypeRule kMarks[] = {
    {"simt", "simt"},     {"relu", "relu"},     {"gelu", "gelu"},         {"bias", "bias"},
    {"swiGlu", "swiglu"}, {"splitK", "splitk"}, {"stridedB", "stridedB"}, {"small", "small"},
    {"medium", "medium"}, {"large", "large"},   {"interior", "interior"}, {"grouped", "grouped"},
    {"wmma", "wmma"},     {"Bias", "bias"},
};

}  // namespace

std::span<const KernelFunctionRule> KernelFunctionRules() { return kFunctions; }
std::span<const FunctorRule> FunctorRules() { return kFunctors; }
std::span<const FunctorHolder> FunctorHolders() { return kHolders; }
std::span<const std::string_view> FunctorPrefixes() { return kPrefixes; }
std::span<const std::string_view> FunctorSuffixes() { return kSuffixes; }
std::span<const TypeRule> TypeRules() { return kTypes; }
std::span<const std::string_view> LibraryPrefixes() { return kLibraryPrefixes; }
std::span<const LibraryRule> LibraryRules() { return kLibrary; }
std::span<const TypeRule> LibraryTypes() { return kLibraryTypes; }
std::span<const TypeRule> LibraryInstructions() { return kInstructions; }
std::span<const TypeRule> LibraryMarks() { return kMarks; }

}  // namespace gpuprof::analysis
