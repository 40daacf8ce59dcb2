// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which row of its track a slice takes. Mostly that is its depth. In Python the outer frames, which
// hold all that is seen, share one line that names them; plumbing that only calls takes no row.

import type { Spans, TrackKind } from "../trace/api";

/** A slice without a row. */
export const NO_ROW = 255;
const MOST_ROWS = 250;

export interface Rows {
  /** By slice; NO_ROW: it takes none. */
  readonly row: Uint8Array;
  readonly count: number;
  /** What took no row, as words; "": everything has one. */
  readonly caption: string;
  /** Names of the outer frames, which share the first row; none: the row is a slice's. */
  readonly outer: readonly string[];
  /** The outer frames have rows of their own, below the line that names them. */
  readonly isUnfolded: boolean;
}

/** A frame that holds this share of what is loaded is an outer one, if it is alone in its level. */
const OUTER_SHARE = 0.5;

// Frames of torch.nn.Module that stand between each module and its forward().
const PLUMBING = /(^|[\s.:])(_wrapped_call_impl|_call_impl)\b/;

/** Says if a frame only calls the next one. */
export function isPlumbing(name: string): boolean {
  return name.length < 1000 && PLUMBING.test(name);
}

/** Returns the outermost slices that are alone in their level and hold most of the window. */
function outerSlices(spans: Spans, start: number, end: number): number[] {
  const levels = new Map<number, { n: number; slice: number }>();
  for (let i = 0; i < spans.depth.length; i++) {
    const depth = spans.depth[i] ?? 0;
    const level = levels.get(depth) ?? { n: 0, slice: i };
    levels.set(depth, level);
    level.n++;
  }
  const least = (end - start) * OUTER_SHARE;
  const outer: number[] = [];
  for (;;) {
    const level = levels.get(outer.length);
    if (level === undefined || level.n !== 1 || spans.count[level.slice] !== 1) break;
    const from = Math.max(start, spans.start_ns[level.slice] ?? 0);
    const to = Math.min(end, spans.end_ns[level.slice] ?? 0);
    if (to - from < least) break;
    outer.push(level.slice);
  }
  // The innermost level stays: a track that is not empty shows something.
  if (!levels.has(outer.length)) outer.pop();
  return outer;
}

/** Returns rows for the slices of an answer about the window from `start` to `end`. */
export function rowsOf(
  spans: Spans,
  names: readonly string[],
  kind: TrackKind,
  start: number,
  end: number,
  isUnfolded = false,
): Rows {
  const n = spans.start_ns.length;
  const row = new Uint8Array(n);
  const python = kind === "python";
  const held = python ? outerSlices(spans, start, end) : [];
  const outer = isUnfolded ? 0 : held.length;
  const line = held.length > 0 ? 1 : 0;
  const plumbing = python ? names.map(isPlumbing) : [];
  const openEnd: number[] = [];
  const openPlumbing: boolean[] = [];
  // Ends of the rows. A folded cell may stand where the frames above it took no row; then it moves
  // down instead of covering its neighbour.
  const rowEnd: number[] = [];
  const rowDepth: number[] = [];
  let most = 0;
  let plumbed = 0;
  for (let i = 0; i < n; i++) {
    const depth = spans.depth[i] ?? 0;
    if (!python) {
      row[i] = Math.min(depth, MOST_ROWS);
      most = Math.max(most, depth);
      continue;
    }
    const from = spans.start_ns[i] ?? 0;
    const to = spans.end_ns[i] ?? 0;
    const isPlumb = spans.count[i] === 1 && plumbing[spans.name[i] ?? -1] === true;
    openEnd[depth] = to;
    openPlumbing[depth] = isPlumb;
    if (depth < outer || isPlumb) {
      if (isPlumb && depth >= outer) plumbed++;
      row[i] = NO_ROW;
      continue;
    }
    let at = depth - outer + line;
    for (let above = outer; above < depth; above++) {
      if (openPlumbing[above] === true && (openEnd[above] ?? 0) > from) at--;
    }
    while (at < MOST_ROWS && rowDepth[at] !== depth && (rowEnd[at] ?? -Infinity) > from) at++;
    rowEnd[at] = to;
    rowDepth[at] = depth;
    row[i] = at;
    most = Math.max(most, at);
  }
  return {
    row,
    count: Math.min(most + 1, MOST_ROWS + 1),
    caption: plumbed > 0 ? "_call_impl folded" : "",
    outer: held.map((i) => names[spans.name[i] ?? -1] ?? ""),
    isUnfolded,
  };
}
