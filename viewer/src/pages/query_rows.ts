// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the rows of a query are, told by the names of its columns: places in the timeline, and what
// a chart can show.

import { placeHash, timelineHash } from "../app/state";
import type { QueryAnswer, QueryCell } from "../data/source";

export type Cells = readonly QueryCell[];

/** Returns whether all values of a column are numbers, as far as there are values. */
export function isNumeric(rows: readonly Cells[], place: number): boolean {
  let any = false;
  for (const row of rows) {
    const value = row[place] ?? null;
    if (value === null) continue;
    if (typeof value !== "number") return false;
    any = true;
  }
  return any;
}

function placeOf(columns: readonly string[], names: readonly string[]): number {
  for (const name of names) {
    const place = columns.indexOf(name);
    if (place >= 0) return place;
  }
  return -1;
}

/** Returns the link of a row to the timeline; undefined: the columns have no time. */
export function linkOfRows(columns: readonly string[]): ((row: Cells) => string) | undefined {
  const start = placeOf(columns, ["start_ns", "ts", "start", "time_ns"]);
  if (start < 0) return undefined;
  const length = placeOf(columns, ["dur_ns", "duration_ns", "dur"]);
  const end = placeOf(columns, ["end_ns", "end"]);
  const [pid, tid, device] = ["pid", "tid", "device"].map((name) => columns.indexOf(name));
  const numberAt = (row: Cells, place: number | undefined): number | null => {
    const value = place === undefined || place < 0 ? null : row[place];
    return typeof value === "number" ? value : null;
  };
  return (row) => {
    const from = numberAt(row, start);
    if (from === null) return "";
    const to = numberAt(row, end) ?? from + (numberAt(row, length) ?? 0);
    const process = numberAt(row, pid);
    if (process === null) return timelineHash(Math.max(0, from - 1e6), Math.max(from, to) + 1e6);
    return placeHash({
      start_ns: from,
      end_ns: to,
      pid: process,
      tid: numberAt(row, tid),
      device: numberAt(row, device),
    });
  };
}

/** A chart of two columns: bars with a name each, or a curve. */
export interface QueryChart {
  readonly kind: "bars" | "curve";
  readonly x: number;
  readonly y: number;
}

const MOST_BARS = 40;
const FEWEST_POINTS = 8;

/** Returns what two columns of an answer suit; undefined: no chart shows more than the table. */
export function chartOf({ columns, rows }: QueryAnswer): QueryChart | undefined {
  if (rows.length < 2 || columns.length < 2) return undefined;
  const numeric = columns.map((_, place) => isNumeric(rows, place));
  const x = 0;
  const y = numeric.findIndex((isNumber, place) => place > x && isNumber);
  if (y < 0) return undefined;
  if (numeric[x] !== true) {
    const isName = rows.every((row) => row[x] === null || typeof row[x] === "string");
    const isPositive = rows.every((row) => typeof row[y] !== "number" || row[y] >= 0);
    return isName && isPositive && rows.length <= MOST_BARS ? { kind: "bars", x, y } : undefined;
  }
  const isRising = rows.every((row, place) => {
    const before = place === 0 ? Number.NEGATIVE_INFINITY : rows[place - 1]?.[x];
    return typeof row[x] === "number" && typeof before === "number" && row[x] > before;
  });
  return isRising && rows.length >= FEWEST_POINTS ? { kind: "curve", x, y } : undefined;
}
