// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Tables of the overview about the host: functions that use processors, locks that threads wait for,
// and where the heap was allocated.

import { useMemo } from "preact/hooks";
import { hashOf } from "../app/state";
import { useSmallResult } from "../app/use_result";
import { bytes, count } from "../base/format";
import type { FunctionTime, HeapStack, Lock, Overview } from "../data/results";
import {
  countColumn,
  mibColumn,
  percentColumn,
  textColumn,
  timeColumn,
  unitOfTimes,
} from "../parts/columns";
import { Table } from "../parts/table";

const MOST_ROWS = 8;

/** Shows the functions that used most processor time, each with the libraries that it called. */
export function TopFunctions({ functions }: { functions: readonly FunctionTime[] }) {
  const rows = useMemo(() => functions.slice(0, MOST_ROWS), [functions]);
  const columns = useMemo(() => {
    const unit = unitOfTimes(rows[0]?.program_ns ?? 0);
    return [
      textColumn<FunctionTime>("name", "Function", (row) => row.name, {
        width: "52%",
        title: (row) => `${row.name} ${row.place}`,
      }),
      timeColumn<FunctionTime>("time", "", unit, (row) => row.program_ns),
      percentColumn<FunctionTime>("share", "share", (row) => row.program_ratio),
      timeColumn<FunctionTime>("gil", "GIL", unit, (row) => row.gil_total_ns, { leaves: 3 }),
    ];
  }, [rows]);
  return (
    <div class="third">
      <h2>
        Top functions<small>by processor time, with libraries</small>
      </h2>
      <Table rows={rows} columns={columns} noun={["function", "functions"]} sort="time" isSide />
      <p>
        <a href="#python">All functions</a> ·{" "}
        <a href={hashOf("stacks", { by: "cpu" })}>Flame graph</a>
      </p>
    </div>
  );
}

/** Returns the locks that other threads held while somebody waited, the longest waits first. */
export function locksOf(overview: Overview): Lock[] {
  return overview.top_locks
    .filter((lock) => lock.contended)
    .sort((a, b) => b.total_ns - a.total_ns)
    .slice(0, MOST_ROWS);
}

/** Shows the locks that threads waited for longest. */
export function TopLocks({ locks }: { locks: readonly Lock[] }) {
  const columns = useMemo(() => {
    const unit = unitOfTimes(locks[0]?.total_ns ?? 0);
    return [
      textColumn<Lock>("name", "Waits in", (lock) => lock.short_name || lock.name, {
        width: "52%",
        title: (lock) => lock.name,
      }),
      timeColumn<Lock>("total", "", unit, (lock) => lock.total_ns),
      countColumn<Lock>("count", "waits", (lock) => lock.count),
      textColumn<Lock>("holders", "held by", (lock) => lock.holders.join(", "), {
        isSearched: false,
        width: "20%",
        leaves: 3,
      }),
    ];
  }, [locks]);
  return (
    <div class="third">
      <h2>
        Who waits for whom<small>for locks that other threads held</small>
      </h2>
      <Table rows={locks} columns={columns} noun={["lock", "locks"]} sort="total" isSide />
      <p>
        <a href="#locks">All locks</a>
      </p>
    </div>
  );
}

/** One function of the program, with all its stacks. */
interface Site {
  readonly name: string;
  readonly whole: string;
  readonly peak_bytes: number;
  readonly count: number;
}

/** Returns the functions that allocated what lived at the peak, the largest first. */
export function sitesOf(stacks: readonly HeapStack[], pid: number): Site[] {
  const sums = new Map<string, Site>();
  for (const stack of stacks) {
    if (stack.pid !== pid || stack.peak_bytes === 0) continue;
    const sum = sums.get(stack.name);
    sums.set(stack.name, {
      name: stack.short_name || stack.name,
      whole: stack.name,
      peak_bytes: stack.peak_bytes + (sum?.peak_bytes ?? 0),
      count: stack.count + (sum?.count ?? 0),
    });
  }
  return [...sums.values()].sort((a, b) => b.peak_bytes - a.peak_bytes);
}

/** Shows where the memory of the peak was allocated. */
export function TopSites({ overview }: { overview: Overview }) {
  const heap = useSmallResult("heap");
  const pid = overview.memory?.peak_pid ?? 0;
  const peak = overview.memory?.peak_bytes ?? 0;
  const rows = useMemo(
    () => (heap.state === "ready" ? sitesOf(heap.value.stacks, pid).slice(0, MOST_ROWS) : []),
    [heap, pid],
  );
  const columns = useMemo(
    () => [
      textColumn<Site>("name", "Allocated in", (site) => site.name, {
        width: "52%",
        title: (site) => site.whole,
      }),
      mibColumn<Site>("peak", "MiB", (site) => site.peak_bytes),
      percentColumn<Site>("share", "of peak", (site) =>
        peak === 0 ? null : site.peak_bytes / peak,
      ),
      countColumn<Site>("count", "count", (site) => site.count, { leaves: 3 }),
    ],
    [peak],
  );
  if (rows.length === 0) return null;
  return (
    <div class="third">
      <h2>
        Memory at the peak<small>of {bytes(peak)}</small>
      </h2>
      <Table rows={rows} columns={columns} noun={["place", "places"]} sort="peak" isSide />
      <p>
        <a href="#memory">Memory over time</a>
      </p>
    </div>
  );
}

/** Tells in one sentence where the heap's peak comes from; "": no heap was recorded. */
export function heapSentence({ memory }: Overview): string {
  if (memory === null || memory.peak_bytes === 0 || memory.peak_stack_name === "") return "";
  const part = `${bytes(memory.peak_stack_bytes)} of the heap’s peak of ${bytes(memory.peak_bytes)}`;
  const lost = memory.lost_count > 0 ? `; ${count(memory.lost_count)} records are lost` : "";
  return `${part} come from one call stack in ${memory.peak_stack_name}${lost}.`;
}
