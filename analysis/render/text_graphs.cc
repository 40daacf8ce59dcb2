// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of graphs. See text.h.

#include <string>
#include <vector>

#include "analysis/render/figures.h"
#include "analysis/render/text.h"
#include "proto/results/graphs.pb.h"

namespace gpuprof::analysis {

using Align = TextTable::Align;

namespace {

std::string Made(const results::Graph& graph) {
  if (graph.made() == "in_capture") {
    return graph.has_source_graph() ? "of graph " + std::to_string(graph.source_graph())
                                    : "in the capture";
  }
  return graph.made() == "before_capture" ? "before the capture" : "not known";
}

std::string Time(bool is_known, int64_t ns) { return is_known ? FormatDuration(ns) : "-"; }
std::string Nodes(bool is_known, double count) {
  if (!is_known) return "-";
  const auto whole = static_cast<uint64_t>(count);
  return static_cast<double>(whole) == count ? FormatNumber(whole) : FormatReal(count);
}

TextTable GraphTable(const results::Graphs& result, const TextOptions& options) {
  TextTable table;
  table.AddColumn("graph", Align::kLeft);
  table.AddColumn("made", Align::kLeft);
  table.AddColumn("recorded", Align::kLeft);
  for (const char* header : {"launches", "kernels", "copies", "sets", "call", "first call", "total",
                             "share", "median", "first", "busy", "gaps", "longest"})
    table.AddColumn(header, Align::kRight);
  for (int i = 0; i < Shown(result.graphs_size(), options); ++i) {
    const results::Graph& g = result.graphs(i);
    table.AddRow({g.name(), Made(g), g.mode(), FormatNumber(g.count()),
                  Nodes(g.has_kernel_count_per_launch(), g.kernel_count_per_launch()),
                  Nodes(g.has_copy_count_per_launch(), g.copy_count_per_launch()),
                  Nodes(g.has_set_count_per_launch(), g.set_count_per_launch()),
                  Time(g.has_call_median_ns(), g.call_median_ns()),
                  Time(g.has_first_call_ns(), g.first_call_ns()), FormatDuration(g.total_ns()),
                  FormatPercent(g.total_ratio()), FormatDuration(g.median_ns()),
                  FormatDuration(g.first_ns()), Time(g.has_busy_ns(), g.busy_ns()),
                  g.has_gap_ratio() ? FormatPercent(g.gap_ratio()) : "-",
                  Time(g.has_gap_max_ns(), g.gap_max_ns())});
  }
  return table;
}

TextTable NodeTable(const results::Graphs& result, const TextOptions& options) {
  TextTable table;
  table.AddColumn("node", Align::kLeft, true);
  table.AddColumn("kind", Align::kLeft);
  for (const char* header : {"graph", "made of", "count", "total", "share", "mean", "min", "max"})
    table.AddColumn(header, Align::kRight);
  for (int i = 0; i < Shown(result.graphs_size(), options); ++i) {
    const results::Graph& n = result.graphs(i);
    table.AddRow(
        {ShownName(n, options), n.kind(), n.has_graph() ? std::to_string(n.graph()) : "several",
         n.has_source_graph() ? std::to_string(n.source_graph()) : "-", FormatNumber(n.count()),
         FormatDuration(n.total_ns()), FormatPercent(n.total_ratio()), FormatDuration(n.mean_ns()),
         FormatDuration(n.min_ns()), FormatDuration(n.max_ns())});
  }
  return table;
}

// When nodes ended to be recorded: what comes later is there as a whole.
std::string Modes(const results::Graphs& result, const TextOptions& options) {
  const Pids pid(result.modes());
  std::string out;
  for (const results::GraphModeChange& change : result.modes()) {
    if (change.name() != "whole" || !change.has_node_count()) continue;
    out += WrapText("From " + FormatDuration(change.time_ns()) + " on (pid " + pid(change) +
                        ", capture " + std::to_string(change.capture()) +
                        ") launches were recorded as a whole, after " +
                        FormatNumber(change.node_count()) +
                        " nodes; 'gpuprof run --graphs=node' records every node",
                    "", "  ", options.width);
  }
  return out;
}

}  // namespace

std::string GraphsText(const results::Graphs& result, const TextOptions& options) {
  if (result.count() == 0)
    return "No launch of a CUDA graph was recorded.\n" + MetaText(result.meta(), options);
  std::string heading =
      FormatNumber(result.count()) + (result.count() == 1 ? " launch of " : " launches of ") +
      FormatNumber(result.graph_count()) + (result.graph_count() == 1 ? " graph, " : " graphs, ") +
      FormatDuration(result.total_ns()) + " from first nodes to last";
  if (result.whole_count() != 0)
    heading += ", " + FormatNumber(result.whole_count()) + " recorded as a whole";
  const bool by_node = result.by() == "node";
  return Section(heading, by_node ? NodeTable(result, options) : GraphTable(result, options),
                 options, result.graphs_size()) +
         Modes(result, options) + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
