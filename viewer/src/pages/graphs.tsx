// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// CUDA graphs: their launches, what is in them, and the gaps between their nodes.

import { useMemo } from "preact/hooks";
import { hashOf, timelineHash } from "../app/state";
import { useKeyed } from "../app/use_keyed";
import { count, duration, percent, plural, position } from "../base/format";
import { kernelName } from "../base/names";
import type { Look } from "../base/vocabulary";
import type { Graph, GraphModeChange, Graphs as GraphsResult } from "../data/results";
import { Swatch } from "../parts/bars";
import {
  barColumn,
  type Column,
  countColumn,
  fixedColumn,
  idColumn,
  msColumn,
  percentColumn,
  textColumn,
  usColumn,
} from "../parts/columns";
import { type Figure, Figures } from "../parts/figures";
import { Loading, NotRecorded, whyNot } from "../parts/states";
import { Table } from "../parts/table";
import { wordOfKernel } from "./families";

type By = "graphs" | "graphs:node";

const CHOICES: readonly (readonly [By, string])[] = [
  ["graphs", "Graph"],
  ["graphs:node", "Node"],
];

function words(text: string | null): string | null {
  return text === null || text === "unknown" || text === "none" ? null : text.replaceAll("_", " ");
}

function graphColumns(rows: readonly Graph[]): Column<Graph>[] {
  const isNarrow = innerWidth < 1440;
  return [
    textColumn("name", "Graph", (graph) => graph.name, { width: "10%" }),
    textColumn("made", "made", (graph) => words(graph.made), {
      tip: "Of a graph that was made before the capture, parts may be unknown",
    }),
    textColumn("mode", "recorded", (graph) => words(graph.mode), {
      tip: "By nodes, or as a whole",
    }),
    countColumn("count", "launches", (graph) => graph.count),
    msColumn("total", "total, ms", (graph) => graph.total_ns),
    percentColumn("share", "share", (graph) => graph.total_ratio),
    barColumn("bar", "of the largest", rows, (graph) => graph.total_ns, { color: () => "d_optim" }),
    usColumn("median", "median, µs", (graph) => graph.median_ns),
    usColumn("min", "min", (graph) => graph.min_ns, { isHidden: true }),
    usColumn("max", "max", (graph) => graph.max_ns, { isHidden: isNarrow }),
    usColumn("first", "first", (graph) => graph.first_ns),
    fixedColumn("kernels", "kernels", (graph) => graph.kernel_count_per_launch, 1, {
      tip: "Kernels of one launch",
    }),
    fixedColumn("copies", "copies", (graph) => graph.copy_count_per_launch, 1, {
      tip: "Copies of one launch",
      isHidden: isNarrow,
    }),
    fixedColumn("sets", "sets", (graph) => graph.set_count_per_launch, 1, { isHidden: true }),
    percentColumn("gaps", "gaps", (graph) => graph.gap_ratio, {
      tip: "Time of launches in which no node ran",
    }),
    usColumn("gap", "longest gap, µs", (graph) => graph.gap_max_ns, { isHidden: isNarrow }),
    usColumn("call", "call, µs", (graph) => graph.call_median_ns, {
      tip: "Median time of the host in the call that launches it",
    }),
    usColumn("first_call", "first call, µs", (graph) => graph.first_call_ns, {
      tip: "The first launch uploads the graph if nothing has done so before",
    }),
    idColumn("source", "made of", (graph) => graph.source_graph, { isHidden: true }),
    idColumn("device", "GPU", (graph) => graph.device, { isHidden: true }),
    idColumn("pid", "process", (graph) => graph.pid, { isHidden: true }),
  ];
}

function nodeLook(node: Graph): Look {
  if (node.kind === "kernel") return wordOfKernel(node).look;
  return node.kind === "copy" ? "d_copy" : "d_other";
}

function nodeColumns(rows: readonly Graph[]): Column<Graph>[] {
  return [
    textColumn("name", "Node", (node) => kernelName(node.short_name || node.name), {
      width: "28%",
      title: (node) => node.name,
      cell: (node) => (
        <>
          <Swatch look={nodeLook(node)} />
          {kernelName(node.short_name || node.name).slice(0, 300)}
        </>
      ),
    }),
    textColumn("kind", "kind", (node) => words(node.kind)),
    idColumn("graph", "graph", (node) => node.graph),
    idColumn("source", "made of", (node) => node.source_graph),
    countColumn("count", "count", (node) => node.count),
    msColumn("total", "total, ms", (node) => node.total_ns),
    percentColumn("share", "share", (node) => node.total_ratio),
    barColumn("bar", "of the largest", rows, (node) => node.total_ns, { color: nodeLook }),
    usColumn("mean", "mean, µs", (node) => node.mean_ns),
    usColumn("min", "min", (node) => node.min_ns),
    usColumn("max", "max", (node) => node.max_ns),
    idColumn("device", "GPU", (node) => node.device, { isHidden: true }),
    idColumn("pid", "process", (node) => node.pid, { isHidden: true }),
  ];
}

