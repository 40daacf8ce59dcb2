// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See work_owners.h.

#include "analysis/passes/kernels/work_owners.h"

#include "analysis/derived/detailed_op.h"

namespace gpuprof::analysis {

// The range of a step is not an operation.
uint32_t WorkOwners::Of(const WorkOrigin& origin) const {
  const uint32_t unknown = origin.in_graph ? kGraph : kNone;
  if (!origin.owner) return unknown;
  const uint32_t name = ops_->process().tracks[origin.owner->track].op.name[origin.owner->row];
  return ops_->name_kind(name) == NameKind::kAnnotation ? unknown : name;
}

uint32_t WorkOwners::OfKernel(const KernelTable& kernels, size_t row, const WorkOrigin& origin,
                              uint32_t kernel) {
  const uint32_t owner = Of(origin);
  if (owner != kNone && owner != kGraph) return owner;
  const uint32_t told = OfSource(DetailOf(kernels, row), kernel);
  return told == kNone ? owner : told;
}

// The operations that only details of kernels name are those of XLA on a device without a host that
// launches, and TensorFlow's.
uint32_t WorkOwners::OfSource(uint32_t detail, uint32_t kernel) {
  if (detail == 0) return kNone;
  const auto [at, is_new] = by_detail_.try_emplace(uint64_t{detail} << 32 | kernel, kNone);
  if (!is_new) return at->second;
  const std::string name = OpNameOf(details_->Of(detail), ops_->process().String(kernel));
  if (name.empty()) return kNone;
  const auto [known, is_new_name] =
      numbers_.try_emplace(name, kFirstNamed + static_cast<uint32_t>(names_.size()));
  if (is_new_name) names_.push_back(name);
  return at->second = known->second;
}

std::string WorkOwners::Name(uint32_t owner) const {
  if (owner == kNone) return "";
  if (owner == kGraph) return "graph";
  return owner >= kFirstNamed ? names_[owner - kFirstNamed] : ops_->process().String(owner);
}

results::OwnerEvidence WorkOwners::EvidenceOf(uint32_t owner, bool in_graph) const {
  if (owner == kNone) return results::OWNER_EVIDENCE_NONE;
  if (owner == kGraph) return results::OWNER_EVIDENCE_GRAPH;
  if (owner >= kFirstNamed) return results::OWNER_EVIDENCE_SOURCE;
  return in_graph ? results::OWNER_EVIDENCE_CAPTURE : results::OWNER_EVIDENCE_CALL;
}

}  // namespace gpuprof::analysis
