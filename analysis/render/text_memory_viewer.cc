// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of memory_viewer. See text.h.

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/base/figures.h"
#include "analysis/base/units.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/memory_viewer.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr size_t kCurveSigns = 64;

// When a buffer lives: "3-10", "from 3".
std::string LifeCell(const results::MemoryViewerBuffer& row) {
  if (!row.has_first_position()) return "";
  const std::string first = std::to_string(row.first_position());
  if (row.lives_to_end()) return "from " + first;
  return first + "-" + std::to_string(row.last_position());
}

constexpr TableColumn kOfSpace = {.field = "space",
                                  .title = "space",
                                  .unit = Unit::kIdentifier,
                                  .shown = ShownIf::kDifferent,
                                  .tip = "XLA's number: 0 is the device's memory, 5 the host's"};
constexpr TableColumn kProgramColumns[] = {
    {.field = "peak_bytes", .title = "peak"},
    {.field = "parameter_bytes", .title = "parameters"},
    {.field = "output_bytes", .title = "outputs"},
    {.field = "temporary_bytes", .title = "temporary"},
    {.field = "buffer_count", .title = "buffers"},
    {.field = "instruction_count", .title = "instructions"},
    {.field = "name", .title = "program", .flexible = true},
};
constexpr TableColumn kSpaceColumns[] = {
    {.field = "number", .title = "space", .unit = Unit::kIdentifier, .tip = kOfSpace.tip},
    {.field = "peak_bytes", .title = "peak"},
    {.field = "peak_unpadded_bytes",
     .title = "unpadded",
     .tip = "The peak without the padding of buffers"},
    {.field = "allocated_bytes",
     .title = "allocated",
     .tip = "What is more than the peak are gaps between temporary buffers"},
    {.field = "parameter_bytes", .title = "parameters"},
    {.field = "output_bytes",
     .title = "outputs",
     .tip = "Memory of outputs, without that of parameters"},
    {.field = "constant_bytes", .title = "constants"},
    {.field = "temporary_bytes", .title = "temporary"},
    {.field = "thread_local_bytes", .title = "of threads", .shown = ShownIf::kAny},
    {.field = "aliased_bytes", .title = "aliased", .tip = "Parameters in whose memory outputs are"},
    {.field = "not_reusable_bytes",
     .title = "not reusable",
     .tip = "Tables of tuples, and memory of threads"},
    {.field = "buffer_count", .title = "buffers"},
};
constexpr TableColumn kBufferColumns[] = {
    kOfSpace,
    {.field = "peak_bytes",
     .title = "at the peak",
     .needs = "peak_bytes",
     .blank = "-",
     .tip = "One of the buffers that share memory has it"},
    {.field = "peak_ratio",
     .title = "of peak",
     .needs = "peak_bytes",
     .blank = "-",
     .on_page = OnPage::kIfWide},
    {.field = "bytes", .title = "size"},
    {.field = "padding_bytes", .title = "padding", .shown = ShownIf::kAny},
    {.field = "use", .title = "use", .needs = "use"},
    {.field = "first_position",
     .title = "life",
     .cell = CellOf<results::MemoryViewerBuffer, LifeCell>,
     .needs = "first_position",
     .blank = "-",
     .tip = "Moments of the program's order. A buffer without a life is there all the time"},
    {.field = "name", .title = "made by", .flexible = true},
    {.field = "shape", .title = "shape", .flexible = true},
    {.field = "source", .title = "source", .flexible = true, .shown = ShownIf::kAny},
    {.field = "op_name", .title = "operation", .flexible = true},
    {.field = "last_reader", .title = "read last by", .flexible = true},
    {.field = "opcode", .title = "opcode", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "count", .title = "buffers", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "source_stack", .title = "stack", .on_page = OnPage::kOffered, .in_text = false},
};
constexpr TableColumn kMomentColumns[] = {
    kOfSpace,
    {.field = "position", .title = "moment", .unit = Unit::kIdentifier},
    {.field = "bytes", .title = "memory"},
    {.field = "unpadded_bytes", .title = "unpadded"},
    {.field = "instruction", .title = "instruction", .flexible = true},
};
constexpr TableLayout kMemoryViewerLayouts[] = {
    {.rows = "programs",
     .row = results::MemoryViewerProgram::descriptor,
     .columns = kProgramColumns,
     .noun = "program",
     .title = "Programs"},
    {.rows = "spaces",
     .row = results::MemoryViewerSpace::descriptor,
     .columns = kSpaceColumns,
     .noun = "space",
     .title = "Memory spaces"},
    {.rows = "buffers",
     .row = results::MemoryViewerBuffer::descriptor,
     .columns = kBufferColumns,
     .noun = "buffer",
     .title = "Buffers"},
    {.rows = "timeline",
     .row = results::MemoryViewerMoment::descriptor,
     .columns = kMomentColumns,
     .noun = "moment",
     .title = "Memory in the program's order",
     .in_text = false},
};

