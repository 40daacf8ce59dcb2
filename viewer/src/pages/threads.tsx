// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Threads: processor time, waiting for a processor, operations, waits.

import { useMemo } from "preact/hooks";
import { useResult } from "../app/use_result";
import { duration, percent, plural } from "../base/format";
import type { Look } from "../base/vocabulary";
import type { Thread } from "../data/results";
import { fillOf, Legend } from "../parts/bars";
import type { Column } from "../parts/columns";
import { columnsOf, nounOf, type Own } from "../parts/described";
import { Loading, NotRecorded, Remark, whyNot } from "../parts/states";
import { Table } from "../parts/table";

const PARTS = [
  { name: "On a processor", look: "d_forward" },
  { name: "Ready, without a processor", look: "late" },
  { name: "Contended locks", look: "wait" },
] as const;

function lifeTimes(thread: Thread): readonly (readonly [Look, number])[] {
  return [
    ["d_forward", thread.cpu_ns ?? 0],
    ["late", thread.runqueue_wait_ns ?? 0],
    ["wait", thread.contended_ns],
  ];
}

/** What the page adds to the columns of threads: a bar of each life. */
function ownOf(threads: readonly Thread[]): Own<Thread> {
  let longest = 1;
  for (const thread of threads) longest = Math.max(longest, thread.life_ns);
  const bar: Column<Thread> = {
    id: "bar",
    header: "",
    value: (thread) => thread.cpu_ns,
    cell: (thread) => (
      <div>
        {lifeTimes(thread).map(([look, time]) =>
          time <= 0 ? null : (
            <u
              key={look}
              class={fillOf(look).class}
              style={{
                width: `${((time / longest) * 100).toFixed(2)}%`,
                ...fillOf(look).style,
              }}
            />
          ),
        )}
      </div>
    ),
    isBar: true,
    width: "18%",
  };
  return {
    bar: false,
    behind: { life_ns: [bar] },
    cells: {
      name: { value: (thread) => thread.name || "unnamed", width: "16%" },
      created_by: { value: (thread) => thread.created_by || null },
      step_thread: {
        value: (thread) =>
          thread.step_thread ? "runs steps" : thread.tool ? "gpuprof’s own" : null,
      },
    },
  };
}

export function Threads() {
  const loaded = useResult("threads");
  const rows = loaded.state === "ready" ? loaded.value.threads : [];
  const columns = useMemo(() => columnsOf("threads", "threads", "", rows, ownOf(rows)), [rows]);
  if (loaded.state === "loading") return <Loading what="threads" />;
  if (loaded.state === "absent" || rows.length === 0) {
    const reason = loaded.state === "absent" ? loaded.reason : "The recording names no threads.";
    return (
      <NotRecorded
        title="No threads were recorded"
        why={reason}
        option="--trace threads"
        would="Each thread with its time on a processor, without one, in operations and in waits."
      />
    );
  }
  const skipped = loaded.value.meta.skipped.filter((each) => each.name === "threads");
  const { why, option } = whyNot(skipped, ["threads"], { why: "", option: "" });
  return (
    <div class="page">
      {why !== "" && (
        <Remark>
          Times of threads were not recorded. {why} <code>{option}</code>
        </Remark>
      )}
      <div class="head">
        <h2>
          Threads
          <small>
            {loaded.value.processes
              .map(
                (process) =>
                  `${process.name} ${process.pid}: ${plural(process.thread_count, "thread", "threads")}, ${duration(
                    process.cpu_ns,
                  )} (${percent(process.cpu_ratio)} of a processor)`,
              )
              .slice(0, 3)
              .join("; ")}
          </small>
        </h2>
        <Legend parts={PARTS} />
      </div>
      <Table
        rows={rows}
        columns={columns}
        noun={nounOf("threads", "threads")}
        sort="cpu_ns"
        height="calc(100vh - var(--tabs, 0px) - 170px)"
      />
    </div>
  );
}
