// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See kernel_reports.h.

#include "analysis/xprof/kernel_reports.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <utility>

#include "analysis/xprof/gpu_event.h"

namespace gpuprof::analysis::xprof {
namespace {

constexpr size_t kMostReports = 1000;

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Parts of the names of kernels of cuBLAS and cuDNN that use tensor cores, as XProf knows them: up
// to NVIDIA's Ampere.
constexpr std::string_view kNvidiaParts[] = {
    "16816",
    "c1688",
    "conv1x1",
    "conv2d_c1_k1",
    "dgrad_1x1_stride_2x2",
    "direct_group",
    "first_layer_wgrad_kernel",
    "h1688",
    "h884",
    "hmma",
    "i16832",
    "i8816",
    "s884",
    "s1688",
    "xmma_gemm",
    "xmma_implicit_gemm",
    "xmma_sparse_conv",
    "xmma_sparse_gemm",
    "xmma_warp_specialized_implicit_gemm",
};
// The same for kernels that use AMD's matrix cores.
constexpr std::string_view kAmdParts[] = {
    "gemm_fusion",
    "Custom_Cijk_",
    "_xdl",
    "gtcx",
    "moe_gemm",
    "moe_mxgemm",
    "wmma",
    "miopenSp3AsmConvRage",
    "aiter",
    "FMHA_FWD",
    "attn_fwd",
    "bwd_kernel_",
    "mfma",
    "TileGemmShape<",
    "TileFlatmmShape<",
    "TileFmhaShape<",
    "TileFmhaBwdShape<",
};

template <size_t size>
bool HasAny(std::string_view text, const std::string_view (&parts)[size]) {
  return std::any_of(std::begin(parts), std::end(parts),
                     [&](std::string_view part) { return Has(text, part); });
}

// "_MI16x16x4": the matrix instruction of a kernel of Tensile.
bool HasMatrixInstruction(std::string_view kernel) {
  constexpr std::string_view kBegin = "_MI", kDigits = "0123456789";
  for (size_t at = kernel.find(kBegin); at != std::string_view::npos;
       at = kernel.find(kBegin, at + 1)) {
    std::string_view rest = kernel.substr(at + kBegin.size());
    for (int number = 0; number < 3; ++number) {
      const size_t end = std::min(rest.find_first_not_of(kDigits), rest.size());
      if (end == 0) break;
      if (number == 2) return true;
      if (end == rest.size() || rest[end] != 'x') break;
      rest.remove_prefix(end + 1);
    }
  }
  return false;
}

bool UsesTensorCores(std::string_view kernel, std::string_view vendor) {
  if (vendor == "Nvidia") return HasAny(kernel, kNvidiaParts);
  return vendor == "AMD" && (HasAny(kernel, kAmdParts) || HasMatrixInstruction(kernel));
}

bool IsEligible(std::string_view op) {
  static constexpr std::string_view kEnds[] = {"Conv2D",      "Conv2DBackpropFilter",
                                               "Conv3D",      "Conv2DBackpropInput",
                                               "/MatMul",     "DepthwiseConv2dNative",
                                               "FusedMatMul", "DepthwiseConv2dNativeBackpropFilter",
                                               "/CudnnRNN",   "DepthwiseConv2dNativeBackpropInput",
                                               "XlaDot",      "XlaDotV2"};
  static constexpr std::string_view kParts[] = {"BatchMatMul",     "CudnnRNNV",
                                                "CudnnRNNForward", "CudnnRNNBackprop",
                                                "dot_general",     "conv_general_dilated"};
  return std::any_of(std::begin(kEnds), std::end(kEnds),
                     [&](std::string_view end) { return op.ends_with(end); }) ||
         HasAny(op, kParts);
}

// "a,b->c": a product of two.
bool IsProductOfTwo(std::string_view equation) {
  const size_t arrow = equation.find("->");
  if (arrow == std::string_view::npos || Has(equation.substr(arrow + 2), "->")) return false;
  const std::string_view inputs = equation.substr(0, arrow);
  return std::count(inputs.begin(), inputs.end(), ',') == 1;
}

std::string_view Trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

bool ReadNumber(std::string_view text, uint32_t* number) {
  text = Trimmed(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

void ReadTriple(std::string_view text, uint32_t (&triple)[3]) {
  if (std::count(text.begin(), text.end(), ',') != 2) return;
  uint32_t numbers[3] = {};
  for (uint32_t& number : numbers) {
    const size_t comma = std::min(text.find(','), text.size());
    if (!ReadNumber(text.substr(0, comma), &number)) return;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  std::copy(std::begin(numbers), std::end(numbers), std::begin(triple));
}

void ReadOccupancy(std::string_view text, float* occupancy) {
  text = Trimmed(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end != text.data() + text.size()) return;
  if (error != std::errc() && error != std::errc::result_out_of_range) return;
  *occupancy = static_cast<float>(value);
}

// "regs:32 static_shared:0 ...": unknown pairs are left out.
void ReadDetails(std::string_view details, KernelReport* report) {
  KernelReport::Key& key = report->key;
  while (!details.empty()) {
    const size_t end = std::min(details.find_first_of(" \n"), details.size());
    const std::string_view pair = details.substr(0, end);
    details.remove_prefix(std::min(end + 1, details.size()));
    const size_t colon = pair.find(':');
    if (colon == std::string_view::npos || Has(pair.substr(colon + 1), ":")) continue;
    const std::string_view name = pair.substr(0, colon), value = pair.substr(colon + 1);
    uint32_t number = 0;
    if (name == "regs" && ReadNumber(value, &number)) key.registers = number;
    if (name == "static_shared" && ReadNumber(value, &number)) key.static_shared = number;
    if (name == "dynamic_shared" && ReadNumber(value, &number)) key.dynamic_shared = number;
    if (name == "block") ReadTriple(value, key.block);
    if (name == "grid") ReadTriple(value, key.grid);
    if (name == "occ_pct") ReadOccupancy(value, &report->occupancy);
  }
}

// The operation, and whether tensor cores could do its work.
void ReadOp(const GpuEvent& work, const HloPrograms& programs, KernelReport::Key* key) {
  if (!work.annotation.empty()) {
    key->op = ParseOpName(work.annotation).name;
    key->is_eligible =
        IsProductOfTwo(work.equation) || IsEligible(key->op) || key->uses_tensor_cores;
  }
  if (!work.is_xla_op()) return;
  if (const HloInstruction* instruction = work.InstructionIn(programs)) {
    key->op = ParseOpName(instruction->framework_op).name;
    key->is_eligible = IsEligible(key->op) || key->is_eligible;
  }
}

bool IsLonger(const KernelReport& x, const KernelReport& y) {
  return x.total_ns != y.total_ns ? x.total_ns > y.total_ns : x.key < y.key;
}

}  // namespace

void AddKernels(const Plane& gpu, const HloPrograms& programs, KernelReports* reports) {
  const Stat* const vendor_stat = gpu.Find(StatKey::kDeviceVendor);
  const std::string_view vendor = vendor_stat == nullptr ? "" : vendor_stat->Text();
  for (const Line& line : gpu.lines) {
    if (IsDerivedLine(line.id)) continue;
    for (const Event& event : line.events) {
      if (event.duration == 0) continue;
      const uint64_t duration_ns = static_cast<uint64_t>(event.duration) / 1000;
      const GpuEvent work(gpu, event);
      if (!work.is_kernel()) continue;
      KernelReport report;
      report.key.name = gpu.names[event.name].name;
      report.key.uses_tensor_cores = UsesTensorCores(report.key.name, vendor);
      ReadDetails(work.details, &report);
      ReadOp(work, programs, &report.key);
      KernelReport& sum = reports->try_emplace(report.key, report).first->second;
      sum.min_ns = sum.occurrences == 0 ? duration_ns : std::min(sum.min_ns, duration_ns);
      sum.max_ns = std::max(sum.max_ns, duration_ns);
      sum.total_ns += duration_ns;
      ++sum.occurrences;
    }
  }
}

void KeepLongest(std::vector<KernelReport>* reports) {
  std::stable_sort(reports->begin(), reports->end(), IsLonger);
  if (reports->size() > kMostReports) reports->resize(kMostReports);
}

std::vector<KernelReport> LongestOf(const KernelReports& reports) {
  std::vector<KernelReport> sorted;
  for (const auto& [key, report] : reports) sorted.push_back(report);
  KeepLongest(&sorted);
  return sorted;
}

std::map<std::string, OpKernels, std::less<>> KernelsByOp(
    const std::vector<KernelReport>& reports) {
  std::map<std::string, OpKernels, std::less<>> ops;
  for (const KernelReport& report : reports) {
    OpKernels& op = ops[report.key.op];
    op.is_eligible = op.is_eligible || report.key.is_eligible;
    op.total_ns += report.total_ns;
    if (report.key.uses_tensor_cores) op.tensor_core_ns += report.total_ns;
  }
  return ops;
}

}  // namespace gpuprof::analysis::xprof
