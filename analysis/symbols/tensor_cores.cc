// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/symbols/tensor_cores.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "analysis/model/names.h"
#include "proto/matrix_ops.h"

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
    {"_matmul_ogs", kYes},
    {"marlin::Marlin<", kYes},
    {"fmha_cutlassF_bf16", kYes},
    {"fmha_cutlassF_f16", kYes},
    {"fmha_cutlassB_bf16", kYes},
    {"fmha_cutlassB_f16", kYes},
    // Tensile's names have the shape of AMD's matrix instruction.
    {"_MI16x16x", kYes},
    {"_MI32x32x", kYes},
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
    {"Bfloat16", "bf16"},
    {"tf32", "tf32"},
    {"f16", "fp16"},
    {"half", "fp16"},
    {"Half", "fp16"},
    {"h16816", "fp16"},
    {"h1688", "fp16"},
    {"h884", "fp16"},
    {"s884", "fp16"},
    {"d884", "fp64"},
    {"tensorop_s1688gemm", "tf32"},
};

bool Contains(std::string_view name, std::string_view piece) {
  return name.find(piece) != std::string_view::npos;
}

// The letter of the operands in cuBLAS's names: nvjet_tst, nvjet_sm90_tst.
std::string_view NvjetInput(std::string_view name) {
  constexpr std::string_view kFamily = "nvjet_";
  const size_t at = name.find(kFamily);
  if (at == std::string_view::npos) return {};
  name.remove_prefix(at + kFamily.size());
  if (name.substr(0, 2) == "sm") {
    const size_t end = name.find('_');
    name.remove_prefix(end == std::string_view::npos ? name.size() : end + 1);
  }
  switch (name.empty() ? '\0' : name.front()) {
    case 't':
      return "bf16";
    case 'h':
      return "fp16";
    case 's':
      return "tf32";
    case 'q':
      return "fp8";
    case 'd':
      return "fp64";
    default:
      return {};
  }
}

// Of those for which `may_be` holds.
template <typename Predicate>
std::string_view NamedInput(std::string_view name, Predicate may_be) {
  if (NamesBothHalfTypes(name)) return {};
  const std::string_view nvjet = NvjetInput(name);
  if (!nvjet.empty()) return may_be(nvjet) ? nvjet : std::string_view();
  for (const InputRule& rule : kInputs) {
    if (may_be(rule.input) && Contains(name, rule.piece)) return rule.input;
  }
  return {};
}

using proto::MatrixOp;

// What instructions read: of one type, or of several of which the name may tell which.
struct OpInput {
  uint32_t ops;
  std::string_view input;  // where the name does not tell
  std::string_view may_be[3];
};

constexpr uint32_t BitsOf(std::initializer_list<MatrixOp> ops) {
  uint32_t bits = 0;
  for (const MatrixOp op : ops) bits |= MatrixOpBit(op);
  return bits;
}

constexpr OpInput kOpInputs[] = {
    {BitsOf({MatrixOp::kHmma, MatrixOp::kHgmma, MatrixOp::kUtchmma}), "", {"fp16", "bf16", "tf32"}},
    {BitsOf({MatrixOp::kQmma, MatrixOp::kQgmma, MatrixOp::kUtcqmma}), "fp8", {"fp8", "fp4", ""}},
    {BitsOf({MatrixOp::kImma, MatrixOp::kIgmma, MatrixOp::kUtcimma}), "int8", {}},
    {BitsOf({MatrixOp::kOmma, MatrixOp::kUtcomma}), "fp4", {}},
    {BitsOf({MatrixOp::kBmma, MatrixOp::kBgmma}), "int1", {}},
    {BitsOf({MatrixOp::kDmma}), "fp64", {}},
};

// Nothing where the code has instructions of several types.
std::string_view InputOf(std::string_view name, uint32_t ops) {
  for (const OpInput& rule : kOpInputs) {
    if ((ops & ~rule.ops) != 0) continue;
    const std::string_view named = NamedInput(name, [&](std::string_view input) {
      return std::find(std::begin(rule.may_be), std::end(rule.may_be), input) !=
             std::end(rule.may_be);
    });
    return named.empty() ? rule.input : named;
  }
  return {};
}

}  // namespace

bool NamesBothHalfTypes(std::string_view name) { return Contains(name, "native_sdpa"); }

TensorCoreVerdict TensorCoresOf(std::string_view name, uint32_t compute_major,
                                uint32_t matrix_ops) {
  if (compute_major != 0 && compute_major < 7)
    return {
        TensorCores::kUnused, TensorCoreEvidence::kDevice, "the device has no tensor cores", {}};
  const uint32_t ops = matrix_ops & ~proto::kCodeLookedAt;
  if (ops != 0)
    return {TensorCores::kUsed, TensorCoreEvidence::kCode, "SASS: " + MatrixOpsText(ops, ", "),
            InputOf(name, ops)};
  if (matrix_ops != 0)
    return {TensorCores::kUnused, TensorCoreEvidence::kCode, "SASS: no matrix instructions", {}};
  for (const Rule& rule : kRules) {
    if (!Contains(name, rule.piece)) continue;
    const auto any = [](std::string_view) { return true; };
    const bool is_used = rule.use == TensorCores::kUsed;
    return {rule.use, TensorCoreEvidence::kName, std::string(rule.piece),
            is_used ? NamedInput(name, any) : std::string_view()};
  }
  return {};
}

}  // namespace gpuprof::analysis
