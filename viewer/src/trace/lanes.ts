// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The order of spans on a track, and their lanes. A span comes after the spans that began before
// it; of those that begin together the longest comes first. In this order each span takes the first
// lane that is free. Spans that nest get their depth so, and spans that cross are beside each other.
// Spans of one lane never overlap.

import type { Rows } from "./rows";

export const MOST_LANES = 256;

/** Spans of a stretch of time, in order. */
export interface Ordered {
  readonly count: number;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly name: Uint32Array;
  readonly row: Uint32Array;
  readonly lane: Uint8Array;
  /** How many events each span stands for; null: for one. */
  readonly weight: Uint32Array | null;
}

export function bytesOf(spans: { readonly count: number }): number {
  return spans.count * 25 + 200;
}

/** Rows of one block, with the number of its first row in the track. */
export interface Part {
  readonly rows: Rows;
  readonly firstRow: number;
}

/** Gathers the rows whose start is in [from, to), in order. Lanes are not set yet. */
export function gather(parts: readonly Part[], from: number, to: number): Ordered {
  let count = 0;
  for (const { rows } of parts)
    for (let i = 0; i < rows.count; i++) {
      const start = rows.start[i] as number;
      if (start >= from && start < to) count++;
    }
  const start = new Float64Array(count);
  const end = new Float64Array(count);
  const name = new Uint32Array(count);
  const row = new Uint32Array(count);
  const isSampled = parts.some(({ rows }) => (rows.oneIn ?? 1) > 1);
  const weight = isSampled ? new Uint32Array(count) : null;
  let at = 0;
  let isOrdered = true;
  for (const { rows, firstRow } of parts)
    for (let i = 0; i < rows.count; i++) {
      const begin = rows.start[i] as number;
      if (!(begin >= from && begin < to)) continue;
      const until = rows.end[i] as number;
      if (at !== 0 && isOrdered) {
        const before = start[at - 1] as number;
        if (begin < before || (begin === before && until >= (end[at - 1] as number)))
          isOrdered = false;
      }
      start[at] = begin;
      end[at] = until;
      name[at] = rows.name[i] as number;
      row[at] = firstRow + i;
      if (weight !== null) weight[at] = rows.oneIn ?? 1;
      at++;
    }
  const lane = new Uint8Array(count);
  const spans = { count, start, end, name, row, lane, weight };
  return isOrdered ? spans : reorder(spans, orderOf(spans));
}

/** Sorts by digits of the start, the least first, which keeps the order of equal starts. */
function orderOf(spans: Ordered): Uint32Array {
  const { count, start, end, row } = spans;
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < count; i++) {
    const value = start[i] as number;
    if (value < first) first = value;
    if (value > last) last = value;
  }
  const bits = 13;
  const digits = 1 << bits;
  let order = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[i] = i;
  let sorted = new Uint32Array(count);
  for (let unit = 1; unit <= last - first; unit *= digits) {
    const places = new Uint32Array(digits);
    const digit = new Uint16Array(count);
    for (let i = 0; i < count; i++) {
      const value = Math.floor(((start[i] as number) - first) / unit) % digits;
      digit[i] = value;
      places[value] = (places[value] as number) + 1;
    }
    let next = 0;
    for (let i = 0; i < digits; i++) {
      const many = places[i] as number;
      places[i] = next;
      next += many;
    }
    for (let i = 0; i < count; i++) {
      const which = order[i] as number;
      const value = digit[which] as number;
      const place = places[value] as number;
      places[value] = place + 1;
      sorted[place] = which;
    }
    [order, sorted] = [sorted, order];
  }
  for (let begin = 0; begin < count; ) {
    const value = start[order[begin] as number];
    let until = begin + 1;
    while (until < count && start[order[until] as number] === value) until++;
    if (until - begin > 1)
      order
        .subarray(begin, until)
        .sort(
          (x, y) =>
            (end[y] as number) - (end[x] as number) || (row[y] as number) - (row[x] as number),
        );
    begin = until;
  }
  return order;
}

function reorder(spans: Ordered, order: Uint32Array): Ordered {
  const { count } = spans;
  const start = new Float64Array(count);
  const end = new Float64Array(count);
  const name = new Uint32Array(count);
  const row = new Uint32Array(count);
  const weight = spans.weight === null ? null : new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    const from = order[i] as number;
    start[i] = spans.start[from] as number;
    end[i] = spans.end[from] as number;
    name[i] = spans.name[from] as number;
    row[i] = spans.row[from] as number;
    if (weight !== null) weight[i] = spans.weight?.[from] ?? 1;
  }
  return { count, start, end, name, row, lane: spans.lane, weight };
}

/** A span that is open where a stretch begins. */
export interface Open {
  readonly start: number;
  readonly end: number;
  readonly name: number;
  readonly row: number;
  readonly lane: number;
  readonly weight: number;
}

/** Gives spans their lanes, stretch after stretch. */
export class Lanes {
  private readonly ends = new Float64Array(MOST_LANES).fill(Number.NEGATIVE_INFINITY);
  private readonly last: (Open | undefined)[] = [];
  private top = 0;
  /** Lanes that were ever taken. */
  most = 0;

  /** Continues from the spans that are open. */
  static from(open: readonly Open[]): Lanes {
    const lanes = new Lanes();
    for (const span of open) {
      lanes.ends[span.lane] = span.end;
      lanes.last[span.lane] = span;
      lanes.top = Math.max(lanes.top, span.lane + 1);
    }
    return lanes;
  }

  assign(spans: Ordered): void {
    const { ends } = this;
    const lastRow = new Int32Array(MOST_LANES).fill(-1);
    for (let i = 0; i < spans.count; i++) {
      const start = spans.start[i] as number;
      let top = this.top;
      while (top > 0 && (ends[top - 1] as number) <= start) top--;
      let lane = 0;
      while (lane < top && (ends[lane] as number) > start) lane++;
      if (lane === MOST_LANES) lane = MOST_LANES - 1;
      const end = spans.end[i] as number;
      ends[lane] = end;
      lastRow[lane] = i;
      spans.lane[i] = lane;
      this.top = lane >= top ? lane + 1 : top;
      if (this.top > this.most) this.most = this.top;
    }
    lastRow.forEach((i, lane) => {
      if (i < 0) return;
      this.last[lane] = {
        start: spans.start[i] as number,
        end: spans.end[i] as number,
        name: spans.name[i] as number,
        row: spans.row[i] as number,
        lane,
        weight: spans.weight?.[i] ?? 1,
      };
    });
  }

  /** Returns the spans that are open at a moment, in the order of their starts. */
  openAt(time: number): Open[] {
    const open: Open[] = [];
    for (const span of this.last) if (span !== undefined && span.end > time) open.push(span);
    return open.sort((x, y) => x.start - y.start || x.lane - y.lane);
  }
}
