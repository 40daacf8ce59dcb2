// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of the pass `heap`. See text.h.

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/base/enum_word.h"
#include "analysis/base/figures.h"
#include "analysis/passes/host/stack_frames.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/heap.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr int kStacksShown = 5;
constexpr size_t kFramesShown = 8;

// "4.50 MiB" in exact mode, "4.50 MiB (4.10 - 4.90 MiB)" as an estimate.
std::string Between(uint64_t value, uint64_t low, uint64_t high) {
  if (low == high) return FormatBytes(value);
  return FormatBytes(value) + " (" + FormatBytes(low) + " to " + FormatBytes(high) + ")";
}

std::string ProcessText(const results::HeapProcess& p, const Pids& pid, int64_t short_lived_ns,
                        int width) {
  const bool is_partial = p.mode() == results::HEAP_MODE_EXACT && p.lost_count() > 0;
  std::string out = p.name() + " (pid " + pid(p) + "), " +
                    (is_partial ? "with losses" : std::string(WordOf(p.mode())));
  if (p.period_bytes() > 0) {
    out += ": one sample per " + FormatBytes(p.period_bytes()) + " on average, " +
           FormatNumber(p.sample_count()) + " taken; ranges hold with 95 % confidence";
  }
  if (p.lost_count() > 0) {
    out += std::string(p.period_bytes() > 0 ? "; " : ": ") + FormatNumber(p.lost_count()) +
           (p.lost_count() == 1 ? " record was lost" : " records were lost") +
           ", so there may be more bytes than shown";
  }
  out += "\n";
  std::string count = FormatNumber(p.count());
  if (p.count_low() != p.count_high()) {
    count += " (" + FormatNumber(p.count_low()) + " to " + FormatNumber(p.count_high()) + ")";
  }
  out += "  allocated   " +
         Between(p.allocated_bytes(), p.allocated_low_bytes(), p.allocated_high_bytes()) + " in " +
         count + (p.count() == 1 && p.count_high() == 1 ? " allocation, " : " allocations, ") +
         FormatBytes(WholeNumber(p.allocated_bytes_per_s())) + " per second";
  if (p.has_allocated_bytes_per_step()) {
    out += ", " + FormatBytes(WholeNumber(p.allocated_bytes_per_step())) + " per step";
  }
  out += "\n  peak        " + Between(p.peak_bytes(), p.peak_low_bytes(), p.peak_high_bytes()) +
         " at " + FormatDuration(p.peak_time_ns()) + "\n";
  out += "  at the end  " + Between(p.end_bytes(), p.end_low_bytes(), p.end_high_bytes()) + " in " +
         FormatNumber(p.end_count()) + " blocks\n";
  out += "  short-lived " + FormatNumber(p.short_lived_count()) +
         (p.short_lived_count() == 1 ? " allocation, " : " allocations, ") +
         FormatBytes(p.short_lived_bytes()) + ", freed within " + FormatDuration(short_lived_ns) +
         "\n";
  if (p.unmatched_free_count() > 0) {
    out += WrapText(
        "freed blocks that are older than the capture: " + FormatNumber(p.unmatched_free_count()),
        "  ", "  ", width);
  }
  if (p.implied_free_count() > 0) {
    out += WrapText("blocks allocated again although their free was not recorded: " +
                        FormatNumber(p.implied_free_count()),
                    "  ", "  ", width);
  }
  return out + "\n";
}

// Blocks that were there before a capture are in the framework's own count alone.
bool CountsMore(const results::TensorDevice& d) { return d.reported_peak_bytes() > d.peak_bytes(); }

