// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of graph_viewer, and its graph in the language DOT. See text.h.

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "analysis/base/figures.h"
#include "analysis/base/plain_text.h"
#include "analysis/base/units.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/graph_viewer.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr int kDeepestIndent = 16;  // of distances that are drawn

// "<- dot.4", further in with each operation between.
std::string BranchCell(const results::GraphViewerNode& row) {
  if (row.distance() == 0) return row.name();
  const int steps = std::min(std::abs(row.distance()), kDeepestIndent);
  return std::string(static_cast<size_t>(steps) * 2, ' ') + (row.distance() < 0 ? "<- " : "-> ") +
         row.name();
}

// What the opcode leaves open: "fusion (kLoop: add)", "parameter 0".
std::string KindCell(const results::GraphViewerNode& row) {
  std::string text = row.opcode();
  if (row.has_parameter_number()) text += " " + std::to_string(row.parameter_number());
  if (!row.custom_call_target().empty()) text += " " + row.custom_call_target();
  if (row.fused_count() == 0) return text;
  text += " (";
  if (!row.fusion_kind().empty()) text += row.fusion_kind() + ": ";
  return text + row.fused_opcodes() + ")";
}

std::string Counted(uint64_t count, const std::string& noun) {
  return FormatNumber(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string LeftOutCell(const results::GraphViewerNode& row) {
  const uint64_t before = row.left_out_producer_count(), after = row.left_out_consumer_count();
  if (before == 0) return after == 0 ? "" : Counted(after, "consumer");
  return Counted(before, "producer") + (after == 0 ? "" : ", " + Counted(after, "consumer"));
}
bool HasLeftOut(const results::GraphViewerNode& row) {
  return row.left_out_producer_count() + row.left_out_consumer_count() != 0;
}

constexpr TableColumn kGraphProgramColumns[] = {
    {.field = "total_ns", .title = "time", .blank = "-", .shown = ShownIf::kAny},
    {.field = "timed_count",
     .title = "with events",
     .blank = "-",
     .shown = ShownIf::kAny,
     .tip = "Operations that have events in the recording"},
    {.field = "instruction_count", .title = "instructions"},
    {.field = "computation_count", .title = "computations"},
    {.field = "fusion_count", .title = "fusions"},
    {.field = "name", .title = "program", .flexible = true},
};
constexpr TableColumn kNodeColumns[] = {
    {.field = "name",
     .title = "operation",
     .cell = CellOf<results::GraphViewerNode, BranchCell>,
     .tip = "<- produces what the operation above reads, -> consumes its result"},
    {.field = "total_ns", .title = "time", .blank = "-", .shown = ShownIf::kAny},
    {.field = "opcode",
     .title = "kind",
     .cell = CellOf<results::GraphViewerNode, KindCell>,
     .flexible = true},
    {.field = "shape", .title = "shape", .flexible = true},
    {.field = "source", .title = "source", .flexible = true, .shown = ShownIf::kAny},
    {.field = "fusion", .title = "in fusion", .flexible = true, .shown = ShownIf::kAny},
    {.field = "left_out_producer_count",
     .title = "not shown",
     .cell = CellOf<results::GraphViewerNode, LeftOutCell>,
     .shown = ShownIf::kAny,
     .shown_if = TestOf<results::GraphViewerNode, HasLeftOut>,
     .tip = "Neighbours that are too far away, or too many"},
    {.field = "op_name", .title = "framework", .flexible = true, .shown = ShownIf::kAny},
    {.field = "program", .title = "program", .flexible = true, .shown = ShownIf::kDifferent},
    {.field = "total_ratio", .title = "share", .blank = "-", .shown = ShownIf::kAny},
    {.field = "count", .title = "events", .blank = "-", .shown = ShownIf::kAny},
    {.field = "computation", .title = "computation", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "source_stack", .title = "stack", .on_page = OnPage::kOffered, .in_text = false},
};
constexpr TableColumn kEdgeColumns[] = {
    {.field = "from", .title = "from", .flexible = true},
    {.field = "to", .title = "to", .flexible = true},
    {.field = "operand", .title = "operand", .unit = Unit::kIdentifier, .blank = "-"},
    {.field = "control", .title = "order alone", .shown = ShownIf::kAny},
};
constexpr TableLayout kGraphViewerLayouts[] = {
    {.rows = "programs",
     .row = results::GraphViewerProgram::descriptor,
     .columns = kGraphProgramColumns,
     .noun = "program",
     .title = "Programs"},
    {.rows = "nodes",
     .row = results::GraphViewerNode::descriptor,
     .columns = kNodeColumns,
     .noun = "operation",
     .title = "Operations"},
    {.rows = "edges",
     .row = results::GraphViewerEdge::descriptor,
     .columns = kEdgeColumns,
     .noun = "edge",
     .title = "Edges",
     .in_text = false},
};

// One sentence about the operation in the middle.
std::string MiddleSentence(const results::GraphViewer& result) {
  const results::GraphViewerNode& middle = result.nodes(0);
  std::string text =
      middle.name() + " of " + result.program() + ": " + KindCell(middle) + ", " + middle.shape();
  if (!middle.fusion().empty()) text += ", a part of " + middle.fusion();
  if (middle.has_total_ns())
    text += ", " + FormatDuration(middle.total_ns()) + " in " + FormatNumber(middle.count()) +
            (middle.count() == 1 ? " event" : " events");
  return text + ".";
}

// Returns a text between quotes.
std::string Quoted(std::string_view text) {
  std::string plain, quoted = "\"";
  AppendPlain(text, PlainForm::kLine, &plain);
  for (const char letter : plain) {
    if (letter == '"' || letter == '\\') quoted += '\\';
    quoted += letter;
  }
  return quoted + '"';
}

// Joins lines of a label, which DOT ends by \n.
std::string Label(const results::GraphViewerNode& node) {
  std::string label = Quoted(node.name());
  label.pop_back();
  const auto add = [&](const std::string& line) {
    if (line.empty()) return;
    const std::string quoted = Quoted(line);
    label += "\\n" + quoted.substr(1, quoted.size() - 2);
  };
  add(KindCell(node));
  add(node.shape());
  if (node.has_total_ns()) add(FormatDuration(node.total_ns()));
  add(node.source());
  return label + '"';
}

}  // namespace

std::span<const TableLayout> GraphViewerLayouts() { return kGraphViewerLayouts; }

std::string GraphViewerText(const results::GraphViewer& result, const TextOptions& options) {
  if (result.programs().empty())
    return "The recording carries no program of XLA.\n" + MetaText(result.meta(), options);
  if (result.op().empty()) {
    std::string text = TableText(kGraphViewerLayouts[0], result, options);
    text +=
        result.nodes().empty()
            ? "No operation of these programs has an event in the recording.\n"
            : TableText("Operations with the most time", kGraphViewerLayouts[1], result, options);
    return text + MetaText(result.meta(), options);
  }
  std::string text = WrapText(MiddleSentence(result), "", "", options.width);
  const std::string& stack = result.nodes(0).source_stack();
  if (!stack.empty()) text += WrapText(stack, "  ", "  ", options.width);
  text += "\n";
  // Both sides get their rows.
  std::vector<const ResultMessage*> producers, consumers;
  for (const results::GraphViewerNode& node : result.nodes()) {
    if (node.distance() < 0) producers.push_back(&node);
    if (node.distance() > 0) consumers.push_back(&node);
  }
  const TableLayout& layout = kGraphViewerLayouts[1];
  const std::string within = ", up to " + std::to_string(result.depth()) + " operations away";
  if (producers.empty()) text += "The operation reads no result of another operation.\n\n";
  if (!producers.empty())
    text += TableText("Producers" + within, layout, producers, result, options);
  if (consumers.empty()) text += "No operation consumes the result.\n\n";
  if (!consumers.empty())
    text += TableText("Consumers" + within, layout, consumers, result, options);
  return text + MetaText(result.meta(), options);
}

std::string GraphDot(const google::protobuf::Message& result) {
  if (result.GetDescriptor() != results::GraphViewer::descriptor()) return "";
  const auto& graph = static_cast<const results::GraphViewer&>(result);
  std::string text = "digraph program {\n  node [shape=box];\n";
  for (const results::GraphViewerNode& node : graph.nodes()) {
    text += "  " + Quoted(node.name()) + " [label=" + Label(node);
    if (node.distance() == 0) text += ", penwidth=3";
    if (!node.fusion().empty()) text += ", style=rounded";
    text += "];\n";
  }
  for (const results::GraphViewerEdge& edge : graph.edges()) {
    text += "  " + Quoted(edge.from()) + " -> " + Quoted(edge.to());
    text += edge.control() ? " [style=dashed];\n" : ";\n";
  }
  return text + "}\n";
}

}  // namespace gpuprof::analysis