function modeColumns(end_ns: number): Column<GraphModeChange>[] {
  return [
    {
      id: "time",
      header: "from",
      isNumber: true,
      value: (row) => row.time_ns,
      cell: (row) => (
        <a href={timelineHash(row.time_ns - end_ns / 200, row.time_ns + end_ns / 200)}>
          {position(row.time_ns, end_ns)}
        </a>
      ),
    },
    textColumn("mode", "recorded", (row) =>
      row.name === "whole" ? "as a whole" : row.name === "nodes" ? "by nodes" : words(row.name),
    ),
    idColumn("capture", "capture", (row) => row.capture),
    countColumn("nodes", "nodes until then", (row) => row.node_count, {
      title: (row) => (row.node_count === null ? "their number was not the reason" : ""),
    }),
    idColumn("pid", "process", (row) => row.pid),
  ];
}

function figuresOf(result: GraphsResult): Figure[] {
  const figures: Figure[] = [
    {
      label: "Launches",
      value: count(result.count),
      below: `of ${plural(result.graph_count, "graph", "graphs")}`,
    },
    {
      label: "Time on the GPU",
      value: duration(result.total_ns),
      below: "first node to last, summed",
    },
  ];
  if (result.by === "graph") {
    const sum = (read: (graph: Graph) => number | null) =>
      result.graphs.reduce((total, graph) => total + (read(graph) ?? 0), 0);
    const gaps = sum((graph) => graph.gap_ns);
    const busy = sum((graph) => graph.busy_ns);
    const calls = sum((graph) => graph.call_count);
    const callTime = sum((graph) => graph.call_total_ns);
    figures.push(
      {
        label: "Gaps between nodes",
        value: gaps + busy === 0 ? "—" : percent(gaps / (gaps + busy)),
        below:
          gaps + busy === 0 ? "no launch was recorded by nodes" : `${duration(gaps)} without work`,
      },
      {
        label: "Call that launches",
        value: duration(calls === 0 ? null : callTime / calls),
        below: "mean time of the host",
      },
      {
        label: "First launches",
        value: duration(sum((graph) => graph.first_call_ns)),
        below: "of the host, one of each graph",
      },
    );
  }
  figures.push({
    label: "Recorded as a whole",
    value: count(result.whole_count),
    below: result.whole_count === 0 ? "all are recorded by nodes" : "without their nodes",
  });
  return figures;
}

export function Graphs() {
  const { by, loaded, choice } = useKeyed<By>(CHOICES);
  const rows = loaded.state === "ready" ? loaded.value.graphs : [];
  const columns = useMemo(
    () => (by === "graphs" ? graphColumns(rows) : nodeColumns(rows)),
    [rows, by],
  );
  if (loaded.state === "loading") return <Loading what="graphs" />;
  if (loaded.state === "absent" || (loaded.value.count === 0 && rows.length === 0)) {
    const { why, option } = whyNot(
      loaded.state === "ready" ? loaded.value.meta.skipped : [],
      ["cuda"],
      {
        why:
          loaded.state === "absent"
            ? loaded.reason
            : 'The program launched none in the capture. PyTorch makes graphs with torch.cuda.graph or torch.compile(mode="reduce-overhead").',
        option: "",
      },
    );
    return (
      <NotRecorded
        title="No CUDA graphs were launched"
        why={why}
        option={option}
        would="Launches of graphs and of their nodes, gaps between the nodes, and the host’s time in the calls that launch them."
      />
    );
  }
  const { meta, modes } = loaded.value;
  return (
    <div class="page">
      <div class="head">
        <h2>
          CUDA graphs
          <small>
            {plural(loaded.value.count, "launch", "launches")}, {duration(loaded.value.total_ns)} on
            the GPU
          </small>
        </h2>
        <a href={hashOf("timeline", { q: "GraphLaunch" })}>Find launches in the timeline</a>
      </div>
      <Figures figures={figuresOf(loaded.value)} />
      <div class="section">
        <Table
          key={by}
          rows={rows}
          columns={columns}
          noun={by === "graphs" ? ["graph", "graphs"] : ["node", "nodes"]}
          sort="total"
          height="max(280px, calc(100vh - var(--tabs, 0px) - 380px))"
          extra={choice}
        />
      </div>
      {modes.length > 0 && (
        <div class="section columns even">
          <div>
            <h2>
              How launches were recorded<small>from then on, until the next change</small>
            </h2>
            <Table
              rows={modes}
              columns={modeColumns(Math.max(1, meta.window_end_ns))}
              noun={["change", "changes"]}
              sort="time"
              isSide
            />
          </div>
        </div>
      )}
    </div>
  );
}
