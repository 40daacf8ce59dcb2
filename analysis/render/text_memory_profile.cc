// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of memory_profile. See text.h.

#include <string>

#include "analysis/base/enum_word.h"
#include "analysis/base/figures.h"
#include "analysis/base/units.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "analysis/render/verdicts.h"
#include "proto/results/memory_profile.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr TableColumn kOfDevice = {
    .field = "device", .title = "device", .shown = ShownIf::kDifferent};
constexpr TableColumn kOfHost = {.field = "host", .title = "host", .shown = ShownIf::kDifferent};

constexpr TableColumn kDeviceColumns[] = {
    {.field = "name", .title = "device"},
    kWhosePid,
    kOfHost,
    {.field = "peak_bytes",
     .title = "peak",
     .tip = "The most that was allocated at once, with what was live before the recording"},
    {.field = "peak_time_ns", .title = "peak at"},
    {.field = "peak_range", .title = "peak in", .shown = ShownIf::kAny},
    {.field = "before_bytes", .title = "before", .tip = "Live when the recording began"},
    {.field = "recorded_peak_bytes",
     .title = "recorded peak",
     .tip = "The peak if only recorded allocations count",
     .on_page = OnPage::kOffered,
     .in_text = false},
    {.field = "end_bytes", .title = "at the end"},
    {.field = "reserved_peak_bytes",
     .title = "reserved",
     .blank = "-",
     .shown = ShownIf::kAny,
     .tip = "The most that the allocator took from the device"},
    {.field = "pool_free_bytes",
     .title = "free in pool",
     .blank = "-",
     .shown = ShownIf::kAny,
     .tip = "At the end of the snapshot"},
    {.field = "largest_free_bytes",
     .title = "largest piece",
     .blank = "-",
     .shown = ShownIf::kAny,
     .tip = "The largest free block outside of private pools"},
    {.field = "fragmentation_ratio",
     .title = "fragmented",
     .blank = "-",
     .shown = ShownIf::kAny,
     .tip = "1 less the largest free block as a part of all free bytes"},
    {.field = "lifetime_peak_bytes",
     .title = "ever",
     .blank = "-",
     .shown = ShownIf::kAny,
     .tip = "The most that the allocator counted since it began, also before the recording"},
    {.field = "program_peak_bytes",
     .title = "programs",
     .blank = "-",
     .shown = ShownIf::kAny,
     .tip = "The part of the peak that programs of the device hold apart from blocks"},
    {.field = "free_at_peak_bytes",
     .title = "free at peak",
     .blank = "-",
     .shown = ShownIf::kAny,
     .tip = "What the allocator could still give at the peak"},
    {.field = "fragmentation_at_peak_ratio",
     .title = "fragmented at peak",
     .blank = "-",
     .shown = ShownIf::kAny,
     .tip = "As the allocator counts it"},
    {.field = "private_pool_bytes",
     .title = "private pools",
     .blank = "-",
     .shown = ShownIf::kAny,
     .tip = "As of CUDA graphs"},
};
constexpr TableColumn kCategoryColumns[] = {
    kOfDevice,
    kWhosePid,
    kOfHost,
    {.field = "category", .title = "category"},
    {.field = "bytes", .title = "at the peak"},
    {.field = "ratio", .title = "of peak"},
    {.field = "count", .title = "blocks"},
    {.field = "evidence", .title = "known by", .tip = "How most of the bytes are known"},
};
constexpr TableColumn kStackColumns[] = {
    kOfDevice,
    kWhosePid,
    kOfHost,
    {.field = "bytes", .title = "at the peak"},
    {.field = "ratio", .title = "of peak"},
    {.field = "count", .title = "blocks"},
    {.field = "category", .title = "category", .tip = "What most of the bytes are for"},
    {.field = "largest_bytes", .title = "largest", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "before",
     .title = "before",
     .tip = "It was live before the recording",
     .on_page = OnPage::kOffered,
     .in_text = false},
    {.field = "shape", .title = "shape", .shown = ShownIf::kAny},
    {.field = "data_type", .title = "type", .shown = ShownIf::kAny},
    {.field = "region", .title = "region", .shown = ShownIf::kAny},
    {.field = "name", .title = "allocated by", .flexible = true},
};
constexpr TableColumn kFailureColumns[] = {
    kOfDevice,
    kWhosePid,
    kOfHost,
    {.field = "time_ns", .title = "at"},
    {.field = "shortage", .title = "verdict"},
    {.field = "asked_bytes", .title = "asked"},
    {.field = "device_free_bytes", .title = "free on device"},
    {.field = "pool_free_bytes", .title = "free in pool"},
    {.field = "largest_free_bytes", .title = "largest piece"},
    {.field = "pending_bytes", .title = "waits", .tip = "Given back, but a stream still used it"},
    {.field = "private_pool_bytes", .title = "private pools"},
    {.field = "allocated_bytes", .title = "allocated"},
    {.field = "name", .title = "asked by", .flexible = true},
};
constexpr TableColumn kPointColumns[] = {
    kOfDevice,
    kWhosePid,
    kOfHost,
    {.field = "time_ns", .title = "time"},
    {.field = "allocated_bytes", .title = "allocated"},
    {.field = "reserved_bytes", .title = "reserved", .blank = "-"},
    {.field = "pending_bytes", .title = "waits", .blank = "-"},
    {.field = "parameters_bytes", .title = "parameters"},
    {.field = "gradients_bytes", .title = "gradients"},
    {.field = "optimizer_state_bytes", .title = "optimizer state"},
    {.field = "activations_bytes", .title = "activations"},
    {.field = "temporary_bytes", .title = "temporary"},
    {.field = "communication_bytes", .title = "communication"},
    {.field = "kv_cache_bytes", .title = "KV cache"},
    {.field = "graphs_bytes", .title = "graphs"},
    {.field = "unknown_bytes", .title = "unknown"},
};
constexpr TableLayout kLayouts[] = {
    {.rows = "failures",
     .row = results::MemoryProfileFailure::descriptor,
     .columns = kFailureColumns,
     .noun = "failed request",
     .title = "Requests that failed"},
    {.rows = "devices",
     .row = results::MemoryProfileDevice::descriptor,
     .columns = kDeviceColumns,
     .noun = "device",
     .title = "Devices"},
    {.rows = "categories",
     .row = results::MemoryProfileCategory::descriptor,
     .columns = kCategoryColumns,
     .noun = "category",
     .title = "Live at the peak, by category"},
    {.rows = "stacks",
     .row = results::MemoryProfileStack::descriptor,
     .columns = kStackColumns,
     .noun = "place",
     .title = "Live at the peak, by the place that allocated it"},
    {.rows = "timeline",
     .row = results::MemoryProfilePoint::descriptor,
     .columns = kPointColumns,
     .noun = "moment",
     .title = "Memory over time",
     .in_text = false},
};

