// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The minimap: what the device did in the whole trace, in columns of some pixels, and which part of
// the trace is seen.

import {
  isSelected,
  type SelectedTracks,
  type Spans,
  type SpansAnswer,
  type Trace,
  type TrackInfo,
  type TrackKind,
} from "../trace/api";
import { GUTTER, MINIMAP } from "./layout";
import type { Frame } from "./paint";
import { barSlot, type Palette, SLOTS, slotOf } from "./palette";
import type { Pen } from "./pen";
import { type Colour, mix, type Pixels, pixel } from "./pixels";
import { duration } from "./units";
import type { Window } from "./view";

const COLUMN_PX = 3;

/** Share of each column that was busy, by slot; the sum over slots is at most 1. */
export interface Mini {
  readonly columns: number;
  /** columns * SLOTS.length shares. */
  readonly shares: Float32Array;
  /** Shares that are not zero: each is a rectangle. */
  readonly parts: number;
}

/** Returns the tracks that a minimap is of: streams, else the outermost work of the host. */
export function miniTracks(tracks: readonly TrackInfo[]): TrackInfo[] {
  for (const kind of ["stream", "op", "range", "api", "python"] as const) {
    const found = tracks.filter((track) => track.kind === kind);
    if (found.length > 0) return found.slice(0, 64);
  }
  return [];
}

/** Adds up the answer about the whole trace. Of nested slices only the outermost count. */
export function sumUp(
  answer: SpansAnswer,
  kinds: ReadonlyMap<number, TrackKind>,
  whole: Window,
  columns: number,
): Mini {
  const shares = new Float32Array(columns * SLOTS.length);
  const width = (whole.end - whole.start) / Math.max(columns, 1);
  const add = (from: number, to: number, busy: number, slot: number): void => {
    const length = Math.max(to - from, 1);
    const last = Math.min(columns - 1, Math.floor((to - whole.start) / width));
    let column = Math.max(0, Math.floor((from - whole.start) / width));
    for (; column <= last; column++) {
      const start = whole.start + column * width;
      const part = Math.min(to, start + width) - Math.max(from, start);
      const at = column * SLOTS.length + slot;
      if (part > 0) shares[at] = (shares[at] ?? 0) + (busy * part) / length / width;
    }
  };
  for (const spans of answer.spans) addTrack(spans, kinds.get(spans.track) ?? "stream", add);
  // Streams that ran at the same time add up to more than a column has.
  for (let column = 0; column < columns; column++) {
    const part = shares.subarray(column * SLOTS.length, (column + 1) * SLOTS.length);
    const sum = part.reduce((a, b) => a + b, 0);
    if (sum > 1) for (let i = 0; i < part.length; i++) part[i] = (part[i] ?? 0) / sum;
  }
  return { columns, shares, parts: shares.filter((share) => share > 0).length };
}

/** Returns how many rectangles the minimap of a frame takes at most. */
export function miniRectangles(frame: Pick<Frame, "mini" | "match" | "width">): number {
  return (frame.mini?.parts ?? 0) + (frame.match === null ? 0 : frame.width);
}

function addTrack(
  spans: Spans,
  kind: TrackKind,
  add: (from: number, to: number, busy: number, slot: number) => void,
): void {
  const slotIndex = (cls: number): number => SLOTS.indexOf(barSlot(slotOf(cls, kind)));
  for (let i = 0; i < spans.start_ns.length; i++) {
    if (spans.depth[i] !== 0) continue;
    const start = spans.start_ns[i] ?? 0;
    const end = spans.end_ns[i] ?? 0;
    const bars = spans.bars;
    const from = bars?.first[i] ?? 0;
    const to = bars?.first[i + 1] ?? 0;
    if (bars === undefined || from === to) {
      add(start, end, spans.busy_ns[i] ?? 0, slotIndex(spans.cls[i] ?? 0));
      continue;
    }
    for (let k = from; k < to; k++) {
      const slot = slotIndex(bars.cls[k] ?? 0);
      add(bars.start_ns[k] ?? 0, bars.end_ns[k] ?? 0, bars.busy_ns[k] ?? 0, slot);
    }
  }
}

