// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Draws the lower canvas: minimap, ruler, tracks and their names. What follows the pointer is on the
// canvas above (overlay.ts), so that a hover does not draw the slices again.

import type { TraceInfo } from "../trace/api";
import type { Match } from "./finding";
import { shown, type Widths } from "./labels";
import {
  type Band,
  GUTTER,
  isCounter,
  type Layout,
  MINIMAP,
  PAD,
  type Placed,
  pinnedRoom,
  RULER,
  stickyHeader,
  TOP,
  visible,
} from "./layout";
import { type Mini, miniRectangles, paintMinimap } from "./minimap";
import type { Palette } from "./palette";
import { fontOf, type Pen } from "./pen";
import type { Ink, Rectangles } from "./rectangles";
import { type Ruler, ruler } from "./ruler";
import { buildScene, type Label, MOST_RECTANGLES, type Scene } from "./scene";
import type { Store } from "./store";
import { counterValue, duration } from "./units";
import type { Window } from "./view";

/** Everything that a frame shows. */
export interface Frame {
  readonly info: TraceInfo;
  readonly whole: Window;
  readonly view: Window;
  readonly width: number;
  readonly height: number;
  readonly scroll: number;
  readonly layout: Layout;
  readonly store: Store;
  readonly palette: Palette;
  readonly widths: Widths;
  readonly match: Match | null;
  readonly selection: Window | null;
  readonly mini: Mini | null;
}

/** Opacity of what a search does not match. */
const DIM = 0.35;

/** Rectangles of grid, names, ruler and the like: fewer than this on the tallest screens. */
const OTHER_RECTANGLES = 1500;

/** Share of the rectangles that pinned tracks may take. */
const PINNED_SHARE = 0.3;

export interface Scenes {
  readonly pinned: Scene;
  readonly scrolled: Scene;
}

/** Returns the place of a moment on the canvas. */
export function xOf(
  frame: { readonly view: Window; readonly width: number },
  time: number,
): number {
  const { view, width } = frame;
  const span = Math.max(view.end - view.start, 1);
  return GUTTER + ((time - view.start) / span) * (width - GUTTER);
}

/** Returns the moment at a place of the canvas. */
export function timeAt(
  frame: { readonly view: Window; readonly width: number },
  x: number,
): number {
  const { view, width } = frame;
  return view.start + ((x - GUTTER) / Math.max(width - GUTTER, 1)) * (view.end - view.start);
}

/** Draws the whole lower canvas. */
export function paint(pen: Pen, frame: Frame, scenes: Scenes, ratio: number): void {
  const { palette, width, height } = frame;
  pen.begin(palette, ratio);
  pen.colour(palette.token.bg);
  pen.rect(0, 0, width, height);
  const ticks = ruler(frame.view, width - GUTTER);
  pen.colour(palette.token.line);
  for (const tick of ticks.ticks) {
    pen.rect(Math.round(xOf(frame, tick.time)), TOP, 1, height - TOP);
  }
  const placed = visible(frame.layout, frame.scroll, height);
  const room = pinnedRoom(frame.layout, height);
  const pinned = placed.filter(({ band }) => band.pinned);
  const scrolled = placed.filter(({ band }) => !band.pinned);
  const part = (some: readonly Placed[], scene: Scene, y: number, tall: number, most: number) => {
    const picture = (track: number) => frame.store.picture(track);
    buildScene({ ...frame, placed: some, picture, most }, scene);
    pen.within(0, y, width, tall, () => {
      pen.within(GUTTER, y, width - GUTTER, tall, () => {
        for (const place of some) paintGround(pen, frame, place);
        paintRectangles(pen, palette, scene.rectangles);
        paintLabels(pen, palette, scene.labels);
      });
      for (const place of some) paintNames(pen, frame, place, y);
    });
  };
  const most = MOST_RECTANGLES - OTHER_RECTANGLES - miniRectangles(frame);
  const few = pinned.length === 0 ? 0 : most * PINNED_SHARE;
  part(scrolled, scenes.scrolled, TOP + room, height - TOP - room, most - few);
  paintSticky(pen, frame, TOP + room);
  if (pinned.length > 0) {
    part(pinned, scenes.pinned, TOP, room, few);
    pen.colour(palette.token.line2);
    pen.rect(0, TOP + room - 1, width, 1);
  }
  paintScrollThumb(pen, frame, room);
  paintRuler(pen, frame, ticks);
  paintMinimap(pen, frame);
}

