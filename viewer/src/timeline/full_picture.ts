// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// For tests: the picture of the timeline in which every event is drawn by itself, at its exact place.
// It knows the look of slices and cells, and nothing of how cells are made. It is slow.

import type { Spans, TrackKind } from "../trace/api";
import { GUTTER, isCounter, PAD, visible } from "./layout";
import type { Model } from "./model";
import { barSlot, isHatched, isModule, type Palette, SLOTS, type Slot, slotOf } from "./palette";
import { Pixels } from "./pixels";
import { NO_ROW, rowsOf } from "./rows";
import type { Exact } from "./ssim";
import { askedWindow, levelOf } from "./store";

/** What is short in pixels, and which gap parts two cells. */
const SHORT = 4;
const GAP = 10;
const CELL = 64;

function rgb(colour: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}

/** Short events that follow each other. */
interface Run {
  from: number;
  to: number;
  /** The first event's; a run of one is drawn as a slice. */
  readonly slot: Slot;
  count: number;
  readonly left: number;
  readonly right: number;
}

/** The short events of one row. */
class Short {
  readonly runs: Run[] = [];
  private readonly shares: Float64Array;
  private isOpen = false;

  constructor(private readonly width: number) {
    this.shares = new Float64Array(width * SLOTS.length);
  }

  /** Ends the run: a long event stands behind it. */
  end(): void {
    this.isOpen = false;
  }

  /** Takes an event, and its place in pixels. */
  add(start: number, end: number, left: number, right: number, slot: Slot, level: number): void {
    const cell = 2 ** Math.ceil(Math.log2(CELL * level));
    const last = this.runs[this.runs.length - 1];
    const isSame = last !== undefined && Math.floor(last.from / cell) === Math.floor(start / cell);
    const run = last !== undefined && this.isOpen && isSame && start - last.to <= GAP * level;
    if (!run) {
      this.runs.push({ from: start, to: end, slot, count: 1, left, right });
    } else {
      if (last.count++ === 1) this.share(last.left, last.right, last.slot);
      last.to = Math.max(last.to, end);
      this.share(left, right, slot);
    }
    this.isOpen = true;
  }

  private share(left: number, right: number, slot: Slot): void {
    for (let px = Math.max(GUTTER, Math.floor(left)); px < Math.min(this.width, right); px++) {
      const at = px * SLOTS.length + SLOTS.indexOf(slot);
      this.shares[at] = (this.shares[at] ?? 0) + Math.min(right, px + 1) - Math.max(left, px);
    }
  }

  /** Draws a ground below each run, and each pixel's shares upon each other. */
  draw(
    picture: Exact,
    palette: Palette,
    x: (time: number) => number,
    top: number,
    tall: number,
    room: number,
  ): void {
    for (const { from, to, slot, count } of this.runs) {
      const left = Math.max(GUTTER, x(from));
      if (x(to) <= left) continue;
      if (count === 1) {
        // Of less than a pixel: what it covers of each pixel is its height there.
        const thin = x(to) - x(from) < 1;
        for (let px = Math.floor(left); thin && px < x(to); px++) {
          const high = (Math.min(x(to), px + 1) - Math.max(left, px)) * tall;
          picture.rect(px, top + tall - high, 1, high, rgb(palette.slot[slot]));
        }
        if (!thin) picture.rect(left, top, x(to) - left, tall, rgb(palette.slot[slot]));
        continue;
      }
      picture.rect(left, top, x(to) - left, tall, rgb(palette.slot.n1));
      picture.rect(left, top, x(to) - left, 1, rgb(palette.token.line3));
    }
    for (let px = GUTTER; px < this.width; px++) {
      let base = top + tall;
      SLOTS.forEach((slot, i) => {
        const high = (this.shares[px * SLOTS.length + i] ?? 0) * room;
        base -= high;
        if (high > 0) picture.rect(px, base, 1, high, rgb(palette.slot[slot]));
      });
    }
  }
}

/** Draws hatches of a whole picture, to take parts of them. */
function hatched(width: number, height: number): Pixels {
  const pixels = new Pixels();
  pixels.begin(width, height, 1, 0);
  pixels.hatch(0, 0, width, height, 1);
  return pixels;
}

function slotIn(kind: TrackKind, name: string, cls: number): Slot {
  return kind === "python" && isModule(name) ? "n3" : slotOf(cls, kind);
}

/** Draws every event of the tracks that are seen over a picture without them. */
export async function drawAll(model: Model, palette: Palette, picture: Exact): Promise<void> {
  const { view, width, height } = model;
  const perPx = (view.end - view.start) / (width - GUTTER);
  const level = levelOf(perPx);
  const x = (time: number) => GUTTER + (time - view.start) / perPx;
  const window = askedWindow(view, model.whole);
  const hatch = hatched(width, height);
  const line = rgb(palette.token.line2);
  for (const { band, y } of visible(model.layout, model.scroll, height)) {
    const { track } = band;
    if (track === null || isCounter(track.kind)) continue;
    // No event is short at such a scale.
    const answer = await model.trace.spans([track.id], window.start, window.end, 1e-6);
    const spans = answer.spans[0] as Spans;
    const isUnfolded = model.picture(track.id)?.rows.isUnfolded === true;
    const { start, end } = window;
    const rows = rowsOf(spans, answer.names, track.kind, start, end, isUnfolded);
    const tall = band.rowHeight - 1;
    const room = tall >= 28 ? tall - 14 : tall;
    const short = new Map<number, Short>();
    spans.start_ns.forEach((start, i) => {
      const end = spans.end_ns[i] ?? 0;
      const row = rows.row[i] ?? NO_ROW;
      if (row === NO_ROW || row >= band.rows) return;
      const top = y + PAD + row * band.rowHeight;
      const cls = spans.cls[i] ?? 0;
      const slot = slotIn(track.kind, answer.names[spans.name[i] ?? 0] ?? "", cls);
      const own = short.get(row) ?? new Short(width);
      short.set(row, own);
      if (end - start < SHORT * level) {
        own.add(start, end, x(start), x(end), barSlot(slot), level);
        return;
      }
      own.end();
      const left = Math.max(GUTTER, x(start));
      const gap = end - start > 6 * perPx ? 1 : 0;
      const wide = Math.min(x(end), width + 2) - left - gap;
      if (wide <= 0 || left >= width || top >= height) return;
      picture.rect(left, top, wide, tall, rgb(palette.slot[slot]));
      if (isHatched(cls)) picture.mask(hatch, left, top, wide, tall, line);
    });
    for (const [row, own] of short)
      own.draw(picture, palette, x, y + PAD + row * band.rowHeight, tall, room);
  }
}
