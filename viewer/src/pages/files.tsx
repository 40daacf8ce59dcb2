// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads of files: which, how much, how fast.

import { useMemo } from "preact/hooks";
import { hashOf } from "../app/state";
import { useKeyed } from "../app/use_keyed";
import { bytes, count, duration, percent, plural, speed } from "../base/format";
import type { FileReads, Files as FilesResult } from "../data/results";
import { longestCell } from "../parts/columns";
import { columnsOf, type Own } from "../parts/described";
import { type Figure, Figures } from "../parts/figures";
import { Loading, NotRecorded, whyNot } from "../parts/states";
import { Table } from "../parts/table";

type By = "files" | "files:thread";

const CHOICES: readonly (readonly [By, string])[] = [
  ["files", "File"],
  ["files:thread", "Thread"],
];

const THREADS: Own<FileReads> = {
  bar: { color: () => "d_input" },
  cells: {
    max_ns: longestCell(
      (row) => row.max_ns,
      (row) => ({ start_ns: row.max_start_ns, pid: row.max_pid, tid: row.max_tid }),
    ),
  },
};

const FILES: Own<FileReads> = {
  ...THREADS,
  cells: {
    ...THREADS.cells,
    name: {
      cell: (row) => (
        <a href={hashOf("timeline", { q: row.name.slice(0, 200) })}>
          {(row.short_name || row.name).slice(0, 300)}
        </a>
      ),
    },
  },
};

function figuresOf(result: FilesResult): Figure[] {
  const { total_bytes, total_ns, captured_ns } = result;
  return [
    {
      label: "Read",
      value: bytes(total_bytes),
      below: `in ${plural(result.count, "call", "calls")}`,
    },
    {
      label: "Time in reads",
      value: duration(total_ns),
      below: "summed over threads",
    },
    {
      label: "Of the captured time",
      value: percent(captured_ns === 0 ? null : total_ns / captured_ns),
      below: `of ${duration(captured_ns)}`,
    },
    {
      label: "Speed",
      value: total_bytes === 0 ? "—" : speed(total_bytes, total_ns),
      below: "size by time of the calls",
    },
    { label: "Files", value: count(result.file_count), below: "different paths" },
    { label: "Threads", value: count(result.thread_count), below: "that read" },
    {
      label: "Failed",
      value: count(result.failed_count),
      below: result.failed_count === 0 ? "no read failed" : "reads that failed",
    },
  ];
}

export function Files() {
  const { by, loaded, choice } = useKeyed<By>(CHOICES);
  const rows = loaded.state === "ready" ? loaded.value.files : [];
  const key = loaded.state === "ready" ? loaded.value.by : "";
  const columns = useMemo(
    () => columnsOf("files", "files", key, rows, key === "thread" ? THREADS : FILES),
    [rows, key],
  );
  if (loaded.state === "loading") return <Loading what="reads of files" />;
  if (loaded.state === "absent" || (loaded.value.count === 0 && rows.length === 0)) {
    const skipped = loaded.state === "ready" ? loaded.value.meta.skipped : [];
    const { why, option } = whyNot(skipped, ["files"], {
      why: loaded.state === "absent" ? loaded.reason : "The program read no file in the capture.",
      option: loaded.state === "absent" ? "--trace files" : "",
    });
    return (
      <NotRecorded
        title="No file reads were recorded"
        why={why}
        option={option}
        would="Which files the program read, how much and how fast, and which threads waited for them."
      />
    );
  }
  return (
    <div class="page">
      <div class="head">
        <h2>
          File reads
          <small>
            {bytes(loaded.value.total_bytes)} of {plural(loaded.value.file_count, "file", "files")}
          </small>
        </h2>
      </div>
      <Figures figures={figuresOf(loaded.value)} />
      <div class="section">
        <Table
          key={by}
          rows={rows}
          columns={columns}
          noun={by === "files" ? ["file", "files"] : ["thread", "threads"]}
          sort="total_ns"
          height="max(280px, calc(100vh - var(--tabs, 0px) - 280px))"
          extra={choice}
        />
      </div>
    </div>
  );
}