// Draws the memory of one space in the program's order, from nothing to the peak.
std::string HeapCurve(const results::MemoryViewer& result,
                      const results::MemoryViewerSpace& space) {
  constexpr const char* kSigns[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                    "\u2585", "\u2586", "\u2587", "\u2588"};
  std::vector<uint64_t> moments;
  for (const auto& each : result.timeline())
    if (each.space() == space.number()) moments.push_back(each.bytes());
  if (moments.size() < 2 || space.peak_bytes() == 0) return "";
  const size_t signs = std::min(moments.size(), kCurveSigns);
  std::string curve;
  for (size_t i = 0; i < signs; ++i) {
    const size_t begin = moments.size() * i / signs, end = moments.size() * (i + 1) / signs;
    uint64_t most = 0;
    for (size_t at = begin; at < end; ++at) most = std::max(most, moments[at]);
    const double part = static_cast<double>(most) / static_cast<double>(space.peak_bytes());
    curve += kSigns[std::clamp(static_cast<int>(part * 8), 0, 7)];
  }
  return "  " + curve + "\n";
}

// Says the peak of a space, and what it is made of.
std::string PeakSentence(const results::MemoryViewer& result,
                         const results::MemoryViewerSpace& space) {
  std::string text = "The peak of " + result.program();
  if (space.number() != 0) text += " in memory space " + std::to_string(space.number());
  text += " is " + FormatBytes(space.peak_bytes());
  if (!space.peak_instruction().empty())
    text += ", while " + space.peak_instruction() + " runs (moment " +
            FormatNumber(space.peak_position()) + " of " + FormatNumber(space.moment_count()) + ")";
  text += ".";
  if (space.peak_unpadded_bytes() < space.peak_bytes())
    text += " " + FormatBytes(space.peak_bytes() - space.peak_unpadded_bytes()) +
            " of the peak are padding.";
  if (space.allocated_bytes() > space.peak_bytes())
    text += " Gaps between temporary buffers take " +
            FormatBytes(space.allocated_bytes() - space.peak_bytes()) + " more.";
  if (space.unsimulated_bytes() != 0)
    text += " XLA did not simulate " + FormatBytes(space.unsimulated_bytes()) +
            " of the temporary memory, which counts as if it were there all the time.";
  return text;
}

}  // namespace

std::span<const TableLayout> MemoryViewerLayouts() { return kMemoryViewerLayouts; }

std::string MemoryViewerText(const results::MemoryViewer& result, const TextOptions& options) {
  if (result.program().empty())
    return "The recording carries no program of XLA with places of buffers.\n" +
           MetaText(result.meta(), options);
  std::string text;
  if (result.spaces().empty())
    text += WrapText(result.program() + " has no places of buffers in this memory.", "", "",
                     options.width);
  for (const results::MemoryViewerSpace& space : result.spaces()) {
    if (space.peak_bytes() == 0) continue;
    text += WrapText(PeakSentence(result, space), "", "", options.width);
    text += HeapCurve(result, space);
  }
  text += "\n";
  for (const TableLayout& layout : kMemoryViewerLayouts) {
    if (!layout.in_text || (layout.rows == "programs" && result.programs_size() < 2)) continue;
    text += TableText(layout, result, options);
  }
  return text + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