constexpr TableColumn kStackColumns[] = {
    {.field = "name", .title = "allocated in", .flexible = true},
    kPidColumn,
    {.field = "peak_bytes", .title = "at peak"},
    {.field = "peak_ratio", .title = "of peak"},
    {.field = "allocated_bytes", .title = "allocated"},
    {.field = "count", .title = "count"},
    {.field = "short_lived_count", .title = "short-lived", .on_page = OnPage::kOffered},
    {.field = "end_bytes", .title = "at end"},
    {.field = "mean_life_ns",
     .title = "mean life",
     .needs = "mean_life_ns",
     .scale = kMilliseconds,
     .in_text = false},
    {.field = "stack_id", .title = "stack", .on_page = OnPage::kOffered},
};
constexpr TableColumn kSizeColumns[] = {
    {.field = "low_bytes", .title = "size from"},
    {.field = "high_bytes", .title = "to"},
    {.field = "count", .title = "count"},
    {.field = "allocated_bytes", .title = "allocated"},
    {.field = "short_lived_count", .title = "short-lived"},
};
constexpr TableColumn kMappedColumns[] = {
    {.field = "kind", .title = "mapped"},
    kPidColumn,
    {.field = "count", .title = "calls"},
    {.field = "mapped_bytes", .title = "asked for"},
    {.field = "peak_bytes", .title = "peak, in pages"},
    {.field = "peak_time_ns", .title = "at"},
    {.field = "end_bytes", .title = "at the end"},
};
constexpr TableColumn kMappingStackColumns[] = {
    {.field = "name", .title = "mapped in", .flexible = true},
    {.field = "kind", .title = "kind"},
    kPidColumn,
    {.field = "peak_bytes", .title = "at peak"},
    {.field = "peak_ratio", .title = "of peak"},
    {.field = "mapped_bytes", .title = "asked for"},
    {.field = "count", .title = "calls"},
    {.field = "end_bytes", .title = "at end"},
    {.field = "stack_id", .title = "stack"},
};
constexpr TableColumn kTensorColumns[] = {
    {.field = "name", .title = "device"},
    kPidColumn,
    {.field = "allocated_bytes", .title = "allocated"},
    {.field = "count", .title = "count"},
    {.field = "peak_bytes", .title = "peak"},
    {.field = "peak_time_ns", .title = "at"},
    {.field = "end_bytes", .title = "at end"},
    {.field = "allocated_bytes_per_step", .title = "a step"},
    {.field = "reported_peak_bytes",
     .title = "allocator's own peak",
     .shown = ShownIf::kAny,
     .shown_if = TestOf<results::TensorDevice, CountsMore>},
};
constexpr TableColumn kTensorOpColumns[] = {
    {.field = "name",
     .title = "operation",
     .needs = "name",
     .blank = "(no operation)",
     .flexible = true},
    {.field = "device", .title = "device"},
    kPidColumn,
    {.field = "peak_bytes", .title = "at peak"},
    {.field = "peak_ratio", .title = "of peak"},
    {.field = "allocated_bytes", .title = "allocated"},
    {.field = "count", .title = "count"},
    {.field = "end_bytes", .title = "at end"},
};
enum Table : size_t { kStacks, kSizes, kMapped, kMappingStacks, kTensors, kTensorOps };
constexpr TableLayout kLayouts[] = {
    {.rows = "stacks",
     .row = results::HeapStack::descriptor,
     .columns = kStackColumns,
     .sorted_by = "peak_bytes",
     .noun = "place",
     .title = "Call stacks, by bytes live at the peak"},
    {.rows = "sizes",
     .row = results::HeapSize::descriptor,
     .columns = kSizeColumns,
     .is_complete = true,
     .title = "Sizes"},
    {.rows = "mapped",
     .row = results::MappedMemory::descriptor,
     .columns = kMappedColumns,
     .is_complete = true,
     .noun = "kind",
     .title = "Mapped address ranges (mmap; allocators take their memory from here)"},
    {.rows = "mapping_stacks",
     .row = results::MappingStack::descriptor,
     .columns = kMappingStackColumns,
     .title = "Call stacks that mapped"},
    {.rows = "tensors",
     .row = results::TensorDevice::descriptor,
     .columns = kTensorColumns,
     .is_complete = true,
     .title = "Framework memory"},
    {.rows = "tensor_ops",
     .row = results::TensorOp::descriptor,
     .columns = kTensorOpColumns,
     .sorted_by = "peak_bytes",
     .noun = "operation",
     .title = "Framework memory by operation"},
};

std::string Stacks(const results::Heap& result, const TextOptions& options) {
  const Pids pid(result.stacks());
  std::string out = TableText(kLayouts[kStacks], result, options);
  for (int i = 0; i < std::min(kStacksShown, Shown(result.stacks_size(), options)); ++i) {
    const results::HeapStack& s = result.stacks(i);
    if (s.call_stack() == 0 || s.peak_bytes() == 0) continue;
    out +=
        "Stack " + std::to_string(s.stack_id()) + " of pid " + pid(s) + ": " +
        FormatBytes(s.peak_bytes()) + " at the peak\n" +
        StackText(FramesOf(result.call_stacks(), s.call_stack()), kFramesShown, "    ", options) +
        "\n";
  }
  return out;
}

}  // namespace

std::span<const TableLayout> HeapLayouts() { return kLayouts; }

std::string HeapText(const results::Heap& result, const TextOptions& options) {
  std::string out;
  if (result.processes().empty()) out += "No allocation from the heap was recorded.\n\n";
  const Pids pid(result.processes());
  for (const results::HeapProcess& process : result.processes()) {
    out += ProcessText(process, pid, result.short_lived_ns(), options.width);
  }
  out += Stacks(result, options);
  for (const Table table : {kSizes, kMapped, kMappingStacks, kTensors, kTensorOps})
    out += TableText(kLayouts[table], result, options);
  return out + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
