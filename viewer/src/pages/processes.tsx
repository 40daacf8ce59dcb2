// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The processes of the run: what each is, when it lived, how it ended.

import { useMemo, useState } from "preact/hooks";
import { narrowTo } from "../app/scope";
import { timelineHash } from "../app/state";
import { useResult } from "../app/use_result";
import { duration, plural } from "../base/format";
import type { OverviewProcess } from "../data/results";
import type { Column } from "../parts/columns";
import { columnsOf, nounOf, type Own } from "../parts/described";
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

/** What the page adds to the columns of processes: when each lived. */
function ownOf(rows: readonly OverviewProcess[]): Own<OverviewProcess> {
  let end = 1;
  for (const process of rows) end = Math.max(end, process.end_ns);
  const bar: Column<OverviewProcess> = {
    id: "bar",
    header: "in the run",
    value: (process) => process.start_ns,
    cell: (process) => <LifeBar process={process} end={end} />,
    isBar: true,
    width: "22%",
  };
  return {
    bar: false,
    behind: { end_ns: [bar] },
    cells: {
      pid: { isHidden: false },
      name: { width: "16%" },
      ended: {
        title: (process) => (process.recovered ? "killed: its trace was recovered" : process.ended),
      },
    },
  };
}

export function Processes() {
  const loaded = useResult("overview");
  const rows = loaded.state === "ready" ? loaded.value.processes : [];
  const columns = useMemo(() => columnsOf("overview", "processes", "", rows, ownOf(rows)), [rows]);
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
        noun={nounOf("overview", "processes")}
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
