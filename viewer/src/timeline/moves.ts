// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A few helpers for questions about steps and slices. Rows of a track are sorted by their start, so
// that a row is found with few questions.

import type { EventRef, Trace } from "../trace/api";

function refOf(track: number, row: number, detail: { name: string; start: number; end: number }) {
  return { track, row, name: detail.name, start_ns: detail.start, end_ns: detail.end };
}

/** Returns the event of a row; null: there is no such row. */
export async function rowAt(trace: Trace, track: number, row: number): Promise<EventRef | null> {
  const info = trace.info.tracks[track];
  if (info === undefined || row < 0 || row >= info.rows) return null;
  const detail = await trace.event(track, row);
  const end = detail.start_ns + detail.duration_ns;
  return refOf(track, row, { name: detail.name, start: detail.start_ns, end });
}

/** Returns the first row whose event starts after a moment; the number of rows: none does. */
export async function firstAfter(trace: Trace, track: number, time: number): Promise<number> {
  let low = 0;
  let high = trace.info.tracks[track]?.rows ?? 0;
  while (low < high) {
    const middle = (low + high) >> 1;
    const detail = await trace.event(track, middle);
    if (detail.start_ns <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the step before or after the one at a moment; null: there is none. */
export async function stepFrom(
  trace: Trace,
  track: number,
  time: number,
  step: 1 | -1,
): Promise<EventRef | null> {
  const here = await trace.at(track, time);
  if (here !== null) return rowAt(trace, track, here.row + step);
  const next = await firstAfter(trace, track, time);
  return rowAt(trace, track, step > 0 ? next : next - 1);
}
