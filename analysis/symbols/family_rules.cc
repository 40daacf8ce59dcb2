// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See family_rules.h.

#include "analysis/symbols/family_rules.h"

namespace gpuprof::analysis {
namespace {

using results::KernelFamily;

constexpr KernelFamily kMatrix = results::KERNEL_FAMILY_MATRIX;
constexpr KernelFamily kConvolution = results::KERNEL_FAMILY_CONVOLUTION;
constexpr KernelFamily kAttention = results::KERNEL_FAMILY_ATTENTION;
constexpr KernelFamily kNorm = results::KERNEL_FAMILY_NORMALISATION;
constexpr KernelFamily kSoftmax = results::KERNEL_FAMILY_SOFTMAX;
constexpr KernelFamily kReduction = results::KERNEL_FAMILY_REDUCTION;
constexpr KernelFamily kElementwise = results::KERNEL_FAMILY_ELEMENTWISE;
constexpr KernelFamily kCopy = results::KERNEL_FAMILY_COPY;
constexpr KernelFamily kEmbedding = results::KERNEL_FAMILY_EMBEDDING;
constexpr KernelFamily kRouting = results::KERNEL_FAMILY_ROUTING;
constexpr KernelFamily kIndex = results::KERNEL_FAMILY_INDEX;
constexpr KernelFamily kRandom = results::KERNEL_FAMILY_RANDOM;
constexpr KernelFamily kOptimizer = results::KERNEL_FAMILY_OPTIMIZER;
constexpr KernelFamily kCollective = results::KERNEL_FAMILY_COLLECTIVE;
constexpr KernelFamily kOther = results::KERNEL_FAMILY_OTHER;

constexpr FamilyRule kNamespaces[] = {
    // Expert parallelism: the counting of tokens stays on the device.
    {"deep_ep::layout", kRouting},
    {"deep_ep", kCollective},
    {"dpsk::ep", kCollective},
    {"pplx", kCollective},
    {"a2a_kernels", kCollective},
    {"mscclpp", kCollective},
    {"nvshmem", kCollective},
    {"rocshmem", kCollective},
    {"userbuffers", kCollective},
    {"c10d::symmetric_memory", kCollective},
    {"moe::dev", kRouting},
    // cuBLAS and cuDNN, whose functions are called "kernel".
    {"gemvx", kMatrix},
    {"machete", kMatrix},
    {"epilogue::impl", kMatrix},
    {"cutlass_cudnn", kConvolution},
    {"cutlass_cudnn_infer", kConvolution},
    {"cutlass_cudnn_train", kConvolution},
};

constexpr FamilyRule kFunctions[] = {
    // Copies that name what their data are for.
    {"reshape and cache*", kCopy},
    {"concat and cache*", kCopy},
    {"store kv cache*", kCopy},
    {"copy page*", kCopy},
    {"all gather copy*", kCopy},
    {"finalize matmul scatter*", kCopy},
    // Collectives.
    {"nccl*", kCollective},
    {"rccl*", kCollective},
    {"oneccl*", kCollective},
    {"hcom*", kCollective},
    {"hccl*", kCollective},
    {"mscclpp*", kCollective},
    {"nvshmem*", kCollective},
    {"rocshmem*", kCollective},
    {"userbuffers*", kCollective},
    {"kuserbuffers*", kCollective},
    {"all reduce", kCollective},
    {"all gather", kCollective},
    {"all to all", kCollective},
    {"all2all", kCollective},
    {"a2a", kCollective},
    {"reduce scatter", kCollective},
    {"cross device reduce", kCollective},
    {"send recv", kCollective},
    {"collective permute", kCollective},
    {"collective broadcast", kCollective},
    // The choice of experts. What multiplies for them is a product.
    {"fused moe kernel*", kMatrix},
    {"topk gating*", kRouting},
    {"topk softmax", kRouting},
    {"grouped topk*", kRouting},
    {"topk forward", kRouting},
    {"moe align*", kRouting},
    {"moe sum*", kRouting},
    {"moe permute*", kRouting},
    {"moe unpermute*", kRouting},
    {"finalize moe*", kRouting},
    {"expand input rows*", kRouting},
    {"count and sort expert*", kRouting},
    {"combined routing*", kRouting},
    {"sum bitmatrix*", kRouting},
    // Tables of embeddings. The rotation of positions is arithmetic.
    {"rotary*", kElementwise},
    {"rope", kElementwise},
    {"split embedding*", kEmbedding},
    {"embedding*", kEmbedding},
    {"krn partial*", kEmbedding},
    {"compute grad weight*", kEmbedding},
    {"sum and scatter", kEmbedding},
    // Attention.
    {"flash fwd*", kAttention},
    {"flash bwd*", kAttention},
    {"flash bprop*", kAttention},
    {"flash attn*", kAttention},
    {"flash mla*", kAttention},
    {"fmha*", kAttention},
    {"mha", kAttention},
    {"mla", kAttention},
    {"sdpa", kAttention},
    {"attn", kAttention},
    {"attention", kAttention},
    {"batch prefill*", kAttention},
    {"batch decode*", kAttention},
    {"single prefill*", kAttention},
    {"single decode*", kAttention},
    {"reduce segments", kAttention},
    // Convolutions, before the products that they are made of.
    {"conv", kConvolution},
    {"conv1d", kConvolution},
    {"conv2d", kConvolution},
    {"conv3d", kConvolution},
    {"3dconv", kConvolution},
    {"convolution*", kConvolution},
    {"convolve*", kConvolution},
    {"*fprop", kConvolution},
    {"*dgrad", kConvolution},
    {"*wgrad", kConvolution},
    {"*wrw", kConvolution},
    {"winograd*", kConvolution},
    {"*scudnn", kConvolution},
    {"*hcudnn", kConvolution},
    {"*icudnn", kConvolution},
    {"*884cudnn", kConvolution},
    {"fft2d*", kConvolution},
    {"*gcgemm", kConvolution},  // cuDNN's products between two Fourier transforms
    {"igemm fwd*", kConvolution},
    {"igemm bwd*", kConvolution},
    {"compute offsets kernel*", kConvolution},
    {"compute b offsets kernel*", kConvolution},
    {"compute wgrad*", kConvolution},
    // Normalisation.
    {"layer norm*", kNorm},
    {"rms norm*", kNorm},
    {"batch norm*", kNorm},
    {"group norm*", kNorm},
    {"instance norm*", kNorm},
    {"bn fw*", kNorm},
    {"bn bw*", kNorm},
    {"ln fwd*", kNorm},
    {"ln bwd*", kNorm},
    {"rowwise moments*", kNorm},
    {"gamma beta*", kNorm},
    {"soft max*", kSoftmax},
    {"log soft max*", kSoftmax},
    // Products.
    {"marlin repack*", kCopy},
    {"marlin*", kMatrix},
    {"machete*", kMatrix},
    {"gemm*", kMatrix},
    {"*gemm", kMatrix},
    {"gemv*", kMatrix},
    {"*gemv", kMatrix},
    {"matmul*", kMatrix},
    {"*matmul", kMatrix},
    {"mul mat*", kMatrix},
    {"bmm", kMatrix},
    {"cijk", kMatrix},
    {"nvjet*", kMatrix},
    {"split k reduce*", kMatrix},
    {"syrk", kMatrix},
    {"trsm", kMatrix},
    {"trmm", kMatrix},
    {"expert*", kRouting},
    {"moe", kRouting},
    {"routing*", kRouting},
    // Optimizers and random numbers.
    {"adam*", kOptimizer},
    {"adagrad*", kOptimizer},
    {"adadelta*", kOptimizer},
    {"adafactor*", kOptimizer},
    {"rmsprop*", kOptimizer},
    {"lamb", kOptimizer},
    {"sgd*", kOptimizer},
    {"optimizer*", kOptimizer},
    {"*dropout", kRandom},
    {"philox*", kRandom},
    {"curand*", kRandom},
    {"generate seed*", kRandom},
    {"random*", kRandom},
    {"bernoulli*", kRandom},
    {"distribution*", kRandom},
    // Sorting, scanning and indexing. A selective scan is a layer of its own.
    {"selective scan*", kOther},
    {"permute*", kCopy},
    {"elementwise kernel with index", kElementwise},
    {"*sort", kIndex},
    {"radix*", kIndex},
    {"*scan", kIndex},
    {"topk", kIndex},
    {"histogram*", kIndex},
    {"unique*", kIndex},
    {"device select*", kIndex},
    {"device compact*", kIndex},
    {"search sorted*", kIndex},
    {"bucketize*", kIndex},
    {"nonzero*", kIndex},
    {"*gather", kIndex},
    {"*scatter", kIndex},
    {"index*", kIndex},
    {"indices", kIndex},
    {"linearize index*", kIndex},
    {"offsets range*", kIndex},
    // Casts and changes of layout. Element by element with a product in the name comes before.
    {"act and mul*", kElementwise},
    {"silu*", kElementwise},
    {"gelu*", kElementwise},
    {"relu*", kElementwise},
    {"swiglu*", kElementwise},
    {"geglu*", kElementwise},
    {"copy*", kCopy},
    {"*copy", kCopy},
    {"memcpy*", kCopy},
    {"cast*", kCopy},
    {"convert*", kCopy},
    {"transpose*", kCopy},
    {"concat*", kCopy},
    {"cat array*", kCopy},
    {"nchw to nhwc*", kCopy},
    {"nhwc to nchw*", kCopy},
    {"im2col*", kCopy},
    {"col2im*", kCopy},
    {"pad", kCopy},
    {"roll", kCopy},
    {"flip", kCopy},
    {"swap dimension*", kCopy},
    {"shuffle in tensor*", kCopy},
    {"repack*", kCopy},
    {"*quant", kCopy},
    {"quantize*", kCopy},
    {"*quantize", kCopy},
    {"fp8rowwise to*", kCopy},
    {"qparam", kCopy},
    // Sums over elements.
    {"reduce*", kReduction},
    {"*reduce", kReduction},
    {"reduction*", kReduction},
    {"dot kernel*", kReduction},
    {"nrm2*", kReduction},
    {"asum*", kReduction},
    {"*argmax", kReduction},
    {"*argmin", kReduction},
    // Element by element.
    {"*elementwise", kElementwise},
    {"pointwise*", kElementwise},
    {"multi tensor apply*", kElementwise},
    {"fill*", kElementwise},
    {"memset*", kElementwise},
    {"scale packed*", kElementwise},
    {"scal kernel", kElementwise},
    {"op tensor*", kElementwise},
    {"activation*", kElementwise},
    {"bias*", kElementwise},
    {"parallel for*", kElementwise},
    {"triu tril*", kElementwise},
    {"masked fill*", kElementwise},
    {"eigen meta kernel", kElementwise},
};

constexpr FamilyRule kFunctors[] = {
    {"adam*", kOptimizer},    {"adagrad*", kOptimizer},  {"lamb*", kOptimizer},
    {"sgd*", kOptimizer},     {"rmsprop*", kOptimizer},  {"novograd*", kOptimizer},
    {"lp norm*", kReduction}, {"l2 norm*", kReduction},  {"uniform*", kRandom},
    {"normal*", kRandom},     {"exponential*", kRandom}, {"bernoulli*", kRandom},
    {"random*", kRandom},     {"dropout*", kRandom},     {"index*", kIndex},
    {"gather*", kIndex},      {"scatter*", kIndex},      {"copy*", kCopy},
    {"cast*", kCopy},
};

constexpr FamilyRule kInstructions[] = {
    {"all reduce*", kCollective},
    {"all gather*", kCollective},
    {"all to all*", kCollective},
    {"ragged all to all*", kCollective},
    {"reduce scatter*", kCollective},
    {"collective*", kCollective},
    {"send", kCollective},
    {"recv", kCollective},
    {"convolution*", kConvolution},
    {"dot", kMatrix},
    {"convert*", kCopy},
    {"copy*", kCopy},
    {"bitcast*", kCopy},
    {"transpose", kCopy},
    {"concatenate", kCopy},
    {"slice*", kCopy},
    {"dynamic slice*", kCopy},
    {"dynamic update slice*", kCopy},
    {"pad", kCopy},
    {"reshape", kCopy},
    {"reverse", kCopy},
    {"broadcast", kElementwise},
    {"iota", kElementwise},
    {"reduce*", kReduction},
    {"sort*", kIndex},
    {"gather", kIndex},
    {"scatter", kIndex},
    {"rng*", kRandom},
};

constexpr std::string_view kMoving[] = {
    "to",         "copy",       "clone",   "cat",     "stack",       "permute", "transpose",
    "t",          "view",       "expand",  "slice",   "select",      "split",   "with",
    "sizes",      "unsqueeze",  "squeeze", "reshape", "constant",    "pad",     "nd",
    "detach",     "contiguous", "repeat",  "as",      "strided",     "unbind",  "flip",
    "roll",       "convert",    "element", "type",    "concatenate", "dynamic", "update",
    "bitcast",    "unsafe",     "alias",   "lift",    "fresh",       "prims",   "device",
    "put",        "all",        "gather",  "into",    "tensor",      "wait",    "c10d",
    "functional", "chunk",      "unfold",  "narrow",  "movedim",
};

constexpr std::string_view kFusion[] = {
    "triton", "poi",  "red",   "per",     "for",    "tem",        "fused",
    "fusion", "loop", "input", "wrapped", "kernel", "horizontal", "unrolled",
};

constexpr std::string_view kLaunchers[] = {
    "Kernel",
    "Kernel2",
    "device_kernel",
    "enable_sm90_or_later",
    "enable_sm90",
    "enable_sm80_to_sm89",
    "enable_sm80",
    "enable_3x_kernel_for_sm90",
    "enable_3x_kernel_for_sm9x",
    "kentry",
    "_kernel_agent",
    "static_kernel",
    "trampoline_kernel",
};

}  // namespace

std::span<const FamilyRule> NamespaceFamilies() { return kNamespaces; }
std::span<const FamilyRule> FunctionFamilies() { return kFunctions; }
std::span<const FamilyRule> FunctorFamilies() { return kFunctors; }
std::span<const FamilyRule> InstructionFamilies() { return kInstructions; }
std::span<const std::string_view> MovingWords() { return kMoving; }
std::span<const std::string_view> FusionWords() { return kFusion; }
std::span<const std::string_view> KernelLaunchers() { return kLaunchers; }

}  // namespace gpuprof::analysis
