// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Calls of CUDA: which, how long, what failed, and how long until the GPU began.

import { useMemo } from "preact/hooks";
import { hashOf } from "../app/state";
import { useKeyed } from "../app/use_keyed";
import { count, duration, percent, plural } from "../base/format";
import { CALL_KINDS, callKind, wordOf } from "../base/vocabulary";
import type { ApiCall, ApiCalls } from "../data/results";
import { merged, Swatch, WallBar } from "../parts/bars";
import { longestCell } from "../parts/columns";
import { columnsOf, type Own } from "../parts/described";
import { type Figure, Figures } from "../parts/figures";
import { Loading } from "../parts/states";
import { Table } from "../parts/table";
import { NoGpuWork } from "./no_gpu_work";

type By = "api" | "api:thread";

const CHOICES: readonly (readonly [By, string])[] = [
  ["api", "Function"],
  ["api:thread", "Thread"],
];

function lookOf(call: ApiCall) {
  return wordOf(CALL_KINDS, callKind(call.name)).look;
}

const THREADS: Own<ApiCall> = {
  cells: {
    max_ns: longestCell(
      (call) => call.max_ns,
      (call) => ({ start_ns: call.max_start_ns, pid: call.pid, tid: call.max_tid }),
    ),
    mean_delay_ns: { title: (call) => (call.work_count === 0 ? "these calls began no work" : "") },
  },
};

const FUNCTIONS: Own<ApiCall> = {
  bar: { color: lookOf },
  cells: {
    ...THREADS.cells,
    name: {
      cell: (call) => (
        <>
          <Swatch look={lookOf(call)} />
          <a href={hashOf("timeline", { q: call.name.slice(0, 200) })}>{call.name.slice(0, 300)}</a>
        </>
      ),
    },
  },
};

function figuresOf(result: ApiCalls): Figure[] {
  const { calls } = result;
  const work = calls.reduce((sum, call) => sum + call.work_count, 0);
  const delays = calls.reduce((sum, call) => sum + call.work_count * call.mean_delay_ns, 0);
  const errors = calls.reduce((sum, call) => sum + call.error_count, 0);
  const longest = calls.reduce<ApiCall | null>(
    (most, call) => (most === null || call.max_ns > most.max_ns ? call : most),
    null,
  );
  const waits = calls
    .filter((call) => callKind(call.name) === "wait")
    .reduce((sum, call) => sum + call.total_ns, 0);
  const figures: Figure[] = [
    { label: "Calls", value: count(result.count), below: "of the runtime and the driver" },
    { label: "Time in calls", value: duration(result.total_ns), below: "summed over threads" },
    { label: "Longest call", value: duration(longest?.max_ns), below: longest?.name ?? "" },
    { label: "Began work", value: count(work), below: "kernels, copies and sets" },
    {
      label: "Delay",
      value: duration(work === 0 ? null : delays / work),
      below: "mean, from the call until the GPU began",
    },
    {
      label: "Errors",
      value: count(errors),
      below: errors === 0 ? "no call failed" : "calls that failed",
      isCause: errors > 0,
    },
  ];
  if (result.by === "function") {
    const share = result.total_ns === 0 ? 0 : waits / result.total_ns;
    const below = `${duration(waits)} in calls that wait`;
    figures.splice(3, 0, { label: "Waiting", value: percent(share), below });
  }
  return figures;
}

export function Api() {
  const { by, loaded, choice } = useKeyed<By>(CHOICES);
  const rows = loaded.state === "ready" ? loaded.value.calls : [];
  const key = loaded.state === "ready" ? loaded.value.by : "";
  const columns = useMemo(
    () => columnsOf("api", "calls", key, rows, key === "thread" ? THREADS : FUNCTIONS),
    [rows, key],
  );
  if (loaded.state === "loading") return <Loading what="calls" />;
  if (loaded.state === "absent" || (loaded.value.count === 0 && rows.length === 0)) {
    return (
      <NoGpuWork
        loaded={loaded}
        what="calls of CUDA"
        title="No calls of CUDA were recorded"
        would="Calls of CUDA with their time on the host, what failed, and how long it took until the GPU began."
      />
    );
  }
  const order = Object.keys(CALL_KINDS);
  const parts = merged(
    rows.map((call) => ({ ...wordOf(CALL_KINDS, callKind(call.name)), value: call.total_ns })),
  ).sort((a, b) => place(order, a.name) - place(order, b.name));
  return (
    <div class="page">
      <div class="head">
        <h2>
          CUDA calls
          <small>
            {plural(loaded.value.count, "call", "calls")}, {duration(loaded.value.total_ns)} of the
            host’s time
          </small>
        </h2>
      </div>
      <Figures figures={figuresOf(loaded.value)} />
      {by === "api" && <WallBar parts={parts} whole={loaded.value.total_ns} />}
      <div class="section">
        <Table
          key={by}
          rows={rows}
          columns={columns}
          noun={by === "api" ? ["function", "functions"] : ["thread", "threads"]}
          sort="total_ns"
          height="max(280px, calc(100vh - var(--tabs, 0px) - 360px))"
          extra={choice}
        />
      </div>
    </div>
  );
}

function place(order: readonly string[], name: string): number {
  return order.findIndex((key) => CALL_KINDS[key]?.name === name);
}
