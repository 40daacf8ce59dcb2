// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Folds a track of the made-up trace, as the reader of real traces does: short events are gathered
// into cells whose width is a power of two, aligned to time 0, with exact sums.

import type { Bars, Spans, TrackKind } from "../trace/api";
import { columnOf } from "./store";

/** A track of the made-up trace; rows are sorted by start. */
export interface MadeTrack {
  readonly kind: TrackKind;
  readonly process: number;
  readonly name: string;
  readonly device: number | null;
  readonly tid: number | null;
  readonly depths: number;
  /** Unit of a counter; "": the track has slices. */
  readonly unit: string;
  /** Track that `join` is about. */
  readonly other: number;
  readonly start: Float64Array;
  readonly duration: Float64Array;
  readonly name_of: Uint32Array;
  readonly cls: Uint8Array;
  readonly depth: Uint8Array;
  /** The launch of a kernel, the kernel of a launch; -1: none. */
  readonly join: Int32Array;
  readonly value: Float64Array;
}

interface Cell {
  readonly at: number;
  readonly start: number;
  end: number;
  count: number;
  busy: number;
  until: number;
  readonly row: number;
  /** Time by column and class; and from when until when something ran in a column. */
  readonly columns: Map<number, number>;
  readonly extents: Map<number, [number, number]>;
  readonly byClass: Map<number, number>;
}

interface Slice {
  readonly start: number;
  readonly end: number;
  readonly depth: number;
  readonly name: number;
  readonly cls: number;
  readonly row: number;
  readonly count: number;
  readonly busy: number;
  readonly cell: Cell | null;
}

const NONE = 0xffffffff;
const CLASSES_MOST = 32;

/** Returns what is drawn of a track in a window. */
export function fold(
  track: MadeTrack,
  start_ns: number,
  end_ns: number,
  ns_per_px: number,
): { slices: Omit<Spans, "track" | "bars">; bars: Bars } {
  const column = columnOf(ns_per_px);
  const width = column * 64;
  const short = ns_per_px * 4;
  const gap = ns_per_px * 10;
  const slices: Slice[] = [];
  const open = new Map<number, Cell>();
  const close = (depth: number): void => {
    const cell = open.get(depth);
    if (cell === undefined) return;
    open.delete(depth);
    const single = cell.count === 1;
    let cls = track.cls[cell.row] ?? 0;
    let most = -1;
    for (const [one, time] of cell.byClass) if (time > most) [cls, most] = [one, time];
    slices.push({
      start: cell.start,
      end: cell.end,
      depth,
      name: single ? (track.name_of[cell.row] ?? 0) : NONE,
      cls,
      row: single ? cell.row : NONE,
      count: cell.count,
      busy: cell.busy,
      cell: single ? null : cell,
    });
  };
  for (let i = 0; i < track.start.length; i++) {
    const start = track.start[i] ?? 0;
    if (start > end_ns) break;
    const duration = track.duration[i] ?? 0;
    const end = start + duration;
    if (end < start_ns) continue;
    const depth = track.depth[i] ?? 0;
    const cls = track.cls[i] ?? 0;
    if (duration >= short) {
      close(depth);
      const name = track.name_of[i] ?? 0;
      slices.push({ start, end, depth, name, cls, row: i, count: 1, busy: duration, cell: null });
      continue;
    }
    const at = Math.floor(start / width);
    let cell = open.get(depth);
    if (cell !== undefined && (cell.at !== at || start - cell.end > gap)) {
      close(depth);
      cell = undefined;
    }
    if (cell === undefined) {
      cell = {
        at,
        start,
        end,
        count: 0,
        busy: 0,
        until: start,
        row: i,
        columns: new Map(),
        extents: new Map(),
        byClass: new Map(),
      };
      open.set(depth, cell);
    }
    cell.count++;
    cell.busy += Math.max(0, end - Math.max(start, cell.until));
    cell.until = Math.max(cell.until, end);
    cell.end = Math.max(cell.end, end);
    cell.byClass.set(cls, (cell.byClass.get(cls) ?? 0) + duration);
    for (let from = start; from < end; ) {
      const index = Math.floor(from / column);
      const to = Math.min(end, (index + 1) * column);
      const key = index * CLASSES_MOST + cls;
      cell.columns.set(key, (cell.columns.get(key) ?? 0) + to - from);
      const [first, last] = cell.extents.get(index) ?? [from, to];
      cell.extents.set(index, [Math.min(first, from), Math.max(last, to)]);
      from = to;
    }
  }
  for (const depth of [...open.keys()]) close(depth);
  slices.sort((a, b) => a.start - b.start || a.depth - b.depth);
  return { slices: pack(slices), bars: packBars(slices) };
}

function pack(slices: readonly Slice[]): Omit<Spans, "track" | "bars"> {
  return {
    start_ns: Float64Array.from(slices, (slice) => slice.start),
    end_ns: Float64Array.from(slices, (slice) => slice.end),
    depth: Uint8Array.from(slices, (slice) => slice.depth),
    name: Uint32Array.from(slices, (slice) => slice.name),
    cls: Uint8Array.from(slices, (slice) => slice.cls),
    row: Uint32Array.from(slices, (slice) => slice.row),
    count: Uint32Array.from(slices, (slice) => slice.count),
    busy_ns: Float64Array.from(slices, (slice) => slice.busy),
  };
}

function packBars(slices: readonly Slice[]): Bars {
  const first: number[] = [];
  const start: number[] = [];
  const end: number[] = [];
  const cls: number[] = [];
  const busy: number[] = [];
  for (const slice of slices) {
    first.push(start.length);
    const bars = [...(slice.cell?.columns ?? [])].sort((a, b) => a[0] - b[0]);
    for (const [key, time] of bars) {
      const [first, last] = slice.cell?.extents.get(Math.floor(key / CLASSES_MOST)) ?? [0, 0];
      start.push(first);
      end.push(last);
      cls.push(key % CLASSES_MOST);
      busy.push(time);
    }
  }
  first.push(start.length);
  return {
    first: Uint32Array.from(first),
    start_ns: Float64Array.from(start),
    end_ns: Float64Array.from(end),
    cls: Uint8Array.from(cls),
    busy_ns: Float64Array.from(busy),
  };
}