std::string Nothing(const results::MemoryProfile& result) {
  if (result.meta().skipped().empty())
    return "No memory of PyTorch, TensorFlow or JAX is in the recording. The program allocated "
           "none, "
           "or not while it was recorded.\n";
  return "Allocations of PyTorch were not recorded. To record them: " +
         result.meta().skipped(0).fix() + "\n";
}

std::string WordsOf(results::MemoryCategory category) {
  switch (category) {
    case results::MEMORY_CATEGORY_OPTIMIZER_STATE:
      return "optimizer state";
    case results::MEMORY_CATEGORY_KV_CACHE:
      return "KV cache";
    case results::MEMORY_CATEGORY_GRAPHS:
      return "memory of CUDA graphs";
    default:
      return WordOf(category);
  }
}

// Says the peak of a device and what holds most of it.
std::string PeakOf(const results::MemoryProfile& result,
                   const results::MemoryProfileDevice& device) {
  std::string text = "The peak of " + device.name() + " is " + FormatBytes(device.peak_bytes());
  if (!device.peak_range().empty()) text += ", in " + device.peak_range();
  for (const results::MemoryProfileCategory& each : result.categories()) {
    if (each.device() != device.name() || each.pid() != device.pid() ||
        each.host() != device.host())
      continue;
    if (each.category() != results::MEMORY_CATEGORY_UNKNOWN)
      text += "; " + FormatPercent(each.ratio()) + " of the peak is " + WordsOf(each.category());
    break;
  }
  text += ".";
  if (device.before_peak_bytes() != 0)
    text += " " + FormatBytes(device.before_peak_bytes()) +
            " of the peak were live before the recording began.";
  if (device.uncounted_count() != 0)
    text += " Segments and events disagree: " + FormatNumber(device.uncounted_count()) +
            " blocks of " + FormatNumber(device.uncounted_bytes()) +
            " bytes are live at the end by the segments, and none of them is in the events. They "
            "are in no figure. With them, the peak is " +
            FormatNumber(device.peak_bytes() + device.uncounted_bytes()) + " bytes, and " +
            FormatNumber(device.peak_bytes()) + " without them.";
  if (device.source() == results::MEMORY_SOURCE_XSPACE &&
      device.reported_peak_bytes() != device.peak_bytes())
    text += " The allocator itself counted " + FormatNumber(device.reported_peak_bytes()) +
            " bytes, and its events add up to " + FormatNumber(device.peak_bytes()) +
            ": events are missing from the file.";
  if (device.has_growth_per_step_bytes() && device.growth_per_step_bytes() > 0)
    text += " Each step leaves " +
            FormatBytes(static_cast<uint64_t>(device.growth_per_step_bytes())) +
            " more than the one before.";
  return text;
}

