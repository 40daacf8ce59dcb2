// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of streams. See text.h.

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/render/figures.h"
#include "analysis/render/text.h"
#include "proto/results/streams.pb.h"

namespace gpuprof::analysis {

using Align = TextTable::Align;

namespace {

std::string Share(int64_t part, int64_t whole) {
  return FormatPercent(whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0);
}

// Only where there are any.
bool HasWholeGraphs(const results::Streams& result) {
  return std::any_of(result.streams().begin(), result.streams().end(),
                     [](const results::StreamUse& s) { return s.whole_graph_count() != 0; });
}

template <typename Rows>
bool HasNames(const Rows& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const auto& row) { return !row.name().empty(); });
}

std::string Devices(const results::Streams& result, const TextOptions& options) {
  TextTable table;
  for (const char* header :
       {"pid", "device", "window", "busy", "kernels", "copies", "both", "several kernels",
        "idle: host", "launch", "dependency", "unknown", "gaps", "longest"})
    table.AddColumn(header, Align::kRight);
  const bool has_graphs = HasWholeGraphs(result);
  if (has_graphs) table.AddColumn("in whole graphs", Align::kRight);
  const bool has_names = HasNames(result.devices());
  if (has_names) table.AddColumn("name", Align::kLeft, true);
  const Pids pid(result.devices());
  for (const results::DeviceUse& d : result.devices()) {
    const int64_t all = d.window_ns();
    std::vector<std::string> cells = {pid(d),
                                      std::to_string(d.device()),
                                      FormatDuration(all),
                                      FormatPercent(d.busy_ratio()),
                                      Share(d.kernel_ns(), all),
                                      Share(d.copy_ns(), all),
                                      Share(d.kernel_and_copy_ns(), all),
                                      Share(d.several_kernels_ns(), all),
                                      Share(d.idle_host_ns(), all),
                                      Share(d.idle_launch_ns(), all),
                                      Share(d.idle_dependency_ns(), all),
                                      Share(d.idle_unknown_ns(), all),
                                      FormatNumber(d.gap_count()),
                                      FormatDuration(d.gap_max_ns())};
    if (has_graphs) cells.push_back(Share(d.whole_graph_ns(), all));
    if (has_names) cells.push_back(d.name());
    table.AddRow(std::move(cells));
  }
  return Section("Devices, from the first work to the last", table, options, result.devices_size());
}

// What streams are called, by whose they are, context and number.
class StreamNames {
 public:
  explicit StreamNames(const results::Streams& result) {
    for (const results::StreamUse& s : result.streams())
      names_[{s.host(), s.pid(), s.context(), s.stream()}] = s.name();
  }
  // "0:7 (copies)".
  std::string operator()(const results::StreamWait& wait, uint32_t device, uint32_t context,
                         uint32_t stream) const {
    const std::string number = std::to_string(device) + ":" + std::to_string(stream);
    const auto found = names_.find({wait.host(), wait.pid(), context, stream});
    if (found == names_.end() || found->second.empty()) return number;
    return number + " (" + found->second + ")";
  }

 private:
  std::map<std::tuple<std::string, int32_t, uint32_t, uint32_t>, std::string> names_;
};

// Only where there are any.
std::string Waits(const results::Streams& result, const TextOptions& options) {
  if (result.waits().empty()) return "";
  TextTable table;
  table.AddColumn("pid", Align::kRight);
  table.AddColumn("device:stream", Align::kLeft);
  table.AddColumn("waits for", Align::kLeft);
  for (const char* header : {"count", "holding up", "time", "longest"})
    table.AddColumn(header, Align::kRight);
  table.AddColumn("mostly for", Align::kLeft, true);
  const Pids pid(result.waits());
  const StreamNames name(result);
  for (int i = 0; i < Shown(result.waits_size(), options); ++i) {
    const results::StreamWait& w = result.waits(i);
    const bool is_known = w.has_for_stream();
    table.AddRow({pid(w), name(w, w.device(), w.context(), w.stream()),
                  is_known ? name(w, w.for_device(), w.for_context(), w.for_stream()) : "unknown",
                  FormatNumber(w.count()), is_known ? FormatNumber(w.blocking_count()) : "-",
                  is_known ? FormatDuration(w.held_up_ns()) : "-",
                  is_known ? FormatDuration(w.held_up_max_ns()) : "-",
                  w.name().empty() ? "-" : ShownName(w, options)});
  }
  return Section("Waits of streams for events of streams", table, options, result.waits_size());
}

}  // namespace

std::string StreamsText(const results::Streams& result, const TextOptions& options) {
  if (result.devices().empty())
    return "No GPU work was recorded.\n" + MetaText(result.meta(), options);
  TextTable table;
  for (const char* header : {"pid", "device", "context", "stream", "kernels", "copies", "busy",
                             "of window", "in kernels", "in copies", "beside others"})
    table.AddColumn(header, Align::kRight);
  const bool has_graphs = HasWholeGraphs(result);
  if (has_graphs) {
    for (const char* header : {"whole graphs", "in them"}) table.AddColumn(header, Align::kRight);
  }
  const bool has_names = HasNames(result.streams());
  if (has_names) table.AddColumn("name", Align::kLeft, true);
  const Pids pid(result.streams());
  for (int i = 0; i < Shown(result.streams_size(), options); ++i) {
    const results::StreamUse& s = result.streams(i);
    std::vector<std::string> cells = {pid(s),
                                      std::to_string(s.device()),
                                      std::to_string(s.context()),
                                      std::to_string(s.stream()),
                                      FormatNumber(s.kernel_count()),
                                      FormatNumber(s.copy_count()),
                                      FormatDuration(s.busy_ns()),
                                      FormatPercent(s.busy_ratio()),
                                      FormatDuration(s.kernel_ns()),
                                      FormatDuration(s.copy_ns()),
                                      FormatDuration(s.overlap_ns())};
    if (has_graphs) {
      cells.push_back(FormatNumber(s.whole_graph_count()));
      cells.push_back(FormatDuration(s.whole_graph_ns()));
    }
    if (has_names) cells.push_back(s.name());
    table.AddRow(std::move(cells));
  }
  return Devices(result, options) + Section("Streams", table, options, result.streams_size()) +
         Waits(result, options) + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
