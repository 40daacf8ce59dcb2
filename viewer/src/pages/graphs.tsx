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
import { columnsOf, nounOf, type Own } from "../parts/described";
import { type Figure, Figures } from "../parts/figures";
import { Loading, NotRecorded, whyNot } from "../parts/states";
import { Table } from "../parts/table";
import { wordOfKernel } from "./families";

type By = "graphs" | "graphs:node" | "graphs:owner";

const CHOICES: readonly (readonly [By, string])[] = [
  ["graphs", "Graph"],
  ["graphs:node", "Node"],
  ["graphs:owner", "Owner"],
];

function nodeLook(node: Graph): Look {
  if (node.kind === "kernel") return wordOfKernel(node).look;
  return node.kind === "copy" ? "d_copy" : "d_other";
}

const GRAPHS: Own<Graph> = { bar: { color: () => "d_optim" } };

function nodeName(node: Graph): string {
  return kernelName(node.short_name || node.name);
}

const NODES: Own<Graph> = {
  bar: { color: nodeLook },
  cells: {
    name: {
      value: nodeName,
      cell: (node) => (
        <>
          <Swatch look={nodeLook(node)} />
          {nodeName(node).slice(0, 300)}
        </>
      ),
    },
  },
};

const RECORDED: Readonly<Record<string, string>> = { whole: "as a whole", nodes: "by nodes" };

function modeColumns(modes: readonly GraphModeChange[], end_ns: number) {
  const margin = end_ns / 200;
  return columnsOf<GraphModeChange>("graphs", "modes", "", modes, {
    cells: {
      time_ns: {
        cell: (row) => (
          <a href={timelineHash(row.time_ns - margin, row.time_ns + margin)}>
            {position(row.time_ns, end_ns)}
          </a>
        ),
      },
      name: { value: (row) => RECORDED[row.name] ?? null },
      node_count: {
        title: (row) => (row.node_count === null ? "their number was not the reason" : ""),
      },
    },
  });
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
  const key = loaded.state === "ready" ? loaded.value.by : "";
  const columns = useMemo(
    () => columnsOf("graphs", "graphs", key, rows, key === "node" ? NODES : GRAPHS),
    [rows, key],
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
          noun={nounOf("graphs", "graphs", key)}
          sort="total_ns"
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
              columns={modeColumns(modes, Math.max(1, meta.window_end_ns))}
              noun={nounOf("graphs", "modes")}
              sort="time_ns"
              isSide
            />
          </div>
        </div>
      )}
    </div>
  );
}
