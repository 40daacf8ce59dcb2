// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds the slice before or after another one. Rows of a track have no order that could be used: the
// trace is asked for windows that grow until one holds a slice.

import type { EventRef, Trace } from "../trace/api";

/** A scale at which only slices without a duration are folded. */
const FINE = 2 ** -10;
const FIRST_REACH_NS = 20_000;
const GROWTH = 16;

/** Returns the slices of a track in a window, one by one. */
async function slicesIn(trace: Trace, track: number, start: number, end: number) {
  const { spans, names } = await trace.spans([track], start, end, FINE);
  const found: (EventRef & { readonly depth: number })[] = [];
  const one = spans.find((each) => each.track === track);
  for (let i = 0; i < (one?.start_ns.length ?? 0); i++) {
    if (one === undefined || one.count[i] !== 1) continue;
    found.push({
      track,
      row: one.row[i] ?? 0,
      name: names[one.name[i] ?? -1] ?? "",
      start_ns: one.start_ns[i] ?? 0,
      end_ns: one.end_ns[i] ?? 0,
      depth: one.depth[i] ?? 0,
    });
  }
  return found;
}

/** Returns the next slice of a depth from a moment on, or the last one before it; null: none. */
export async function nearest(
  trace: Trace,
  track: number,
  time: number,
  step: 1 | -1,
  depth: number,
  besides: number | null = null,
): Promise<EventRef | null> {
  const { start_ns, end_ns } = trace.info;
  for (let reach = FIRST_REACH_NS; ; reach *= GROWTH) {
    const from = step > 0 ? time : Math.max(start_ns, time - reach);
    const to = step > 0 ? Math.min(end_ns, time + reach) : time;
    const found = (await slicesIn(trace, track, from, Math.max(to, from + 1))).filter(
      (slice) => slice.depth === depth && slice.row !== besides,
    );
    // What began before the window is not next to it in this direction.
    const next =
      step > 0
        ? found.find((slice) => slice.start_ns >= time)
        : found.filter((slice) => slice.start_ns < time).at(-1);
    if (next !== undefined) return next;
    if (step > 0 ? to >= end_ns : from <= start_ns) return null;
  }
}

/** Returns the slice of the same depth before or after an event; null: there is none. */
export async function sibling(
  trace: Trace,
  event: Omit<EventRef, "name">,
  step: 1 | -1,
): Promise<EventRef | null> {
  const { track, row, start_ns, end_ns } = event;
  const last = Math.max(start_ns, end_ns - 1);
  const here = await slicesIn(trace, track, last, last + 1);
  const depth = here.find((slice) => slice.row === row)?.depth ?? 0;
  return nearest(trace, track, step > 0 ? end_ns : start_ns, step, depth, row);
}

/** Returns the step before or after the one at a moment; null: there is none. */
export async function stepFrom(
  trace: Trace,
  track: number,
  time: number,
  step: 1 | -1,
): Promise<EventRef | null> {
  const here = await trace.at(track, time);
  return here === null ? nearest(trace, track, time, step, 0) : sibling(trace, here, step);
}
