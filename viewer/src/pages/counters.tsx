// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Hardware counters of the GPUs, and why clocks were lowered.

import { useMemo } from "preact/hooks";
import { useResult } from "../app/use_result";
import { bytes, count, duration, percent } from "../base/format";
import type { Counters as CountersResult } from "../data/results";
import type { Column } from "../parts/columns";
import { columnsOf, nounOf, type Own, plainWord } from "../parts/described";
import { Loading, NotRecorded, whyNot } from "../parts/states";
import { Table } from "../parts/table";

type Counter = CountersResult["counters"][number];

/** Writes a reading in the unit of its counter. */
export function reading(value: number, unit: string): string {
  if (unit === "ratio") return percent(value);
  if (unit === "bytes") return bytes(value);
  if (unit === "bytes/s") return `${bytes(value)}/s`;
  if (unit === "C") return `${value.toFixed(0)}\u202f°C`;
  const digits = Math.abs(value) >= 100 ? 0 : 2;
  const text = value.toLocaleString("en-US", { maximumFractionDigits: digits });
  return unit === "" || unit === "count" ? text : `${text}\u202f${unit}`;
}

const inItsUnit = (field: "mean" | "min" | "p50" | "p95" | "max"): Partial<Column<Counter>> => ({
  cell: (counter) => reading(counter[field], counter.unit),
});

const COUNTERS: Own<Counter> = {
  cells: {
    name: { width: "26%", value: (counter) => plainWord(counter.name) },
    mean: inItsUnit("mean"),
    min: inItsUnit("min"),
    p50: inItsUnit("p50"),
    p95: inItsUnit("p95"),
    max: inItsUnit("max"),
  },
};

const REASONS: Own<CountersResult["reasons"][number]> = {
  bar: false,
  cells: { name: { value: (row) => plainWord(row.name) } },
};

export function Counters() {
  const loaded = useResult("counters");
  // Bits of a mask have no mean; the reasons have a table of their own.
  const rows = useMemo(
    () =>
      loaded.state === "ready"
        ? loaded.value.counters.filter((counter) => counter.unit !== "mask")
        : [],
    [loaded],
  );
  const columns = useMemo(() => columnsOf("counters", "counters", "", rows, COUNTERS), [rows]);
  if (loaded.state === "loading") return <Loading what="counters" />;
  if (loaded.state === "absent" || loaded.value.counters.length === 0) {
    const skipped = loaded.state === "ready" ? loaded.value.meta.skipped : [];
    const absence = loaded.state === "ready" ? loaded.value.absence : loaded.reason;
    const { why, option } = whyNot(skipped, ["counters", "gpu_metrics"], {
      why:
        absence === ""
          ? "No GPU gave readings. On a machine with an NVIDIA GPU they are read without an option."
          : `${absence.charAt(0).toUpperCase()}${absence.slice(1)}${absence.endsWith(".") ? "" : "."}`,
      option: "",
    });
    return (
      <NotRecorded
        title="No hardware counters were recorded"
        why={why}
        option={option}
        would="Use of multiprocessors, tensor cores and memory, clocks and power over the capture."
      />
    );
  }
  const { reasons } = loaded.value;
  const covered = Math.max(...loaded.value.counters.map((counter) => counter.covered_ns));
  return (
    <div class="page">
      <div class="head">
        <h2>
          Counters
          <small>
            {count(rows.length)} counters over {duration(covered)}
          </small>
        </h2>
      </div>
      <Table
        rows={rows}
        columns={columns}
        noun={nounOf("counters", "counters")}
        sort="name"
        height="max(280px, calc(100vh - var(--tabs, 0px) - 300px))"
      />
      {reasons.length > 0 && (
        <section class="section">
          <Table
            rows={reasons}
            columns={columnsOf("counters", "reasons", "", reasons, REASONS)}
            noun={nounOf("counters", "reasons")}
            sort="total_ns"
          />
        </section>
      )}
    </div>
  );
}
