// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The processes of the run: what each is, when it lived, how it ended.

import { useMemo, useState } from "preact/hooks";
import { narrowTo } from "../app/scope";
import { timelineHash } from "../app/state";
import { useResult } from "../app/use_result";
import { duration, plural } from "../base/format";
import type { OverviewProcess } from "../data/results";
import {
  type Column,
  countColumn,
  fixedColumn,
  idColumn,
  percentColumn,
  textColumn,
} from "../parts/columns";
import { Broken, Loading } from "../parts/states";
import { Table } from "../parts/table";

/** A bar where the process lived within the run. */
function LifeBar({ process, end }: { process: OverviewProcess; end: number }) {
  const begin = Math.max(0, process.start_ns);
  const width = Math.max(0, process.end_ns - begin);
  return (
    <div>
      <span style={{ width: `${((begin / end) * 100).toFixed(2)}%` }} />
      <u style={{ width: `${((width / end) * 100).toFixed(2)}%` }} />
    </div>
  );
}

function columnsOf(rows: readonly OverviewProcess[]): Column<OverviewProcess>[] {
  let end = 1;
  for (const process of rows) end = Math.max(end, process.end_ns);
  return [
    textColumn("name", "Process", (process) => process.name, { width: "16%" }),
    idColumn("pid", "pid", (process) => process.pid),
    idColumn("ppid", "parent", (process) => process.ppid),
    textColumn("host", "host", (process) => process.host || null),
    textColumn("role", "role", (process) => process.role.replaceAll("_", " ")),
    fixedColumn("start", "start, s", (process) => process.start_ns / 1e9, 2),
    fixedColumn("life", "life, s", (process) => (process.end_ns - process.start_ns) / 1e9, 2),
    {
      id: "bar",
      header: "in the run",
      value: (process) => process.start_ns,
      cell: (process) => <LifeBar process={process} end={end} />,
      isBar: true,
      width: "22%",
    },
    percentColumn("cpu", "of a processor", (process) => process.cpu_ratio),
    countColumn("threads", "threads", (process) => process.thread_count),
    countColumn("steps", "steps", (process) => process.step_count),
    countColumn("count", "events", (process) => process.count),
    countColumn("lost", "lost", (process) => process.lost_count),
    textColumn("ended", "ended", (process) => process.ended || null, {
      title: (process) => (process.recovered ? "killed: its trace was recovered" : process.ended),
    }),
  ];
}

export function Processes() {
  const loaded = useResult("overview");
  const rows = loaded.state === "ready" ? loaded.value.processes : [];
  const columns = useMemo(() => columnsOf(rows), [rows]);
  const [picked, setPicked] = useState<OverviewProcess | null>(null);
  if (loaded.state === "loading") return <Loading what="processes" />;
  if (loaded.state === "absent") {
    return (
      <div class="page">
        <Broken title="The processes are not there">{loaded.reason}</Broken>
      </div>
    );
  }
  const window = loaded.value.meta.window_end_ns - loaded.value.meta.window_start_ns;
  return (
    <div class="page">
      <div class="head">
        <h2>
          Processes
          <small>
            {plural(rows.length, "process", "processes")} in {duration(window)};{" "}
            <a href={timelineHash(0, window)}>show in timeline</a>
          </small>
        </h2>
      </div>
      <Table
        rows={rows}
        columns={columns}
        noun={["process", "processes"]}
        sort="count"
        height="calc(100vh - var(--tabs, 0px) - 170px)"
        picked={picked}
        onPick={setPicked}
        extra={
          picked !== null && (
            <button type="button" class="button" onClick={() => narrowTo({ pid: picked.pid })}>
              Narrow all pages to it
            </button>
          )
        }
      />
    </div>
  );
}
