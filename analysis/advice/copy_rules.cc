// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about copies and memsets in steps. See rules.h.

#include <algorithm>

#include "analysis/advice/rule_parts.h"
#include "analysis/render/figures.h"

namespace gpuprof::analysis {
namespace {

using results::Finding;

constexpr char kAsNothing[] = "The gain is that of copies that take no time.";

// Tells how many, how large and how long copies are in a step, and names the longest.
void AddCopies(const AdviceFacts& facts, const Pieces& copies, const char* what, Finding* finding) {
  const DeviceFacts& device = *facts.device;
  const auto steps = std::max<uint64_t>(device.series.count(), 1);
  finding->add_evidence(CountPerStep(device, copies.count) + ": " + what + ", " +
                        FormatBytes(copies.bytes / steps) + " and " +
                        FormatDuration(copies.total_ns / static_cast<int64_t>(steps)) +
                        " on the device. The longest: " + InstanceText(copies.longest) + ".");
}

}  // namespace

std::optional<Finding> PageableCopies(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const Pieces& copies = facts.device->pageable_copies;
  std::optional<Finding> finding =
      MakeOfPieces(facts, copies, "CP-001.min_share", "CP-001",
                   "Asynchronous copies of pageable memory hold up the host",
                   "these copies and their calls take no time");
  if (!finding) return std::nullopt;
  AddCopies(facts, copies, "asynchronous copies from or to pageable memory", &*finding);
  finding->add_evidence(
      "CUDA copies pageable memory through a buffer of its own, and the call waits for this copy.");
  AddFix(facts,
         {"Allocate the host's memory with cudaMallocHost, or pin it with cudaHostRegister.",
          "DataLoader(pin_memory=True), or tensor.pin_memory() before .to(device, "
          "non_blocking=True). To the host: copy_ into a pinned tensor.",
          "Let tf.data copy: tf.data.experimental.prefetch_to_device as the last stage.",
          "Move data ahead of time: jax.device_put of the next batch while this one is computed."},
         &*finding);
  finding->set_caveat(kAsNothing);
  return finding;
}

std::optional<Finding> SynchronousCopies(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const Pieces& copies = facts.device->sync_copies;
  std::optional<Finding> finding = MakeOfPieces(facts, copies, "CP-002.min_share", "CP-002",
                                                "The host waits for copies that it makes itself",
                                                "these copies and their calls take no time");
  if (!finding) return std::nullopt;
  AddCopies(facts, copies, "copies whose call waits for the copy", &*finding);
  AddFix(facts,
         {"Use cudaMemcpyAsync with pinned memory and a stream, and wait where the result is used.",
          "Copy with non_blocking=True from pinned memory. Read results (.item(), .cpu()) rarely.",
          "Keep results on the device: read metrics every few steps, not in each.",
          "Read results rarely: float(x), print(x) and numpy.asarray(x) wait for the device."},
         &*finding);
  finding->set_caveat(kAsNothing);
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
      ExposedGain(device.SavedPerStep(results::WHAT_IF_COPIES), exposed, "the copies take no time");
  if (Share(device, gain.high_ns) < facts.limits("all.min_gain")) return std::nullopt;
  Finding finding = MakeOfDevice(device, "CP-003", "Copies run while the GPU computes nothing");
  SetGain(facts, gain, &finding);
  finding.add_evidence("In " + OfStep(device, exposed) + " only copies ran: " +
                       FormatDuration(to_device) + " to the device, " + FormatDuration(to_host) +
                       " to the host, " + FormatDuration(on_device) + " on devices.");
  if (to_device >= to_host && to_device >= on_device) {
    AddFix(facts,
           {"Copy the next batch while this one is computed: pinned memory and an own stream.",
            "Copy the next batch while this one is computed: DataLoader(pin_memory=True), and "
            ".to(device, non_blocking=True) on a stream of its own.",
            "Copy the next batch while this one is computed: end the dataset with "
            ".prefetch(tf.data.AUTOTUNE), and use prefetch_to_device.",
            "Call jax.device_put for the next batch before you wait for this one."},
           &finding);
  } else if (to_host >= on_device) {
    finding.add_fix("Copy results to the host rarely, and without waiting for each copy.");
  } else {
    AddFix(facts,
           {"Write results where they are needed, instead of copying them.",
            "Write results where they are needed: out=, views and in-place operations.", nullptr,
            "Donate buffers that are not needed any more: jax.jit(donate_argnums=...)."},
           &finding);
  }
  return finding;
}

std::optional<Finding> SmallCopies(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const Pieces& copies = facts.device->small_copies;
  std::optional<Finding> finding =
      MakeOfPieces(facts, copies, "CP-004.min_share", "CP-004",
                   "Many small copies follow each other", "one copy is made for each run of them");
  if (!finding) return std::nullopt;
  AddCopies(facts, copies, "small copies behind another one of the same direction", &*finding);
  AddFix(facts,
         {"Put the pieces behind each other in one buffer, and copy the buffer once.",
          "Copy one tensor: torch.cat or torch.stack on the host, then .to(device); metrics: stack "
          "them on the device, then .cpu() once.",
          "Copy one tensor: tf.concat or tf.stack first.",
          "Give jax.device_put the whole tree of arrays, or one array."},
         &*finding);
  finding->set_caveat("The gain is that of one copy for each run of small copies.");
  return finding;
}

std::optional<Finding> ReturnedCopies(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const Pieces& copies = facts.device->returned_copies;
  std::optional<Finding> finding =
      MakeOfPieces(facts, copies, "CP-006.min_share", "CP-006",
                   "The same number of bytes goes to the host and back within a step",
                   "these copies and their calls take no time");
  if (!finding) return std::nullopt;
  finding->mutable_confidence()->set_level(
      std::min(finding->confidence().level(), results::LEVEL_MEDIUM));
  finding->mutable_confidence()->set_reason("equal sizes suggest equal data");
  AddCopies(facts, copies, "copies to the host, and back", &*finding);
  AddFix(
      facts,
      {"Do on the device what the host does with this data.",
       "Do on the device what the host does with this tensor: avoid .cpu(), .numpy() and lists "
       "within the step.",
       "Look for operations without a kernel for the GPU: tf.debugging.set_log_device_placement.",
       "Keep the arrays in JAX: numpy functions copy them to the host. Look for pure_callback."},
      &*finding);
  finding->set_caveat(kAsNothing);
  return finding;
}

std::optional<Finding> Memsets(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const Pieces& sets = facts.device->memsets;
  std::optional<Finding> finding =
      MakeOfPieces(facts, sets, "CP-008.min_share", "CP-008", "Memory is set again and again",
                   "the memsets and their calls take no time");
  if (!finding) return std::nullopt;
  AddCopies(facts, sets, "memsets", &*finding);
  AddFix(facts,
         {"Write results over old values instead of clearing first, or clear one buffer at once.",
          "Clear gradients with zero_grad(set_to_none=True). Use torch.empty where all is written.",
          nullptr, nullptr},
         &*finding);
  return finding;
}

}  // namespace gpuprof::analysis