function inkColour(palette: Palette, ink: Ink): string {
  if (ink === "line3" || ink === "text") return palette.token[ink];
  if (ink === "hatch") return palette.token.line2;
  return palette.slot[ink];
}

function paintRectangles(pen: Pen, palette: Palette, rectangles: Rectangles): void {
  rectangles.each((bucket) => {
    if (bucket.ink === "hatch") {
      if (!pen.hatching()) return;
    } else {
      pen.colour(inkColour(palette, bucket.ink));
    }
    pen.context.globalAlpha = bucket.dim ? DIM : 1;
    const { data, length } = bucket;
    for (let i = 0; i < length; i += 4) {
      pen.rect(data[i] ?? 0, data[i + 1] ?? 0, data[i + 2] ?? 0, data[i + 3] ?? 0);
    }
  });
  pen.context.globalAlpha = 1;
}

function paintLabels(pen: Pen, palette: Palette, labels: readonly Label[]): void {
  for (const label of labels) {
    pen.colour(label.on === null ? palette.token.text2 : palette.ink[label.on]);
    pen.context.globalAlpha = label.dim ? DIM : 1;
    pen.text(label.text, label.x, label.y);
  }
  pen.context.globalAlpha = 1;
}

/** Draws what is below slices: the hatch of what is not loaded yet, and lines of counters. */
function paintGround(pen: Pen, frame: Frame, { band, y }: Placed): void {
  if (band.track === null) return;
  const values = isCounter(band.track.kind);
  const have = values ? frame.store.counter(band.track.id) : frame.store.picture(band.track.id);
  const from = have === undefined ? frame.width : xOf(frame, have.window.start);
  const to = have === undefined ? frame.width : xOf(frame, have.window.end);
  const first = Math.max(xOf(frame, frame.whole.start), GUTTER);
  const last = Math.min(xOf(frame, frame.whole.end), frame.width);
  const tall = band.height - 2 * PAD - 1;
  if (have !== undefined && from > first + 1 && pen.hatching()) {
    pen.rect(first, y + PAD, Math.min(from, last) - first, tall);
  }
  if (have !== undefined && to < last - 1 && pen.hatching()) {
    pen.rect(Math.max(to, first), y + PAD, last - Math.max(to, first), tall);
  }
  if (values) paintCounter(pen, frame, band, y);
}

function paintCounter(pen: Pen, frame: Frame, band: Band, y: number): void {
  const values = band.track === null ? undefined : frame.store.counter(band.track.id);
  if (values === undefined || band.track === null) return;
  const { time_ns, most, least, unit } = values.answer;
  const top = frame.store.top(band.track.id);
  const base = y + band.height - 5;
  const scale = top > 0 ? (band.rowHeight - 2) / top : 0;
  const { context } = pen;
  const trace = (list: Float64Array, area: boolean): void => {
    context.beginPath();
    let started = false;
    let last = base;
    for (let i = 0; i < time_ns.length; i++) {
      const next = time_ns[i + 1];
      if (next !== undefined && next < frame.view.start) continue;
      const time = time_ns[i] ?? 0;
      if (time > frame.view.end) break;
      const x = Math.max(GUTTER, xOf(frame, time));
      const at = base - Math.max(0, list[i] ?? 0) * scale;
      if (!started) context.moveTo(x, area ? base : at);
      else context.lineTo(x, last);
      context.lineTo(x, at);
      started = true;
      last = at;
    }
    if (!started) return;
    const right = Math.min(frame.width, xOf(frame, Math.min(values.window.end, frame.view.end)));
    context.lineTo(right, last);
    if (area) {
      context.lineTo(right, base);
      context.closePath();
      context.fill();
    } else {
      context.stroke();
    }
  };
  pen.colour(frame.palette.slot.n2);
  trace(most, true);
  context.strokeStyle = frame.palette.token.text3;
  context.lineWidth = 1;
  trace(most, false);
  // Where a pixel holds many values the least ones have a line of their own.
  context.strokeStyle = frame.palette.token.line3;
  context.lineWidth = 0.5;
  if (least.some((value, i) => value !== most[i])) trace(least, false);
  const label = counterValue(top, unit);
  const wide = frame.widths.of(label);
  pen.colour(frame.palette.token.bg);
  pen.rect(frame.width - wide - 10, y + 2, wide + 8, 14);
  pen.colour(frame.palette.token.text3);
  pen.text(label, frame.width - wide - 6, y + 9);
}

