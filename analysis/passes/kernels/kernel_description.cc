// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See kernel_description.h.

#include "analysis/passes/kernels/kernel_description.h"

#include <algorithm>
#include <optional>
#include <string>

#include "analysis/derived/kernel_class.h"
#include "analysis/derived/peak_rates.h"
#include "analysis/model/names.h"
#include "analysis/passes/kernels/occupancy.h"
#include "analysis/passes/rows.h"
#include "analysis/steps/statistics.h"
#include "analysis/symbols/kernel_names.h"
#include "analysis/symbols/kernel_rule_file.h"
#include "analysis/symbols/mangled_names.h"
#include "analysis/symbols/tensor_cores.h"
#include "proto/matrix_ops.h"

namespace gpuprof::analysis {
namespace {

constexpr double kNsPerSecond = 1e9;

results::Evidence EvidenceOf(TensorCoreEvidence evidence) {
  switch (evidence) {
    case TensorCoreEvidence::kCode:
      return results::EVIDENCE_SASS;
    case TensorCoreEvidence::kName:
      return results::EVIDENCE_NAME;
    case TensorCoreEvidence::kDevice:
      return results::EVIDENCE_DEVICE;
    case TensorCoreEvidence::kNone:
      break;
  }
  return results::EVIDENCE_NONE;
}

results::TensorCoreUse UseOf(TensorCores use) {
  switch (use) {
    case TensorCores::kUsed:
      return results::TENSOR_CORE_USE_YES;
    case TensorCores::kUnused:
      return results::TENSOR_CORE_USE_NO;
    case TensorCores::kUnknown:
      break;
  }
  return results::TENSOR_CORE_USE_UNKNOWN;
}

results::OccupancyLimit LimitOf(OccupancyResource limit) {
  switch (limit) {
    case OccupancyResource::kRegisters:
      return results::OCCUPANCY_LIMIT_REGISTERS;
    case OccupancyResource::kSharedMemory:
      return results::OCCUPANCY_LIMIT_SHARED_MEMORY;
    case OccupancyResource::kBlocks:
      return results::OCCUPANCY_LIMIT_BLOCKS;
    case OccupancyResource::kWarps:
      break;
  }
  return results::OCCUPANCY_LIMIT_WARPS;
}

// Signatures of one kernel that were first seen at different times may know differently much of its
// code. 0: nothing, or that some code of this name has such instructions and some has none.
uint32_t MatrixOpsOf(const Process& process, const SignatureTimes& signatures) {
  uint32_t all = 0;
  bool lacks = false;
  for (const auto& [id, ns] : signatures) {
    const proto::Signature* signature = SignatureOf(process, id);
    const uint32_t ops = signature == nullptr ? 0 : signature->matrix_ops();
    if (ops != 0 && (ops & proto::kCodeLookedAt) == 0) return 0;
    all |= ops;
    lacks |= ops == proto::kCodeLookedAt;
  }
  return lacks && all != proto::kCodeLookedAt ? 0 : all;
}

}  // namespace

const proto::Signature* SignatureOf(const Process& process, uint32_t id) {
  const auto found = process.signatures.find(id);
  return found == process.signatures.end() ? nullptr : &found->second;
}

void FillSignature(const proto::Signature& from, results::Kernel* row) {
  row->set_grid(DimensionsText(from.grid()));
  row->set_block(DimensionsText(from.block()));
  const bool has_cluster =
      std::any_of(from.cluster().begin(), from.cluster().end(), [](uint32_t n) { return n > 1; });
  if (has_cluster) row->set_cluster(DimensionsText(from.cluster()));
  row->set_registers_per_thread_count(from.registers());
  row->set_static_shared_bytes(from.static_shared_bytes());
  row->set_dynamic_shared_bytes(from.dynamic_shared_bytes());
  row->set_local_bytes_per_thread(from.local_bytes_per_thread());
}

void FillName(const Process& process, uint32_t string_id, results::Kernel* row) {
  const std::string name = process.String(string_id);
  row->set_name(Demangle(name.c_str()));
  if (row->name() != name) row->set_mangled(name);
}

void FillOccupancy(const Process& process, const proto::Device& device,
                   const SignatureTimes& signatures, results::Kernel* row) {
  double ratio = 0, waves = 0;
  int64_t known_ns = 0, most_ns = -1;
  for (const auto& [id, ns] : signatures) {
    const proto::Signature* signature = SignatureOf(process, id);
    const auto occupancy = signature == nullptr ? std::nullopt : OccupancyOf(device, *signature);
    if (!occupancy) continue;
    const int64_t weight = std::max<int64_t>(ns, 1);
    ratio += occupancy->ratio * static_cast<double>(weight);
    waves += occupancy->waves * static_cast<double>(weight);
    known_ns += weight;
    if (ns > most_ns) row->set_occupancy_limit(LimitOf(occupancy->limit));
    most_ns = std::max(most_ns, ns);
  }
  if (known_ns == 0) return;
  row->set_occupancy_ratio(ratio / static_cast<double>(known_ns));
  row->set_wave_count(waves / static_cast<double>(known_ns));
}

void FillTensorCores(const Process& process, const proto::Device* device,
                     const SignatureTimes& signatures, results::Kernel* row,
                     const InputPrecision& inputs) {
  const uint32_t matrix_ops = MatrixOpsOf(process, signatures);
  const uint32_t major = device == nullptr ? 0 : device->compute_major();
  const TensorCoreVerdict verdict = TensorCoresOf(row->name(), major, matrix_ops);
  row->set_tensor_cores(UseOf(verdict.use));
  row->set_tensor_cores_evidence_kind(EvidenceOf(verdict.kind));
  row->set_tensor_cores_evidence(verdict.evidence);
  row->set_tensor_cores_input(std::string(verdict.input));
  const PrecisionFound found = PrecisionOf(row->name(), major, matrix_ops, inputs);
  row->set_precision(found.precision);
  row->set_precision_evidence(found.evidence);
}

results::Precision PrecisionOfSignature(const Process& process, const proto::Device* device,
                                        uint32_t signature, const InputPrecision& inputs) {
  const proto::Signature* known = SignatureOf(process, signature);
  const std::string name = known == nullptr ? "" : process.String(known->name());
  const uint32_t major = device == nullptr ? 0 : device->compute_major();
  return PrecisionOf(Demangle(name.c_str()), major, MatrixOpsOf(process, {{signature, 0}}), inputs)
      .precision;
}

FamilyTally::OfName& FamilyTally::At(size_t process, uint32_t signature) {
  const proto::Signature* known = SignatureOf(context_->process(process), signature);
  const uint32_t name = known == nullptr ? 0 : known->name();
  const auto [at, is_new] = names_.try_emplace({process, name});
  if (is_new) at->second.family = context_->families(process).OfName(name);
  return at->second;
}

results::KernelFamily FamilyTally::Of(size_t process, uint32_t signature) {
  return At(process, signature).family;
}

void FamilyTally::Add(size_t process, uint32_t signature, uint64_t count, int64_t ns) {
  OfName& sums = At(process, signature);
  sums.count += count;
  sums.ns += ns;
}

void FamilyTally::Fill(google::protobuf::RepeatedPtrField<results::KernelFamilyTime>* rows) const {
  struct Sums {
    uint64_t count = 0;
    int64_t ns = 0;
    std::map<std::string, int64_t> names;
  };
  std::map<results::KernelFamily, Sums> families;
  int64_t all_ns = 0;
  for (const auto& [key, of_name] : names_) {
    if (of_name.count == 0) continue;
    Sums& sums = families[of_name.family];
    sums.count += of_name.count;
    sums.ns += of_name.ns;
    all_ns += of_name.ns;
    sums.names[Demangle(context_->process(key.first).String(key.second).c_str())] += of_name.ns;
  }
  for (const auto& [family, sums] : families) {
    const auto largest =
        std::max_element(sums.names.begin(), sums.names.end(),
                         [](const auto& x, const auto& y) { return x.second < y.second; });
    results::KernelFamilyTime* row = rows->Add();
    row->set_family(family);
    row->set_count(sums.count);
    row->set_total_ns(sums.ns);
    row->set_total_ratio(Ratio(sums.ns, all_ns));
    row->set_largest(ShortKernelName(largest->first));
  }
  SortByTotal(rows);
}

void ReportedWork::Join(const ReportedWork& other) {
  flops += other.flops;
  bytes += other.bytes;
  flops_ns += other.flops_ns;
  bytes_ns += other.bytes_ns;
  hlo_count += other.hlo_count;
  is_of_hlo |= other.is_of_hlo;
}

void AddReportedWork(const KernelTable& kernels, size_t row, RowDetails* details,
                     ReportedWork* work) {
  const RowDetail& detail = details->Of(DetailOf(kernels, row));
  const uint32_t weight = kernels.weight[row];
  const int64_t ns = kernels.duration_ns[row] * weight;
  if (!detail.hlo_op.empty() || !detail.hlo_category.empty()) work->hlo_count += weight;
  if (detail.flops && *detail.flops != 0) {
    work->flops += *detail.flops * weight;
    work->flops_ns += ns;
  }
  if (detail.bytes && *detail.bytes != 0) {
    work->bytes += *detail.bytes * weight;
    work->bytes_ns += ns;
  }
}

std::unordered_map<uint32_t, ReportedWork> ReportedWorkOf(const Track& track,
                                                          const std::unordered_set<uint32_t>* only,
                                                          RowDetails* details) {
  std::unordered_map<uint32_t, ReportedWork> works;
  const KernelTable& kernels = track.kernel;
  for (size_t row = 0; row < kernels.detail.size(); ++row) {
    if (kernels.detail[row] == 0) continue;
    if (only != nullptr && only->count(kernels.correlation[row]) == 0) continue;
    AddReportedWork(kernels, row, details, &works[kernels.signature[row]]);
  }
  return works;
}

void FillFlops(uint64_t flops, int64_t ns, results::WorkEvidence evidence, results::Kernel* row) {
  if (flops == 0) return;
  row->set_flop_count(flops);
  row->set_flop_evidence(evidence);
  if (ns > 0)
    row->set_flop_per_s(static_cast<double>(flops) * kNsPerSecond / static_cast<double>(ns));
}

void FillReportedWork(const ReportedWork& work, results::Kernel* row) {
  FillFlops(work.flops, work.flops_ns, results::WORK_EVIDENCE_SOURCE, row);
  if (work.bytes == 0) return;
  row->set_moved_bytes(work.bytes);
  if (work.bytes_ns > 0) {
    // A byte in a nanosecond is a gigabyte in a second.
    row->set_moved_gb_per_s(static_cast<double>(work.bytes) / static_cast<double>(work.bytes_ns));
  }
}

void AddShapedWork(const LaunchedWork& launched, uint32_t track, const KernelTable& kernels,
                   size_t row, ReportedWork* work) {
  const uint32_t weight = kernels.weight[row];
  const int64_t ns = kernels.duration_ns[row] * weight;
  if (const auto flops = launched.FlopsOf(track, row)) {
    work->flops += *flops * weight;
    work->flops_ns += ns;
  }
  if (const auto bytes = launched.BytesOf(track, row)) {
    work->bytes += *bytes * weight;
    work->bytes_ns += ns;
  }
  const HloFigures hlo = launched.HloOf(kernels, row);
  if (hlo.flops) {
    work->flops += *hlo.flops * weight;
    work->flops_ns += ns;
    work->is_of_hlo = true;
  }
  if (hlo.bytes) {
    work->bytes += *hlo.bytes * weight;
    work->bytes_ns += ns;
  }
}

void FillShapedWork(const ReportedWork& work, results::Kernel* row) {
  if (row->flop_count() == 0)
    FillFlops(work.flops, work.flops_ns,
              work.is_of_hlo ? results::WORK_EVIDENCE_HLO : results::WORK_EVIDENCE_SHAPES, row);
  if (work.bytes == 0) return;
  row->set_bytes_estimate(work.bytes);
  if (work.bytes_ns > 0)
    row->set_estimate_gb_per_s(static_cast<double>(work.bytes) /
                               static_cast<double>(work.bytes_ns));
}

std::string_view FillPeaks(const Process& process, results::Kernel* row) {
  if (!row->has_flop_per_s() && !row->has_moved_gb_per_s() && !row->has_estimate_gb_per_s())
    return {};
  const proto::Device* device = DescribedDevice(process, row->device());
  if (device == nullptr) return {};
  if (const auto peak = PeakFlopPerSecond(device->name(), row->precision());
      peak && row->has_flop_per_s()) {
    row->set_peak_flop_per_s(*peak);
    row->set_peak_flop_ratio(row->flop_per_s() / *peak);
  }
  if (const auto peak = PeakGbPerSecond(*device)) row->set_peak_gb_per_s(*peak);
  return row->has_peak_flop_per_s() ? PeakSource(device->name()) : std::string_view();
}

}  // namespace gpuprof::analysis
