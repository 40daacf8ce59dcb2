// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/passes/tensor_cores.h"

namespace gpuprof::analysis {
namespace {

struct Rule {
  std::string_view piece;
  TensorCores use;
};

constexpr TensorCores kNo = TensorCores::kUnused, kYes = TensorCores::kUsed;

// The first that the name contains decides.
constexpr Rule kRules[] = {
    // The algorithm's class, where it stands in the name.
    {"_simt_", kNo},
    {"_ffma_", kNo},
    {"splitkv_combine", kNo},
    {"splitKreduce", kNo},
    {"tensorop", kYes},
    {"wgmma", kYes},
    {"_gmma_", kYes},
    {"hmma", kYes},
    {"imma", kYes},
    {"_tensor16x8x", kYes},
    {"_tensor8x8x", kYes},
    {"warpgroupsize", kYes},  // sm90_xmma_gemm: a warp group exists for nothing else
    // The instruction's shape: accumulator's letter, m, n, k.
    {"s16816", kYes},
    {"h16816", kYes},
    {"s161616", kYes},
    {"s1688", kYes},
    {"h1688", kYes},
    {"c1688", kYes},
    {"s884", kYes},
    {"h884", kYes},
    {"d884", kYes},
    {"i8816", kYes},
    {"i16832", kYes},
    {"i16864", kYes},
    {"tf32f32", kYes},
    // Families of which there is no other kind.
    {"nvjet_", kYes},  // cuBLAS, Hopper and later
    {"bmm_MxE", kYes},
    {"bmm_Bfloat16_MxE", kYes},
    {"bmm_E4m3", kYes},
    {"fmhaSm", kYes},
    {"fmha_v2", kYes},
    {"flash_fwd", kYes},
    {"flash_bwd_dq_dk_dv", kYes},
    {"FlashAttnFwd", kYes},
    {"FlashAttnBwd", kYes},
    {"deep_gemm::", kYes},
    // Products that are known to multiply in plain arithmetic.
    {"sgemm", kNo},
    {"scudnn", kNo},
    {"gcgemm", kNo},
    {"gemv", kNo},
    {"cudnn::detail::dgrad_engine", kNo},
    {"wgrad_alg0_engine", kNo},
    {"winograd_nonfused", kNo},
    {"implicit_convolve_sgemm", kNo},
    // What multiplies no matrices.
    {"elementwise", kNo},
    {"at::native::", kNo},
    {"at_cuda_detail::", kNo},
    {"cub::", kNo},
    {"thrust::", kNo},
    {"ncclDevKernel", kNo},
    {"ncclKernel", kNo},
    {"all_reduce_kernel", kNo},
    {"cudnn::bn_", kNo},
    {"cudnn::ops::", kNo},
    {"nchwToNhwc", kNo},
    {"fft2d_", kNo},
    {"layer_norm", kNo},
    {"rms_norm", kNo},
    {"rotary_embedding", kNo},
    {"reshape_and_cache", kNo},
    {"split_embedding", kNo},
    {"fbgemm_gpu::", kNo},
    {"moe::dev::routing", kNo},
    {"moe::dev::finalize", kNo},
    {"quantize", kNo},
    {"scaled_fp8_quant", kNo},
    {"triton_poi_", kNo},  // TorchInductor: pointwise, reduction, persistent reduction
    {"triton_red_", kNo},
    {"triton_per_", kNo},
};

struct InputRule {
  std::string_view piece, input;
};

// The narrowest that is named is what the product reads.
constexpr InputRule kInputs[] = {
    {"E2m1", "fp4"},
    {"e2m1", "fp4"},
    {"mxfp4", "fp4"},
    {"nvfp4", "fp4"},
    {"E4m3", "fp8"},
    {"e4m3", "fp8"},
    {"e5m2", "fp8"},
    {"fp8", "fp8"},
    {"i8816", "int8"},
    {"i16832", "int8"},
    {"imma", "int8"},
    {"bf16", "bf16"},
    {"bfloat16", "bf16"},
    {"BFloat16", "bf16"},
    {"nvjet_t", "bf16"},
    {"Bfloat16", "bf16"},
    {"tf32", "tf32"},
    {"nvjet_s", "tf32"},
    {"f16", "fp16"},
    {"half", "fp16"},
    {"Half", "fp16"},
    {"h16816", "fp16"},
    {"h1688", "fp16"},
    {"h884", "fp16"},
    {"s884", "fp16"},
    {"nvjet_h", "fp16"},
    {"nvjet_q", "fp8"},
    {"d884", "fp64"},
    {"tensorop_s1688gemm", "tf32"},
};

bool Contains(std::string_view name, std::string_view piece) {
  return name.find(piece) != std::string_view::npos;
}

std::string_view InputOf(std::string_view name) {
  for (const InputRule& rule : kInputs) {
    if (Contains(name, rule.piece)) return rule.input;
  }
  return {};
}

}  // namespace

TensorCoreVerdict TensorCoresOf(std::string_view name, uint32_t compute_major) {
  if (compute_major != 0 && compute_major < 7)
    return {TensorCores::kUnused, "the device has none", {}};
  for (const Rule& rule : kRules) {
    if (!Contains(name, rule.piece)) continue;
    const bool is_used = rule.use == TensorCores::kUsed;
    return {rule.use, rule.piece, is_used ? InputOf(name) : std::string_view()};
  }
  return {};
}

std::string_view TensorCoresName(TensorCores use) {
  switch (use) {
    case TensorCores::kUsed:
      return "yes";
    case TensorCores::kUnused:
      return "no";
    case TensorCores::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace gpuprof::analysis
