// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Framework operations: time of the host, and of the kernels that they launched.

import { useMemo, useState } from "preact/hooks";
import { replaceParams, route } from "../app/state";
import { useResult } from "../app/use_result";
import { count, duration } from "../base/format";
import { opName } from "../base/names";
import type { Op, Ops as OpsResult } from "../data/results";
import {
  barColumn,
  type Column,
  countColumn,
  fixedColumn,
  msColumn,
  percentColumn,
  textColumn,
  usColumn,
} from "../parts/columns";
import { Segments } from "../parts/segments";
import { Loading, NotRecorded, whyNot } from "../parts/states";
import { Table } from "../parts/table";

type By = "ops" | "ops:module";

function columnsOf(result: OpsResult, rows: readonly Op[]): Column<Op>[] {
  const hasDevice = result.device_ns !== null;
  const device: Column<Op>[] = [
    msColumn("device", "GPU, ms", (op) => op.device_self_ns, {
      tip: "Time of the kernels that the operation itself launched",
    }),
    barColumn("device_bar", "", rows, (op) => op.device_self_ns),
    percentColumn("device_share", "of GPU", (op) => op.device_self_ratio),
    msColumn("device_total", "GPU total, ms", (op) => op.device_ns, { isHidden: true }),
    countColumn("device_count", "kernels", (op) => op.device_count),
  ];
  return [
    textColumn(
      "name",
      result.by === "module" ? "Module" : "Operation",
      (op) => opName(op.short_name),
      {
        width: "28%",
        title: (op) => op.name,
      },
    ),
    countColumn("count", "count", (op) => op.count),
    fixedColumn("per_step", "a step", (op) => op.count_per_step, 1),
    ...(hasDevice ? device : []),
    msColumn("self", hasDevice ? "host self, ms" : "self, ms", (op) => op.self_ns),
    ...(hasDevice ? [] : [barColumn<Op>("self_bar", "", rows, (op) => op.self_ns)]),
    percentColumn("self_share", "of all self", (op) => op.self_ratio),
    percentColumn("step_share", "of steps", (op) => op.step_ratio),
    msColumn("total", "total, ms", (op) => op.total_ns),
    usColumn("mean", "mean, µs", (op) => op.mean_ns),
    usColumn("median", "median, µs", (op) => op.median_ns || null, {
      isHidden: hasDevice,
      title: (op) => (op.median_ns === 0 ? "the trace keeps no median of this operation" : ""),
    }),
    usColumn("max", "max, µs", (op) => op.max_ns),
    countColumn("threads", "threads", (op) => op.thread_count, { isHidden: true }),
    textColumn("execution", "run as", (op) => (op.execution === "none" ? null : op.execution), {
      isHidden: true,
    }),
  ];
}

export function Ops() {
  const params = route.value.params;
  const [by, setBy] = useState<By>(params.get("by") === "module" ? "ops:module" : "ops");
  const loaded = useResult(by);
  const rows = loaded.state === "ready" ? loaded.value.ops : null;
  const columns = useMemo(
    () => (loaded.state === "ready" && rows !== null ? columnsOf(loaded.value, rows) : []),
    [loaded, rows],
  );
  if (loaded.state === "loading") return <Loading what="operations" />;
  const isEmpty = loaded.state === "absent" || loaded.value.ops.length === 0;
  if (isEmpty && by === "ops") {
    const skipped = loaded.state === "ready" ? loaded.value.meta.skipped : [];
    const { why, option } = whyNot(skipped, ["ops"], {
      why:
        loaded.state === "absent"
          ? loaded.reason
          : "The recording has no operations of a framework. They are recorded without an option if the program uses PyTorch:",
      option: "--trace ops",
    });
    return (
      <NotRecorded
        title="No operations were recorded"
        why={why}
        option={option}
        would="Operations by their own time on the host and by the time of the kernels that they launched, with counts for each step."
      />
    );
  }
  const choice = (
    <Segments
      label="Group by"
      options={[
        ["ops", "Operation"],
        ["ops:module", "Module"],
      ]}
      value={by}
      onChange={(next) => {
        setBy(next);
        replaceParams({ by: next === "ops:module" ? "module" : "" });
      }}
    />
  );
  const result = loaded.state === "ready" ? loaded.value : null;
  return (
    <div class="page">
      <div class="head">
        <h2>
          Operations
          {result !== null && (
            <small>
              {count(result.count)} calls, {duration(result.self_ns)} of the host
              {result.device_ns !== null && `, ${duration(result.device_ns)} of GPUs`}
              {result.step_ns !== null &&
                result.self_ns > 0 &&
                `; steps take ${duration(result.step_ns)}`}
            </small>
          )}
        </h2>
      </div>
      <Table
        key={by}
        rows={rows ?? []}
        columns={columns}
        noun={by === "ops" ? ["operation", "operations"] : ["module", "modules"]}
        sort={result?.device_ns == null ? "self" : "device"}
        height="calc(100vh - var(--tabs, 0px) - 170px)"
        initialFilter={params.get("q") ?? ""}
        extra={choice}
      />
      {isEmpty && (
        <p class="quiet">The recording has no modules. Python functions and ranges give them.</p>
      )}
    </div>
  );
}
