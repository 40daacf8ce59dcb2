// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Hardware counters of the GPUs, and why clocks were lowered.

import { useMemo } from "preact/hooks";
import { useResult } from "../app/use_result";
import { bytes, count, duration, percent } from "../base/format";
import type { Counters as CountersResult } from "../data/results";
import {
  type Column,
  countColumn,
  fixedColumn,
  idColumn,
  msColumn,
  textColumn,
} from "../parts/columns";
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

function columnsOf(): Column<Counter>[] {
  const value = (id: "mean" | "min" | "p50" | "p95" | "max", header: string): Column<Counter> =>
    fixedColumn(id, header, (counter) => counter[id], 2, {
      cell: (counter) => reading(counter[id], counter.unit),
    });
  return [
    textColumn("name", "Counter", (counter) => counter.name.replaceAll("_", " "), { width: "26%" }),
    idColumn("device", "GPU", (counter) => counter.device),
    value("mean", "mean"),
    value("min", "min"),
    value("p50", "median"),
    value("p95", "p95"),
    value("max", "max"),
    countColumn("count", "readings", (counter) => counter.count),
    fixedColumn("covered", "covered, s", (counter) => counter.covered_ns / 1e9, 2),
    textColumn("source", "source", (counter) => counter.source),
  ];
}

export function Counters() {
  const loaded = useResult("counters");
  const columns = useMemo(columnsOf, []);
  // Bits of a mask have no mean; the reasons have a table of their own.
  const rows = useMemo(
    () =>
      loaded.state === "ready"
        ? loaded.value.counters.filter((counter) => counter.unit !== "mask")
        : [],
    [loaded],
  );
  const reasons = useMemo(
    () => [
      textColumn<CountersResult["reasons"][number]>("name", "Clocks were lowered by", (row) =>
        row.name.replaceAll("_", " "),
      ),
      idColumn<CountersResult["reasons"][number]>("device", "GPU", (row) => row.device),
      msColumn<CountersResult["reasons"][number]>("total", "time, ms", (row) => row.total_ns),
    ],
    [],
  );
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
        noun={["counter", "counters"]}
        sort="name"
        height="max(280px, calc(100vh - var(--tabs, 0px) - 300px))"
      />
      {loaded.value.reasons.length > 0 && (
        <section class="section">
          <Table
            rows={loaded.value.reasons}
            columns={reasons}
            noun={["reason", "reasons"]}
            sort="total"
          />
        </section>
      )}
    </div>
  );
}
