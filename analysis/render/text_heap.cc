// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of the pass `heap`. See text.h.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analysis/render/figures.h"
#include "analysis/render/stack_frames.h"
#include "analysis/render/text.h"
#include "proto/results/heap.pb.h"

namespace gpuprof::analysis {
namespace {

using Align = TextTable::Align;

constexpr int kStacksShown = 5;
constexpr size_t kFramesShown = 8;

// "4.50 MiB" in exact mode, "4.50 MiB (4.10 - 4.90 MiB)" as an estimate.
std::string Between(uint64_t value, uint64_t low, uint64_t high) {
  if (low == high) return FormatBytes(value);
  return FormatBytes(value) + " (" + FormatBytes(low) + " to " + FormatBytes(high) + ")";
}

std::string ProcessText(const results::HeapProcess& p, const Pids& pid, int64_t short_lived_ns,
                        int width) {
  std::string out = p.name() + " (pid " + pid(p) + "), " + p.mode();
  if (p.period_bytes() > 0) {
    out += ": one sample per " + FormatBytes(p.period_bytes()) + " on average, " +
           FormatNumber(p.sample_count()) + " taken; ranges hold with 95 % confidence";
  }
  if (p.lost_count() > 0) {
    out += std::string(p.period_bytes() > 0 ? ";" : ", except for losses:") + " " +
           FormatNumber(p.lost_count()) +
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

std::string Stacks(const results::Heap& result, const TextOptions& options) {
  TextTable table;
  table.AddColumn("allocated in", Align::kLeft, true);
  table.AddColumn("pid", Align::kRight);
  for (const char* header :
       {"at peak", "of peak", "allocated", "count", "short-lived", "at end", "stack"}) {
    table.AddColumn(header, Align::kRight);
  }
  const Pids pid(result.stacks());
  for (int i = 0; i < Shown(result.stacks_size(), options); ++i) {
    const results::HeapStack& s = result.stacks(i);
    table.AddRow({ShownName(s, options), pid(s), FormatBytes(s.peak_bytes()),
                  FormatPercent(s.peak_ratio()), FormatBytes(s.allocated_bytes()),
                  FormatNumber(s.count()), FormatNumber(s.short_lived_count()),
                  FormatBytes(s.end_bytes()), std::to_string(s.stack_id())});
  }
  std::string out =
      Section("Call stacks, by bytes live at the peak", table, options, result.stacks_size());
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

std::string Tensors(const results::Heap& result, const TextOptions& options) {
  TextTable devices;
  devices.AddColumn("device", Align::kLeft);
  devices.AddColumn("pid", Align::kRight);
  for (const char* header : {"allocated", "count", "peak", "at", "at end", "a step"}) {
    devices.AddColumn(header, Align::kRight);
  }
  // Blocks that were there before a capture are in the framework's own count alone.
  const bool counts_more = std::any_of(
      result.tensors().begin(), result.tensors().end(),
      [](const results::TensorDevice& d) { return d.reported_peak_bytes() > d.peak_bytes(); });
  if (counts_more) devices.AddColumn("allocator's own peak", Align::kRight);
  const Pids pid(result.tensors());
  for (const results::TensorDevice& d : result.tensors()) {
    std::vector<std::string> cells = {d.name(),
                                      pid(d),
                                      FormatBytes(d.allocated_bytes()),
                                      FormatNumber(d.count()),
                                      FormatBytes(d.peak_bytes()),
                                      FormatDuration(d.peak_time_ns()),
                                      FormatBytes(d.end_bytes()),
                                      d.has_allocated_bytes_per_step()
                                          ? FormatBytes(WholeNumber(d.allocated_bytes_per_step()))
                                          : ""};
    if (counts_more) {
      cells.push_back(d.has_reported_peak_bytes() ? FormatBytes(d.reported_peak_bytes()) : "");
    }
    devices.AddRow(std::move(cells));
  }
  TextTable ops;
  ops.AddColumn("operation", Align::kLeft, true);
  ops.AddColumn("device", Align::kLeft);
  ops.AddColumn("pid", Align::kRight);
  for (const char* header : {"at peak", "of peak", "allocated", "count", "at end"}) {
    ops.AddColumn(header, Align::kRight);
  }
  for (int i = 0; i < Shown(result.tensor_ops_size(), options); ++i) {
    const results::TensorOp& op = result.tensor_ops(i);
    ops.AddRow({op.name().empty() ? "(no operation)" : op.name(), op.device(), pid(op),
                FormatBytes(op.peak_bytes()), FormatPercent(op.peak_ratio()),
                FormatBytes(op.allocated_bytes()), FormatNumber(op.count()),
                FormatBytes(op.end_bytes())});
  }
  return Section("Framework memory", devices, options, 0) +
         Section("Framework memory by operation", ops, options, result.tensor_ops_size());
}

std::string Mappings(const results::Heap& result, const TextOptions& options) {
  TextTable kinds;
  kinds.AddColumn("mapped", Align::kLeft);
  kinds.AddColumn("pid", Align::kRight);
  for (const char* header : {"calls", "asked for", "peak, in pages", "at", "at the end"}) {
    kinds.AddColumn(header, Align::kRight);
  }
  const Pids pid(result.mapped());
  for (const results::MappedMemory& m : result.mapped()) {
    kinds.AddRow({m.kind(), pid(m), FormatNumber(m.count()), FormatBytes(m.mapped_bytes()),
                  FormatBytes(m.peak_bytes()), FormatDuration(m.peak_time_ns()),
                  FormatBytes(m.end_bytes())});
  }
  TextTable stacks;
  stacks.AddColumn("mapped in", Align::kLeft, true);
  stacks.AddColumn("kind", Align::kLeft);
  stacks.AddColumn("pid", Align::kRight);
  for (const char* header : {"at peak", "of peak", "asked for", "calls", "at end", "stack"}) {
    stacks.AddColumn(header, Align::kRight);
  }
  for (int i = 0; i < Shown(result.mapping_stacks_size(), options); ++i) {
    const results::MappingStack& s = result.mapping_stacks(i);
    stacks.AddRow({ShownName(s, options), s.kind(), pid(s), FormatBytes(s.peak_bytes()),
                   FormatPercent(s.peak_ratio()), FormatBytes(s.mapped_bytes()),
                   FormatNumber(s.count()), FormatBytes(s.end_bytes()),
                   std::to_string(s.stack_id())});
  }
  return Section("Mapped address ranges (mmap; allocators take their memory from here)", kinds,
                 options, 0) +
         Section("Call stacks that mapped", stacks, options, result.mapping_stacks_size());
}

std::string Sizes(const results::Heap& result, const TextOptions& options) {
  TextTable table;
  for (const char* header : {"size from", "to", "count", "allocated", "short-lived"}) {
    table.AddColumn(header, Align::kRight);
  }
  for (const results::HeapSize& s : result.sizes()) {
    table.AddRow({FormatBytes(s.low_bytes()), FormatBytes(s.high_bytes()), FormatNumber(s.count()),
                  FormatBytes(s.allocated_bytes()), FormatNumber(s.short_lived_count())});
  }
  return Section("Sizes", table, options, 0);
}

}  // namespace

std::string HeapText(const results::Heap& result, const TextOptions& options) {
  std::string out;
  if (result.processes().empty()) out += "No allocation from the heap was recorded.\n\n";
  const Pids pid(result.processes());
  for (const results::HeapProcess& process : result.processes()) {
    out += ProcessText(process, pid, result.short_lived_ns(), options.width);
  }
  return out + Stacks(result, options) + Sizes(result, options) + Mappings(result, options) +
         Tensors(result, options) + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
