// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See kernel_class.h.

#include "analysis/derived/kernel_class.h"

#include <string>

#include "analysis/symbols/kernel_rule_file.h"
#include "analysis/symbols/mangled_names.h"
#include "analysis/symbols/tensor_cores.h"

namespace gpuprof::analysis {

using results::TimeCategory;

bool IsCollective(const Process& process, std::string_view name) {
  return FamilyOf(process, name) == results::KERNEL_FAMILY_COLLECTIVE;
}

results::KernelFamily KernelFamilies::Of(uint32_t signature) {
  const auto [at, is_new] = known_.try_emplace(signature, results::KERNEL_FAMILY_OTHER);
  if (!is_new) return at->second;
  const auto found = process_->signatures.find(signature);
  if (found != process_->signatures.end()) at->second = OfName(found->second.name());
  return at->second;
}

results::KernelFamily KernelFamilies::OfName(uint32_t name) {
  const auto [at, is_new] = names_.try_emplace(name, results::KERNEL_FAMILY_OTHER);
  if (is_new) at->second = FamilyOfString(*process_, name);
  return at->second;
}

void KernelFamilies::Add(const Track& track, const DeviceWork& work, FamilyTimes* times) {
  if (work.kind != DeviceWorkKind::kKernel) return;
  (*times)[Of(track.kernel.signature[work.row])] += work.span.length() * work.weight;
}

bool IsCopyOfXla(std::string_view name) {
  if (name.starts_with('%')) name.remove_prefix(1);
  return name.starts_with("copy-start") || name.starts_with("copy-done");
}

InputPrecision InputTypes::OfDetail(uint32_t detail) {
  if (detail == 0) return {};
  const auto [at, is_new] = known_.try_emplace(detail);
  if (is_new) at->second = PrecisionOfInputs(details_->Of(detail));
  return at->second;
}

InputPrecision InputTypes::Of(const KernelTable& kernels, size_t row,
                              const std::optional<OpRef>& op) {
  const InputPrecision own = OfDetail(DetailOf(kernels, row));
  if (own != InputPrecision() || !op) return own;
  return OfDetail(DetailOf(ops_->process().tracks[op->track].op, op->row));
}

TimeCategory KernelClasses::Of(const Track& track, const DeviceWork& work) {
  const uint32_t signature = track.kernel.signature[work.row];
  const auto [at, is_new] = known_.try_emplace(uint64_t{track.device} << 32 | signature);
  if (is_new) at->second = Find(signature, track.device);
  const bool ask = at->second.is_open && ops_ != nullptr;
  return ask ? ByInputs(at->second, track, work) : at->second.category;
}

KernelClasses::Class KernelClasses::Find(uint32_t signature, uint32_t device) {
  const auto found = process_->signatures.find(signature);
  if (found == process_->signatures.end())
    return {results::TIME_CATEGORY_COMPUTE_UNKNOWN, true, {}, false};
  const proto::Device* described = process_->FindDevice(device);
  const uint32_t major = described == nullptr ? 0 : described->compute_major();
  const uint32_t matrix_ops = found->second.matrix_ops();
  const std::string name = Demangle(process_->String(found->second.name()).c_str());
  if (families_->OfName(found->second.name()) == results::KERNEL_FAMILY_COLLECTIVE)
    return {results::TIME_CATEGORY_COLLECTIVE, false, {}, false};
  if (IsCopyOfXla(name)) return {results::TIME_CATEGORY_COPY_DTOD, false, {}, false};
  const PrecisionFound told = PrecisionOf(name, major, matrix_ops);
  return {CategoryOf(told.precision), told.is_open(), told,
          TensorCoresOf(name, major, matrix_ops).use == TensorCores::kUsed};
}

TimeCategory KernelClasses::ByInputs(const Class& open, const Track& track,
                                     const DeviceWork& work) {
  if (!inputs_) {
    if (details_ == nullptr) details_ = &own_details_.emplace(*process_);
    inputs_.emplace(ops_, details_);
    origin_.emplace(ops_, *calls_);
  }
  const auto op = origin_->Owner(work);
  const InputPrecision inputs = inputs_->Of(track.kernel, work.row, op);
  return CategoryOf(WithInputs(open.told, open.on_tensor_cores, inputs).precision);
}

}  // namespace gpuprof::analysis
