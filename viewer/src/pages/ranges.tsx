// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Ranges and marks of NVTX, ITT and PyTorch, with the time of the GPU below them.

import { useMemo } from "preact/hooks";
import { route } from "../app/state";
import { useResult } from "../app/use_result";
import { count } from "../base/format";
import { columnsOf, nounOf } from "../parts/described";
import { Loading, NotRecorded, whyNot } from "../parts/states";
import { Table } from "../parts/table";

export function Ranges() {
  const loaded = useResult("ranges");
  const rows = loaded.state === "ready" ? loaded.value.ranges : [];
  const columns = useMemo(() => columnsOf("ranges", "ranges", "name", rows), [rows]);
  if (loaded.state === "loading") return <Loading what="ranges" />;
  if (loaded.state === "absent" || rows.length === 0) {
    const skipped = loaded.state === "ready" ? loaded.value.meta.skipped : [];
    const { why, option } = whyNot(skipped, ["nvtx", "itt"], {
      why:
        loaded.state === "absent"
          ? loaded.reason
          : "The program marks no ranges. NVTX, ITT and record_function mark them, and no option is needed.",
      option: "",
    });
    return (
      <NotRecorded
        title="No ranges were recorded"
        why={why}
        option={option}
        would="Ranges that the program marks, with their own time, their time on GPUs, and how often they ran."
      />
    );
  }
  return (
    <div class="page">
      <div class="head">
        <h2>
          Ranges
          <small>
            {count(loaded.value.count)} ranges and {count(loaded.value.mark_count)} marks
          </small>
        </h2>
      </div>
      <Table
        rows={rows}
        columns={columns}
        noun={nounOf("ranges", "ranges")}
        sort="total_ns"
        height="calc(100vh - var(--tabs, 0px) - 170px)"
        initialFilter={route.value.params.get("q") ?? ""}
      />
    </div>
  );
}