/** Asks the trace for a minimap of a width. */
export async function askMini(
  trace: Trace,
  whole: Window,
  width: number,
  only: SelectedTracks = {},
): Promise<Mini> {
  const columns = Math.max(1, Math.floor((width - GUTTER) / COLUMN_PX));
  const tracks = miniTracks(trace.info.tracks.filter((track) => isSelected(track, only)));
  const kinds = new Map(tracks.map((track) => [track.id, track.kind]));
  if (tracks.length === 0) return sumUp({ spans: [], names: [] }, kinds, whole, columns);
  const ids = tracks.map((track) => track.id);
  const scale = (whole.end - whole.start) / Math.max(width - GUTTER, 1);
  return sumUp(await trace.spans(ids, whole.start, whole.end, scale), kinds, whole, columns);
}

/** Returns the place of a moment in the minimap. */
export function miniX(frame: Pick<Frame, "whole" | "width">, time: number): number {
  const { whole, width } = frame;
  const span = Math.max(whole.end - whole.start, 1);
  return GUTTER + ((time - whole.start) / span) * (width - GUTTER);
}

/** Returns the moment at a place in the minimap. */
export function miniTime(frame: Pick<Frame, "whole" | "width">, x: number): number {
  const { whole, width } = frame;
  return whole.start + ((x - GUTTER) / Math.max(width - GUTTER, 1)) * (whole.end - whole.start);
}

/** Colours of the minimap: as they are in the view, faded outside. */
const faded = new WeakMap<Palette, { readonly inside: Colour[]; readonly outside: Colour[] }>();

function coloursOf(palette: Palette) {
  let made = faded.get(palette);
  if (made === undefined) {
    const { slot, token } = palette;
    made = {
      inside: SLOTS.map((name) => pixel(slot[name])),
      outside: SLOTS.map((name) => pixel(mix(token.sunken, slot[name], 0.72))),
    };
    faded.set(palette, made);
  }
  return made;
}

export function paintMinimap(pixels: Pixels, frame: Frame): void {
  const { palette, width, view, mini, match, selection } = frame;
  const { token } = palette;
  pixels.rect(0, 0, width, MINIMAP, pixel(token.sunken));
  const room = MINIMAP - 9;
  const left = miniX(frame, view.start);
  const right = Math.max(left + 3, miniX(frame, view.end));
  if (mini !== null) {
    const { inside, outside } = coloursOf(palette);
    const wide = (width - GUTTER) / mini.columns;
    for (let column = 0; column < mini.columns; column++) {
      const x = GUTTER + column * wide;
      const colours = x + wide > left && x < right ? inside : outside;
      let y = 4 + room;
      for (let slot = 0; slot < SLOTS.length; slot++) {
        const share = mini.shares[column * SLOTS.length + slot] ?? 0;
        if (share <= 0) continue;
        y -= share * room;
        pixels.rect(x, y, wide, share * room, colours[slot] ?? 0);
      }
    }
  }
  const [from, to] = [Math.round(left), Math.round(right)];
  const frameColour = pixel(token.text2);
  pixels.rect(from, 0, to - from, 1, frameColour);
  pixels.rect(from, MINIMAP - 2, to - from, 1, frameColour);
  pixels.rect(from, 0, 1, MINIMAP - 1, frameColour);
  pixels.rect(to - 1, 0, 1, MINIMAP - 1, frameColour);
  if (selection !== null) {
    const start = miniX(frame, selection.start);
    const length = Math.max(2, miniX(frame, selection.end) - start);
    pixels.rect(start, MINIMAP - 4, length, 3, pixel(token.accent));
  }
  if (match !== null) {
    const tick = pixel(token.text);
    let last = Number.NEGATIVE_INFINITY;
    for (const hit of match.answer.hits) {
      const x = Math.round(miniX(frame, hit.start_ns));
      // One tick a pixel: hits of all tracks come sorted by time.
      if (x !== last) pixels.rect(x, MINIMAP - 6, 1, 4, tick);
      last = x;
    }
  }
  pixels.rect(0, MINIMAP - 1, width, 1, pixel(token.line2));
}

/** Writes the name of the minimap. */
export function writeMinimap(pen: Pen, frame: Frame): void {
  pen.colour(frame.palette.token.text3);
  pen.text("Whole capture", 16, 11);
  pen.text(duration(frame.whole.end - frame.whole.start), 16, 24);
}
