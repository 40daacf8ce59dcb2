// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of graphs. See text.h.

#include <string>

#include "analysis/base/figures.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/graphs.pb.h"

namespace gpuprof::analysis {

namespace {

std::string Made(const results::Graph& graph) {
  if (graph.made() == results::GRAPH_MAKING_IN_CAPTURE) {
    return graph.has_source_graph() ? "of graph " + std::to_string(graph.source_graph())
                                    : "in the capture";
  }
  return graph.made() == results::GRAPH_MAKING_BEFORE_CAPTURE ? "before the capture" : "not known";
}

// A mean of nodes, which is a whole number in most graphs.
std::string MeanWords(double count) {
  const auto whole = static_cast<uint64_t>(count);
  return static_cast<double>(whole) == count ? FormatNumber(whole) : FormatReal(count);
}
std::string KernelWords(const results::Graph& g) { return MeanWords(g.kernel_count_per_launch()); }
std::string CopyWords(const results::Graph& g) { return MeanWords(g.copy_count_per_launch()); }
std::string SetWords(const results::Graph& g) { return MeanWords(g.set_count_per_launch()); }

constexpr TableColumn kGraphColumns[] = {
    {.field = "name", .title = "graph"},
    {.field = "made",
     .title = "made",
     .cell = CellOf<results::Graph, Made>,
     .tip = "Parts of a graph that was made before the capture may be unknown"},
    {.field = "mode", .title = "recorded", .tip = "By nodes, or as a whole"},
    {.field = "count", .title = "launches"},
    {.field = "kernel_count_per_launch",
     .title = "kernels",
     .cell = CellOf<results::Graph, KernelWords>,
     .needs = "kernel_count_per_launch",
     .blank = "-",
     .tip = "Kernels of one launch"},
    {.field = "copy_count_per_launch",
     .title = "copies",
     .cell = CellOf<results::Graph, CopyWords>,
     .needs = "copy_count_per_launch",
     .blank = "-",
     .tip = "Copies of one launch",
     .on_page = OnPage::kIfWide},
    {.field = "set_count_per_launch",
     .title = "sets",
     .cell = CellOf<results::Graph, SetWords>,
     .needs = "set_count_per_launch",
     .blank = "-",
     .on_page = OnPage::kOffered},
    {.field = "call_median_ns",
     .title = "call",
     .blank = "-",
     .tip = "Median time of the host in the call that launches it"},
    {.field = "first_call_ns",
     .title = "first call",
     .blank = "-",
     .tip = "The first launch uploads the graph if nothing has done so before"},
    {.field = "total_ns", .title = "total"},
    {.field = "total_ratio", .title = "share"},
    {.field = "median_ns", .title = "median"},
    {.field = "min_ns", .title = "min", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "max_ns", .title = "max", .on_page = OnPage::kIfWide, .in_text = false},
    {.field = "first_ns", .title = "first"},
    {.field = "busy_ns", .title = "busy", .blank = "-", .on_page = OnPage::kOffered},
    {.field = "gap_ratio",
     .title = "gaps",
     .blank = "-",
     .tip = "Time of launches in which no node ran"},
    {.field = "gap_max_ns",
     .title = "longest",
     .blank = "-",
     .tip = "The longest gap",
     .on_page = OnPage::kIfWide},
    {.field = "source_graph", .title = "made of", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "device", .title = "device", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "pid", .title = "pid", .in_text = false},
};
constexpr TableColumn kNodeColumns[] = {
    {.field = "name", .title = "node", .flexible = true},
    {.field = "kind", .title = "kind"},
    {.field = "graph", .title = "graph", .blank = "several"},
    {.field = "source_graph", .title = "made of", .blank = "-"},
    {.field = "count", .title = "count"},
    {.field = "total_ns", .title = "total"},
    {.field = "total_ratio", .title = "share"},
    {.field = "mean_ns", .title = "mean"},
    {.field = "min_ns", .title = "min"},
    {.field = "max_ns", .title = "max"},
    {.field = "device", .title = "device", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "pid", .title = "pid", .in_text = false},
};
std::string Owner(const results::Graph& row) {
  switch (row.owner_gap()) {
    case results::OWNER_GAP_BEFORE_CAPTURE:
      return "not known: made before the capture";
    case results::OWNER_GAP_NOT_TOLD:
      return "not known: nodes without a known original";
    case results::OWNER_GAP_OUTSIDE:
      return "outside of all operations";
    default:
      return OneLine(row.name());
  }
}

constexpr TableColumn kOwnerColumns[] = {
    {.field = "name",
     .title = "owner",
     .cell = CellOf<results::Graph, Owner>,
     .flexible = true,
     .tip = "The operation in which the program made the nodes, mostly by capturing a stream"},
    {.field = "owner_gap", .title = "why not", .in_text = false},
    {.field = "launched_by", .title = "made by", .flexible = true, .shown = ShownIf::kAny},
    {.field = "shapes", .title = "shapes", .flexible = true, .shown = ShownIf::kAny},
    {.field = "source_graph", .title = "graph", .blank = "-"},
    {.field = "node_count", .title = "nodes", .blank = "-"},
    {.field = "count", .title = "count"},
    {.field = "total_ns", .title = "total"},
    {.field = "total_ratio", .title = "share"},
    {.field = "mean_ns", .title = "mean"},
    {.field = "min_ns", .title = "min", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "max_ns", .title = "max", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "device", .title = "device", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "pid", .title = "pid", .in_text = false},
};
constexpr TableColumn kModeColumns[] = {
    {.field = "time_ns", .title = "from"},
    {.field = "name", .title = "recorded"},
    {.field = "capture", .title = "capture"},
    {.field = "node_count", .title = "nodes until then"},
    kPidColumn,
};
constexpr TableLayout kLayouts[] = {
    {.rows = "graphs",
     .row = results::Graph::descriptor,
     .columns = kGraphColumns,
     .only_by = "graph",
     .sorted_by = "total_ns"},
    {.rows = "graphs",
     .row = results::Graph::descriptor,
     .columns = kNodeColumns,
     .only_by = "node",
     .sorted_by = "total_ns",
     .noun = "node"},
    {.rows = "graphs",
     .row = results::Graph::descriptor,
     .columns = kOwnerColumns,
     .only_by = "owner",
     .sorted_by = "total_ns",
     .noun = "owner"},
    {.rows = "modes",
     .row = results::GraphModeChange::descriptor,
     .columns = kModeColumns,
     .noun = "change",
     .title = "Changes of how graphs were recorded",
     .in_text = false},
};

// When nodes ended to be recorded: what comes later is there as a whole.
std::string Modes(const results::Graphs& result, const TextOptions& options) {
  const Pids pid(result.modes());
  std::string out;
  for (const results::GraphModeChange& change : result.modes()) {
    if (change.name() != results::GRAPH_RECORDING_WHOLE || !change.has_node_count()) continue;
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

std::span<const TableLayout> GraphsLayouts() { return kLayouts; }

std::string GraphsText(const results::Graphs& result, const TextOptions& options) {
  if (result.count() == 0)
    return (result.call_count() == 0
                ? std::string("No launch of a CUDA graph was recorded.\n")
                : FormatNumber(result.call_count()) +
                      " calls launched CUDA graphs. The file does not tell which graph each call "
                      "launched: `gpuprof stats api` lists the calls.\n") +
           MetaText(result.meta(), options);
  std::string heading =
      FormatNumber(result.count()) + (result.count() == 1 ? " launch of " : " launches of ") +
      FormatNumber(result.graph_count()) + (result.graph_count() == 1 ? " graph, " : " graphs, ") +
      FormatDuration(result.total_ns()) + " from first nodes to last";
  if (result.whole_count() != 0)
    heading += ", " + FormatNumber(result.whole_count()) + " recorded as a whole";
  const TableLayout& layout = kLayouts[result.by() == "node" ? 1 : result.by() == "owner" ? 2 : 0];
  return TableText(heading, layout, result, options) + Modes(result, options) +
         MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
