// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about copies and memsets in steps. See rules.h.

#include <algorithm>

#include "analysis/advice/rules/rule_parts.h"

namespace gpuprof::analysis {
namespace {

// Tells how many, how large and how long copies are in a step, and names the longest.
void AddCopies(const AdviceFacts& facts, const Pieces& copies, const char* what, Finding* finding) {
  const DeviceFacts& device = *facts.device;
  const auto steps = std::max<uint64_t>(device.series.count(), 1);
  finding->Evidence(
      "all.copies",
      {CountPerStep(device, copies.count), say::Phrase({what}), say::Bytes(copies.bytes / steps),
       say::Duration(copies.total_ns / static_cast<int64_t>(steps)), InstanceText(copies.longest)});
}

}  // namespace

std::optional<Finding> PageableCopies(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const Pieces& copies = facts.device->pageable_copies;
  std::optional<Finding> finding =
      MakeOfPieces(facts, copies, "CP-001.min_share", "CP-001.name", "CP-001.gain");
  if (!finding) return std::nullopt;
  AddCopies(facts, copies, "CP-001.pieces", &*finding);
  finding->Evidence("CP-001.cuda_copies_pageable_memory");
  AddFix(facts, "CP-001.allocate_host_memory_cudamallochost", &*finding);
  finding->Caveat("all.as_no_copies");
  return finding;
}

std::optional<Finding> SynchronousCopies(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const Pieces& copies = facts.device->sync_copies;
  std::optional<Finding> finding =
      MakeOfPieces(facts, copies, "CP-002.min_share", "CP-002.name", "CP-002.gain");
  if (!finding) return std::nullopt;
  AddCopies(facts, copies, "CP-002.pieces", &*finding);
  AddFix(facts, "CP-002.use_cudamemcpyasync_pinned_memory", &*finding);
  finding->Caveat("all.as_no_copies");
  return finding;
}

std::optional<Finding> ExposedCopies(const AdviceFacts& facts) {
  if (!IsSteady(facts) || facts.device->verdict.is_selection()) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  const int64_t to_device = device.PerStep(results::TIME_CATEGORY_COPY_HTOD);
  const int64_t to_host = device.PerStep(results::TIME_CATEGORY_COPY_DTOH);
  const int64_t on_device = device.PerStep(results::TIME_CATEGORY_COPY_DTOD);
  const int64_t exposed = to_device + to_host + on_device;
  if (Share(device, exposed) < facts.limits("CP-003.min_share")) return std::nullopt;
  const GainRange gain =
      ExposedGain(device.SavedPerStep(results::WHAT_IF_COPIES), exposed, "CP-003.gain");
  if (Share(device, gain.high_ns) < facts.limits("all.min_gain")) return std::nullopt;
  Finding finding = MakeOfDevice(device, "CP-003.name");
  SetGain(facts, gain, &finding);
  finding.Evidence("CP-003.copies_ran_device_host",
                   {OfStep(device, exposed), say::Duration(to_device), say::Duration(to_host),
                    say::Duration(on_device)});
  if (to_device >= to_host && to_device >= on_device) {
    AddFix(facts, "CP-003.copy_next_batch_while", &finding);
  } else if (to_host >= on_device) {
    finding.Fix("CP-003.copy_results_host_rarely");
  } else {
    AddFix(facts, "CP-003.write_results_where_needed", &finding);
  }
  return finding;
}

std::optional<Finding> SmallCopies(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const Pieces& copies = facts.device->small_copies;
  std::optional<Finding> finding =
      MakeOfPieces(facts, copies, "CP-004.min_share", "CP-004.name", "CP-004.gain");
  if (!finding) return std::nullopt;
  AddCopies(facts, copies, "CP-004.pieces", &*finding);
  AddFix(facts, "CP-004.put_pieces_behind_other", &*finding);
  finding->Caveat("CP-004.caveat");
  return finding;
}

std::optional<Finding> ReturnedCopies(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const Pieces& copies = facts.device->returned_copies;
  std::optional<Finding> finding =
      MakeOfPieces(facts, copies, "CP-006.min_share", "CP-006.name", "CP-006.gain");
  if (!finding) return std::nullopt;
  finding->level = std::min(finding->level, results::LEVEL_MEDIUM);
  finding->reason = {"CP-006.reason"};
  AddCopies(facts, copies, "CP-006.pieces", &*finding);
  AddFix(facts, "CP-006.device_host_data", &*finding);
  finding->Caveat("all.as_no_copies");
  return finding;
}

std::optional<Finding> Memsets(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const Pieces& sets = facts.device->memsets;
  std::optional<Finding> finding =
      MakeOfPieces(facts, sets, "CP-008.min_share", "CP-008.name", "CP-008.gain");
  if (!finding) return std::nullopt;
  AddCopies(facts, sets, "CP-008.pieces", &*finding);
  AddFix(facts, "CP-008.write_results_over_old", &*finding);
  return finding;
}

}  // namespace gpuprof::analysis