/** Draws the header of a group, or the name of a track, which stays in sight in a tall track. */
function paintNames(pen: Pen, frame: Frame, { band, y }: Placed, top: number): void {
  const { palette, width } = frame;
  if (band.track === null) {
    paintHeader(pen, frame, band, y);
    return;
  }
  pen.colour(palette.token.bg);
  pen.rect(0, y, GUTTER - 1, band.height);
  pen.colour(palette.token.line2);
  pen.rect(GUTTER - 1, y, 1, band.height);
  pen.colour(palette.token.line);
  pen.rect(0, y + band.height - 1, width, 1);
  // Below the header that stays; the last line of the track pushes its name out.
  const lines = band.height > 30 && band.caption !== "" ? 2 : 1;
  const lowest = y + band.height - (lines === 2 ? 34 : 20);
  const at = Math.max(y, Math.min(top + (band.pinned ? 0 : 24), lowest));
  const room = GUTTER - 16 - 8;
  pen.colour(palette.token.text2);
  const title = frame.widths.cut(band.title, room);
  pen.text(title, 16, at + (lines === 1 && band.height < 30 ? band.height / 2 : 12));
  pen.colour(palette.token.text3);
  if (lines === 2) {
    pen.text(frame.widths.cut(band.caption, room), 16, at + 26);
  } else if (band.caption !== "") {
    const left = 16 + frame.widths.of(title) + 8;
    const text = frame.widths.cut(band.caption, GUTTER - left - 8);
    pen.text(text, left, at + (band.height < 30 ? band.height / 2 : 12));
  }
}

function paintHeader(pen: Pen, frame: Frame, band: Band, y: number): void {
  const { palette, width } = frame;
  pen.colour(palette.token.sunken);
  pen.rect(0, y, width, band.height - 1);
  pen.colour(palette.token.text);
  pen.context.font = fontOf(palette, 600);
  const title = shown(band.title, 80);
  pen.text(title, 16, y + 12);
  const after = 24 + pen.context.measureText(title).width;
  pen.context.font = fontOf(palette);
  pen.colour(palette.token.text3);
  pen.text(frame.widths.cut(band.caption, Math.max(0, width - after - 16)), after, y + 12);
}

/** Draws the header of the group that the view is in, so that it stays in sight. */
function paintSticky(pen: Pen, frame: Frame, top: number): void {
  const sticky = stickyHeader(frame.layout, frame.scroll, frame.height);
  if (sticky === null) return;
  const { band, y } = sticky;
  pen.within(0, top, frame.width, band.height, () => paintHeader(pen, frame, band, y));
}

function paintScrollThumb(pen: Pen, frame: Frame, room: number): void {
  const seen = frame.height - TOP - room;
  const all = frame.layout.height;
  if (all <= seen || seen < 20) return;
  const tall = Math.max(24, (seen / all) * seen);
  const y = TOP + room + (frame.scroll / (all - seen)) * (seen - tall);
  pen.colour(frame.palette.token.line3);
  pen.context.globalAlpha = 0.6;
  pen.rect(frame.width - 5, y, 4, tall);
  pen.context.globalAlpha = 1;
}

function paintRuler(pen: Pen, frame: Frame, ticks: Ruler): void {
  const { palette, width } = frame;
  pen.colour(palette.token.bg);
  pen.rect(0, MINIMAP, width, RULER);
  pen.colour(palette.token.line2);
  pen.rect(0, TOP - 1, width, 1);
  for (const tick of ticks.ticks) {
    pen.rect(Math.round(xOf(frame, tick.time)), MINIMAP + 4, 1, RULER - 4);
  }
  pen.colour(palette.token.text3);
  for (const tick of ticks.ticks) {
    const x = Math.round(xOf(frame, tick.time)) + 4;
    if (x + frame.widths.of(tick.label) < width) pen.text(tick.label, x, MINIMAP + 11);
  }
  const span = duration(frame.view.end - frame.view.start);
  pen.text(`${ticks.unit} · ${span} shown`, 16, MINIMAP + 11);
}