// Says why a request failed, and what to do.
std::string WhyFailed(const results::MemoryProfileFailure& failure) {
  std::string text = "A request for " + FormatBytes(failure.asked_bytes()) + " on " +
                     failure.device() + " failed with " + FormatBytes(failure.device_free_bytes()) +
                     " free on the device and " + FormatBytes(failure.pool_free_bytes()) +
                     " free in the pool";
  const std::string largest = FormatBytes(failure.largest_free_bytes());
  switch (failure.shortage()) {
    case results::MEMORY_SHORTAGE_FRAGMENTATION:
      text += ": fragmentation. The largest free piece has " + largest +
              ". Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; or set max_split_size_mb, "
              "or allocate large blocks first.";
      break;
    case results::MEMORY_SHORTAGE_PENDING_FREE:
      text += ": blocks that were given back still waited. " +
              FormatBytes(failure.pending_bytes()) +
              " waited for a stream that used them. Let the streams end their work before the "
              "request; or use record_stream less.";
      break;
    case results::MEMORY_SHORTAGE_GRAPH_POOLS:
      text += ": private pools. " + FormatBytes(failure.private_free_bytes()) +
              " are free in private pools, which only their graphs use. Share one pool between "
              "graphs, or capture fewer sizes.";
      break;
    case results::MEMORY_SHORTAGE_CAPACITY:
      text += ": capacity. " + FormatBytes(failure.allocated_bytes()) +
              " were allocated, and all free bytes together are too few. Use a smaller batch, "
              "checkpointing or a sharded optimizer. A snapshot does not tell what other processes "
              "held.";
      break;
    default:
      text +=
          ". The snapshot does not tell why: its segments and events disagree, or the request "
          "would have fitted.";
  }
  return text + " A request for " + FormatBytes(failure.largest_fit_bytes()) +
         " would have fitted.";
}

bool HasRecordedGpu(const results::MemoryProfile& result) {
  for (const results::MemoryProfileDevice& device : result.devices())
    if (device.source() == results::MEMORY_SOURCE_RECORDING && device.name() != "cpu") return true;
  return false;
}

}  // namespace

void SayVerdicts(results::MemoryProfile* result) {
  for (results::MemoryProfileFailure& failure : *result->mutable_failures())
    failure.set_verdict(WhyFailed(failure));
  for (results::MemoryProfileDevice& device : *result->mutable_devices())
    device.set_verdict(PeakOf(*result, device));
}

std::span<const TableLayout> MemoryProfileLayouts() { return kLayouts; }

std::string MemoryProfileText(const results::MemoryProfile& result, const TextOptions& options) {
  if (result.devices().empty()) return Nothing(result) + MetaText(result.meta(), options);
  std::string text;
  for (const results::MemoryProfileFailure& failure : result.failures())
    text += WrapText(failure.verdict(), "", "", options.width);
  for (const results::MemoryProfileDevice& device : result.devices())
    text += WrapText(device.verdict(), "", "", options.width);
  if (HasRecordedGpu(result))
    text += WrapText(
        "A recording does not have free blocks, private pools and failed requests: "
        "torch.cuda.memory._dump_snapshot writes a file that has them, and this pass reads it.",
        "", "", options.width);
  text += "\n";
  for (const TableLayout& layout : kLayouts)
    if (layout.in_text) text += TableText(layout, result, options);
  return text + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
