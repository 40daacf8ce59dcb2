// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Framework operations: time of the host, and of the kernels that they launched.

import { useMemo, useState } from "preact/hooks";
import { replaceParams, route } from "../app/state";
import { useResult } from "../app/use_result";
import { count, duration } from "../base/format";
import { opName } from "../base/names";
import type { Op } from "../data/results";
import { columnsOf, nounOf, type Own } from "../parts/described";
import { Segments } from "../parts/segments";
import { Loading, NotRecorded, whyNot } from "../parts/states";
import { Table } from "../parts/table";

type By = "ops" | "ops:module";

/** What operations are sorted by, with a device and without one. */
const DEVICE = "device_self_ns";
const HOST = "self_ns";

const OPS: Own<Op> = {
  cells: {
    name: { value: (op) => opName(op.short_name) },
    count_per_step: { isHidden: false },
    median_ns: {
      title: (op) => (op.median_ns === 0 ? "the trace keeps no median of this operation" : ""),
    },
  },
};

export function Ops() {
  const params = route.value.params;
  const [by, setBy] = useState<By>(params.get("by") === "module" ? "ops:module" : "ops");
  const loaded = useResult(by);
  const rows = loaded.state === "ready" ? loaded.value.ops : null;
  const sort = loaded.state === "ready" && loaded.value.device_ns !== null ? DEVICE : HOST;
  const key = loaded.state === "ready" ? loaded.value.by : "";
  const columns = useMemo(
    () => columnsOf("ops", "ops", key, rows ?? [], { ...OPS, sort }),
    [rows, key, sort],
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
        noun={by === "ops" ? nounOf("ops", "ops") : ["module", "modules"]}
        sort={sort}
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
