// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What is at a place of the canvas, and where an event is.

import type { EventRef } from "../trace/api";
import {
  bandAt,
  GUTTER,
  isCounter,
  type Layout,
  PAD,
  type Placed,
  pinnedRoom,
  TOP,
} from "./layout";
import { timeAt, xOf } from "./paint";
import { NO_ROW } from "./rows";
import type { Picture } from "./store";
import type { Window } from "./view";

/** What the functions here need to know of a frame. */
export interface Sight {
  readonly view: Window;
  readonly width: number;
  readonly height: number;
  readonly scroll: number;
  readonly layout: Layout;
  picture(track: number): Picture | undefined;
}

/** A slice or a folded cell. */
export interface Hit {
  readonly track: number;
  /** Row of the event in its track; null: a folded cell. */
  readonly row: number | null;
  readonly name: string;
  readonly cls: number;
  readonly depth: number;
  readonly count: number;
  readonly start: number;
  readonly end: number;
  readonly busy_ns: number;
  /** Place of its row on the canvas. */
  readonly y: number;
  readonly height: number;
}

/** Returns a slice of a picture as a hit; y is where the track's first row is. */
function hitOf(picture: Picture, i: number, top: number, rowHeight: number): Hit {
  const { spans, names, rows } = picture;
  const count = spans.count[i] ?? 1;
  return {
    track: spans.track,
    row: count > 1 ? null : (spans.row[i] ?? null),
    name: names[spans.name[i] ?? -1] ?? "",
    cls: spans.cls[i] ?? 0,
    depth: spans.depth[i] ?? 0,
    count,
    start: spans.start_ns[i] ?? 0,
    end: spans.end_ns[i] ?? 0,
    busy_ns: spans.busy_ns[i] ?? 0,
    y: top + (rows.row[i] ?? 0) * rowHeight,
    height: rowHeight - 1,
  };
}

/** Returns the slice at a place; a single slice wins over a folded cell; null: nothing. */
export function hitAt(sight: Sight, x: number, y: number): Hit | null {
  if (x < GUTTER) return null;
  const placed = bandAt(sight.layout, sight.scroll, sight.height, y);
  if (placed === null || placed.band.track === null) return null;
  const picture = sight.picture(placed.band.track.id);
  if (picture === undefined) return null;
  const row = Math.floor((y - placed.y - PAD) / placed.band.rowHeight);
  return search(picture, placed, row, timeAt(sight, x - 1), timeAt(sight, x + 1));
}

function search(
  picture: Picture,
  placed: Placed,
  row: number,
  from: number,
  to: number,
): Hit | null {
  const { spans, rows } = picture;
  const middle = (from + to) / 2;
  let best = -1;
  let bestMiss = Number.POSITIVE_INFINITY;
  for (let i = 0; i < spans.start_ns.length; i++) {
    const start = spans.start_ns[i] ?? 0;
    if (start > to) break;
    const end = spans.end_ns[i] ?? 0;
    if (rows.row[i] !== row || end < from) continue;
    const single = (spans.count[i] ?? 1) === 1;
    const distance = Math.max(start - middle, middle - end, 0);
    // Among equally near ones the single and the shorter one is meant: it is above.
    const miss = distance * 2 + (single ? 0 : 1e-3) + (end - start) * 1e-12;
    if (miss < bestMiss) {
      bestMiss = miss;
      best = i;
    }
  }
  if (best < 0) return null;
  return hitOf(picture, best, placed.y + PAD, placed.band.rowHeight);
}

/** Returns the strip of a track, seen or not; of a folded group its header. */
export function stripOf(sight: Sight, track: number, group: string): Placed | null {
  const room = pinnedRoom(sight.layout, sight.height);
  for (const band of sight.layout.pinned) {
    if (band.track?.id === track) return { band, y: TOP + band.y };
  }
  const shift = TOP + room - sight.scroll;
  let header: Placed | null = null;
  for (const band of sight.layout.scrolled) {
    if (band.track?.id === track) return { band, y: band.y + shift };
    if (band.track === null && band.group === group) header = { band, y: band.y + shift };
  }
  return header;
}

/** Where an event is on the canvas; it may be outside of what is seen. */
export interface Place {
  readonly left: number;
  readonly right: number;
  readonly y: number;
  readonly height: number;
}

