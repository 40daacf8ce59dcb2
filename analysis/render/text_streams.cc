// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of streams. See text.h.

#include <string>

#include "analysis/base/figures.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/streams.pb.h"

namespace gpuprof::analysis {

namespace {

// Returns "0:7 (copies)".
template <typename Row>
std::string StreamWords(const results::Streams& result, const Row& row, uint32_t device,
                        uint32_t context, uint32_t stream) {
  const std::string number = std::to_string(device) + ":" + std::to_string(stream);
  for (const results::StreamUse& s : result.streams()) {
    if (s.stream() == stream && s.context() == context && s.pid() == row.pid() &&
        s.host() == row.host())
      return s.name().empty() ? number : number + " (" + s.name() + ")";
  }
  return number;
}

std::string WaitingWords(const results::StreamWait& w, const CellContext& context) {
  return StreamWords(static_cast<const results::Streams&>(context.result), w, w.device(),
                     w.context(), w.stream());
}
std::string AwaitedWords(const results::StreamWait& w, const CellContext& context) {
  return StreamWords(static_cast<const results::Streams&>(context.result), w, w.for_device(),
                     w.for_context(), w.for_stream());
}

std::string RunningWords(const results::HostFunctions& f, const CellContext& context) {
  return StreamWords(static_cast<const results::Streams&>(context.result), f, f.device(),
                     f.context(), f.stream());
}

constexpr TableColumn kDeviceColumns[] = {
    kPidColumn,
    {.field = "device", .title = "device"},
    {.field = "window_ns", .title = "window"},
    {.field = "busy_ratio", .title = "busy"},
    {.field = "kernel_ns", .title = "kernels", .share_of = "window_ns"},
    {.field = "copy_ns", .title = "copies", .share_of = "window_ns"},
    {.field = "kernel_and_copy_ns", .title = "both", .share_of = "window_ns"},
    {.field = "several_kernels_ns", .title = "several kernels", .share_of = "window_ns"},
    {.field = "idle_host_ns", .title = "idle: host", .share_of = "window_ns"},
    {.field = "idle_launch_ns", .title = "launch", .share_of = "window_ns"},
    {.field = "idle_dependency_ns", .title = "dependency", .share_of = "window_ns"},
    {.field = "idle_host_function_ns",
     .title = "in host functions",
     .share_of = "window_ns",
     .shown = ShownIf::kAny},
    {.field = "idle_unknown_ns", .title = "unknown", .share_of = "window_ns"},
    {.field = "gap_count", .title = "gaps"},
    {.field = "gap_max_ns", .title = "longest"},
    {.field = "whole_graph_ns",
     .title = "in whole graphs",
     .share_of = "window_ns",
     .shown = ShownIf::kAny},
    {.field = "name", .title = "name", .flexible = true, .shown = ShownIf::kAny},
};
constexpr TableColumn kStreamColumns[] = {
    kPidColumn,
    {.field = "device", .title = "device"},
    {.field = "context", .title = "context", .on_page = OnPage::kOffered},
    {.field = "stream", .title = "stream"},
    {.field = "kernel_count", .title = "kernels"},
    {.field = "copy_count", .title = "copies"},
    {.field = "busy_ns", .title = "busy"},
    {.field = "busy_ratio", .title = "of window"},
    {.field = "kernel_ns", .title = "in kernels"},
    {.field = "copy_ns", .title = "in copies"},
    {.field = "overlap_ns", .title = "beside others"},
    {.field = "whole_graph_count", .title = "whole graphs", .shown = ShownIf::kAny},
    {.field = "whole_graph_ns",
     .title = "in them",
     .shown = ShownIf::kAny,
     .shown_by = "whole_graph_count"},
    {.field = "name", .title = "name", .flexible = true, .shown = ShownIf::kAny},
};
constexpr TableColumn kWaitColumns[] = {
    kPidColumn,
    {.field = "stream",
     .title = "device:stream",
     .cell = CellOf<results::StreamWait, WaitingWords>,
     .align = ColumnAlign::kLeft},
    {.field = "for_stream",
     .title = "waits for",
     .cell = CellOf<results::StreamWait, AwaitedWords>,
     .needs = "for_stream",
     .blank = "unknown",
     .align = ColumnAlign::kLeft},
    {.field = "count", .title = "count"},
    {.field = "blocking_count", .title = "holding up", .needs = "for_stream", .blank = "-"},
    {.field = "held_up_ns", .title = "time", .needs = "for_stream", .blank = "-"},
    {.field = "held_up_max_ns",
     .title = "longest",
     .needs = "for_stream",
     .blank = "-",
     .scale = kMilliseconds},
    {.field = "name", .title = "mostly for", .needs = "name", .blank = "-", .flexible = true},
};
constexpr TableColumn kFunctionColumns[] = {
    kPidColumn,
    {.field = "stream",
     .title = "device:stream",
     .cell = CellOf<results::HostFunctions, RunningWords>,
     .align = ColumnAlign::kLeft},
    {.field = "count", .title = "count"},
    {.field = "graph_node_count", .title = "in graphs", .shown = ShownIf::kAny},
    {.field = "total_ns", .title = "time"},
    {.field = "mean_ns", .title = "mean"},
    {.field = "max_ns", .title = "longest"},
    {.field = "idle_ns", .title = "GPU idle", .needs = "idle_ns", .blank = "-"},
};
constexpr TableLayout kLayouts[] = {
    {.rows = "devices",
     .row = results::DeviceUse::descriptor,
     .columns = kDeviceColumns,
     .is_complete = true,
     .title = "Devices, from the first work to the last"},
    {.rows = "streams",
     .row = results::StreamUse::descriptor,
     .columns = kStreamColumns,
     .sorted_by = "busy_ns",
     .title = "Streams"},
    {.rows = "waits",
     .row = results::StreamWait::descriptor,
     .columns = kWaitColumns,
     .sorted_by = "held_up_ns",
     .title = "Waits of streams for events of streams"},
    {.rows = "host_functions",
     .row = results::HostFunctions::descriptor,
     .columns = kFunctionColumns,
     .sorted_by = "total_ns",
     .title = "Functions that streams ran on the host"},
};

}  // namespace

std::span<const TableLayout> StreamsLayouts() { return kLayouts; }

std::string StreamsText(const results::Streams& result, const TextOptions& options) {
  if (result.devices().empty())
    return "No GPU work was recorded.\n" + MetaText(result.meta(), options);
  std::string text;
  for (const TableLayout& layout : kLayouts) text += TableText(layout, result, options);
  return text + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
