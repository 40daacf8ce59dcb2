// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Waits for the GPU: of threads of the host, and of streams for events.

import { useMemo } from "preact/hooks";
import { hashOf } from "../app/state";
import { useKeyed } from "../app/use_keyed";
import { count, duration, percent, plural } from "../base/format";
import type { Look } from "../base/vocabulary";
import type { Sync as SyncRow, Syncs } from "../data/results";
import { merged, WallBar } from "../parts/bars";
import { longestCell } from "../parts/columns";
import { columnsOf, type Own } from "../parts/described";
import { type Figure, Figures } from "../parts/figures";
import { Loading } from "../parts/states";
import { Table } from "../parts/table";
import { NoGpuWork } from "./no_gpu_work";

type By = "sync" | "sync:thread" | "sync:stream";

const CHOICES: readonly (readonly [By, string])[] = [
  ["sync", "Kind"],
  ["sync:thread", "Thread"],
  ["sync:stream", "Awaited stream"],
];

const KINDS: Readonly<Record<string, string>> = {
  event: "Thread for an event",
  stream: "Thread for a stream",
  context: "Thread for the whole GPU",
  stream_wait: "Stream for an event",
};

/** Returns whether no thread of the program waits. */
function isOfStream(row: SyncRow): boolean {
  return row.name === "stream_wait";
}

function lookOf(row: SyncRow): Look {
  return isOfStream(row) ? "bar" : "wait";
}

/** What the page adds to the columns of waits. */
function ownOf(by: By): Own<SyncRow> {
  return {
    bar: { color: lookOf },
    cells: {
      name: {
        width: "22%",
        value: (row) => (by === "sync" ? (KINDS[row.name] ?? row.name) : row.name),
      },
      function: {
        width: "20%",
        cell: (row) =>
          row.function === null ? null : (
            <a href={hashOf("timeline", { q: row.function.slice(0, 200) })}>
              {row.function.slice(0, 300)}
            </a>
          ),
      },
      total_ratio: {
        value: (row) => (isOfStream(row) ? null : row.total_ratio),
        cell: (row) => percent(isOfStream(row) ? null : row.total_ratio),
        title: (row) => (isOfStream(row) ? "no thread waits: it is no part of the sum" : ""),
      },
      max_ns: longestCell(
        (row) => row.max_ns,
        ({ max_start_ns, pid, max_tid, max_device }) => ({
          start_ns: max_start_ns,
          pid,
          tid: max_tid,
          device: max_device,
        }),
      ),
    },
  };
}

function figuresOf(result: Syncs): Figure[] {
  const sum = (rows: readonly SyncRow[], read: (row: SyncRow) => number) =>
    rows.reduce((total, row) => total + read(row), 0);
  const shorts = sum(result.syncs, (row) => row.short_count);
  const figures: Figure[] = [
    { label: "Threads waited", value: duration(result.host_ns), below: "summed over threads" },
    { label: "Waits", value: count(result.count), below: "of threads and of streams" },
    { label: "Longest wait", value: duration(result.host_max_ns), below: "of a thread" },
    {
      label: "Nothing left",
      value: percent(result.count === 0 ? null : shorts / result.count),
      below: `${plural(shorts, "wait", "waits")} shorter than 10 µs`,
    },
  ];
  if (result.by === "kind") {
    const streams = result.syncs.filter(isOfStream);
    const whole = result.syncs.filter((row) => row.name === "context");
    const waits = sum(whole, (row) => row.count);
    figures.push({
      label: "For the whole GPU",
      value: duration(sum(whole, (row) => row.total_ns)),
      below: plural(waits, "wait", "waits"),
    });
    figures.push({
      label: "Streams for events",
      value: count(sum(streams, (row) => row.count)),
      below: "no thread waits",
    });
  }
  return figures;
}

export function Sync() {
  const { by, loaded, choice } = useKeyed<By>(CHOICES);
  const rows = loaded.state === "ready" ? loaded.value.syncs : [];
  const key = loaded.state === "ready" ? loaded.value.by : "";
  const columns = useMemo(() => columnsOf("sync", "syncs", key, rows, ownOf(by)), [rows, key, by]);
  if (loaded.state === "loading") return <Loading what="waits for the GPU" />;
  if (loaded.state === "absent" || (loaded.value.count === 0 && rows.length === 0)) {
    return (
      <NoGpuWork
        loaded={loaded}
        what="waits for the GPU"
        title="No waits for the GPU were recorded"
        would="Waits of threads for the GPU by kind and call, waits of streams, and which of them had nothing left to wait for."
      />
    );
  }
  const parts = merged(
    rows
      .filter((row) => !isOfStream(row))
      .map((row) => ({ name: row.function ?? row.name, value: row.total_ns, look: lookOf(row) })),
  );
  return (
    <div class="page">
      <div class="head">
        <h2>
          Waits for the GPU
          <small>
            {plural(loaded.value.count, "wait", "waits")}; threads waited{" "}
            {duration(loaded.value.host_ns)}
          </small>
        </h2>
        <a href={hashOf("streams")}>Which stream waited for which</a>
      </div>
      <Figures figures={figuresOf(loaded.value)} />
      {by === "sync" && loaded.value.host_ns > 0 && (
        <WallBar parts={parts} whole={loaded.value.host_ns} />
      )}
      <div class="section">
        <Table
          key={by}
          rows={rows}
          columns={columns}
          noun={
            by === "sync"
              ? ["kind", "kinds"]
              : by === "sync:thread"
                ? ["thread", "threads"]
                : ["stream", "streams"]
          }
          sort="total_ns"
          extra={choice}
        />
      </div>
    </div>
  );
}