/** Returns the place of an event: its slice, the cell that holds it, or its track. */
export function placeOf(
  sight: Sight,
  event: Pick<EventRef, "track" | "row" | "start_ns" | "end_ns">,
  group: string,
): Place | null {
  const strip = stripOf(sight, event.track, group);
  if (strip === null) return null;
  const left = xOf(sight, event.start_ns);
  const right = Math.max(xOf(sight, event.end_ns), left + 1);
  if (strip.band.track === null) {
    return { left, right, y: strip.y, height: strip.band.height - 1 };
  }
  const hit = find(sight, event, strip);
  if (hit !== null) return { left, right, y: hit.y, height: hit.height };
  return { left, right, y: strip.y + PAD, height: strip.band.rowHeight - 1 };
}

function find(
  sight: Sight,
  event: Pick<EventRef, "track" | "row" | "start_ns">,
  strip: Placed,
): Hit | null {
  const picture = sight.picture(event.track);
  if (picture === undefined) return null;
  const { spans, rows } = picture;
  let cell = -1;
  for (let i = 0; i < spans.start_ns.length; i++) {
    const start = spans.start_ns[i] ?? 0;
    if (start > event.start_ns) break;
    if (rows.row[i] === NO_ROW) continue;
    const single = (spans.count[i] ?? 1) === 1;
    if (single && spans.row[i] === event.row) {
      return hitOf(picture, i, strip.y + PAD, strip.band.rowHeight);
    }
    // The deepest cell: what is folded is mostly small.
    if (!single && (spans.end_ns[i] ?? 0) >= event.start_ns) cell = i;
  }
  if (cell < 0) return null;
  return hitOf(picture, cell, strip.y + PAD, strip.band.rowHeight);
}

/** Returns the neighbour of a slice in its row among what is loaded. */
export function neighbour(
  picture: Picture,
  event: { readonly row: number; readonly start: number },
  step: 1 | -1,
): { readonly row: number } | "folded" | null {
  const { spans } = picture;
  let self = -1;
  for (let i = 0; i < spans.start_ns.length; i++) {
    if (spans.row[i] === event.row && spans.count[i] === 1) self = i;
  }
  if (self < 0) return "folded";
  for (let i = self + step; i >= 0 && i < spans.start_ns.length; i += step) {
    if (spans.depth[i] !== spans.depth[self]) continue;
    if ((spans.count[i] ?? 1) > 1) return "folded";
    return { row: spans.row[i] ?? 0 };
  }
  return null;
}

/** Returns the slice in the next row above (-1) or below (1) at a moment, skipping empty rows. */
export function vertical(
  sight: Sight,
  from: Place,
  time: number,
  step: 1 | -1,
): Hit | { readonly track: number } | null {
  const bands = [
    ...sight.layout.pinned.map((band) => ({ band, y: TOP + band.y })),
    ...sight.layout.scrolled.map((band) => ({
      band,
      y: band.y + TOP + pinnedRoom(sight.layout, sight.height) - sight.scroll,
    })),
  ];
  const middle = from.y + from.height / 2;
  const index = bands.findIndex(({ band, y }) => middle >= y && middle < y + band.height);
  if (index < 0) return null;
  let row = Math.floor(
    (middle - (bands[index]?.y ?? 0) - PAD) / (bands[index]?.band.rowHeight ?? 1),
  );
  for (let at = index; at >= 0 && at < bands.length; at += step) {
    const placed = bands[at];
    if (placed === undefined || placed.band.track === null) continue;
    if (isCounter(placed.band.track.kind)) continue;
    const picture = sight.picture(placed.band.track.id);
    if (at !== index) row = step > 0 ? -1 : placed.band.rows;
    if (picture === undefined) {
      // Not seen and so not loaded: the trace knows the slice at the moment.
      if (at !== index && placed.band.rows > 0) return { track: placed.band.track.id };
      continue;
    }
    for (row += step; row >= 0 && row < placed.band.rows; row += step) {
      const hit = search(picture, placed, row, time, time);
      if (hit !== null) return hit.row === null ? { track: hit.track } : hit;
    }
  }
  return null;
}
