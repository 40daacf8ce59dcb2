// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which row of its track a slice takes. Mostly that is its depth. In Python the outer frames that
// span all that is loaded take no row, nor does plumbing that only calls what is below.

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
}

// Frames of torch.nn.Module that stand between each module and its forward().
const PLUMBING = /(^|[\s.:])(_wrapped_call_impl|_call_impl)\b/;

/** Says if a frame only calls the next one. */
export function isPlumbing(name: string): boolean {
  return name.length < 1000 && PLUMBING.test(name);
}

/** Returns how many outermost levels are one event that spans the window. */
function outerLevels(spans: Spans, start: number, end: number): number {
  const levels = new Map<number, { n: number; spans: boolean }>();
  for (let i = 0; i < spans.depth.length; i++) {
    const depth = spans.depth[i] ?? 0;
    const level = levels.get(depth) ?? { n: 0, spans: false };
    levels.set(depth, level);
    level.n++;
    const from = spans.start_ns[i] ?? 0;
    const to = spans.end_ns[i] ?? 0;
    level.spans = spans.count[i] === 1 && from <= start && to >= end;
  }
  let outer = 0;
  for (;;) {
    const level = levels.get(outer);
    if (level === undefined || level.n !== 1 || !level.spans) break;
    outer++;
  }
  // The innermost level stays: a track that is not empty shows something.
  return levels.has(outer) ? outer : Math.max(0, outer - 1);
}

/** Returns rows for the slices of an answer about the window from `start` to `end`. */
export function rowsOf(
  spans: Spans,
  names: readonly string[],
  kind: TrackKind,
  start: number,
  end: number,
): Rows {
  const n = spans.start_ns.length;
  const row = new Uint8Array(n);
  const python = kind === "python";
  const outer = python ? outerLevels(spans, start, end) : 0;
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
    let at = depth - outer;
    for (let above = outer; above < depth; above++) {
      if (openPlumbing[above] === true && (openEnd[above] ?? 0) > from) at--;
    }
    while (at < MOST_ROWS && rowDepth[at] !== depth && (rowEnd[at] ?? -Infinity) > from) at++;
    rowEnd[at] = to;
    rowDepth[at] = depth;
    row[i] = at;
    most = Math.max(most, at);
  }
  const parts: string[] = [];
  if (outer > 0) parts.push(`${outer} outer`);
  if (plumbed > 0) parts.push("_call_impl");
  return {
    row,
    count: Math.min(most + 1, MOST_ROWS + 1),
    caption: parts.length === 0 ? "" : `${parts.join(", ")} folded`,
  };
}
