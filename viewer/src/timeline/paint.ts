// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Draws the lower canvas: minimap, ruler, tracks and their names. What follows the pointer is on the
// canvas above (overlay.ts), so that a hover does not draw the slices again.

import type { TraceInfo } from "../trace/api";
import type { Match } from "./finding";
import { shortName, shown, type Widths } from "./labels";
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
import { type Mini, miniRectangles, paintMinimap, writeMinimap } from "./minimap";
import type { Palette } from "./palette";
import { fontOf, type Pen } from "./pen";
import { type Colour, mix, type Pixels, pixel } from "./pixels";
import { INKS, type Ink, type Layer, type Rectangles } from "./rectangles";
import { type Ruler, ruler } from "./ruler";
import { buildScene, type Label, MOST_RECTANGLES, type Scene } from "./scene";
import type { Store } from "./store";
import { count, counterValue, duration } from "./units";
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

/** Layers with soft edges: rounded ones would lose or widen the gaps between slices. */
const SOFT: ReadonlySet<Layer> = new Set(["ground", "edges", "slices"]);

/** Half the width of the longest length of a selection, with its margin. */
const LENGTH_PX = 36;

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

/** Colours of a frame as pixels, made once for each palette. */
class Pixelled {
  readonly ink: Readonly<Record<Ink, Colour>>;
  /** The same, of what a search does not match. */
  readonly dim: Readonly<Record<Ink, Colour>>;
  readonly token: Readonly<Record<keyof Palette["token"], Colour>>;
  readonly thumb: Colour;

  constructor(palette: Palette) {
    const { token } = palette;
    const colour = (ink: Ink): string => {
      if (ink === "line3" || ink === "text") return token[ink];
      return ink === "hatch" ? token.line2 : palette.slot[ink];
    };
    const all = (make: (colour: string) => string) =>
      Object.fromEntries(INKS.map((ink) => [ink, pixel(make(colour(ink)))])) as Record<Ink, Colour>;
    this.ink = all((text) => text);
    this.dim = all((text) => mix(text, token.bg, DIM));
    this.token = Object.fromEntries(
      Object.entries(token).map(([name, text]) => [name, pixel(text)]),
    ) as Record<keyof Palette["token"], Colour>;
    this.thumb = pixel(mix(token.line3, token.bg, 0.6));
  }
}

const pixelled = new WeakMap<Palette, Pixelled>();

function pixelsOf(palette: Palette): Pixelled {
  let made = pixelled.get(palette);
  if (made === undefined) {
    made = new Pixelled(palette);
    pixelled.set(palette, made);
  }
  return made;
}

/** A part of the canvas that clips: the tracks that are pinned, or those that scroll. */
interface Part {
  readonly placed: readonly Placed[];
  readonly scene: Scene;
  readonly y: number;
  readonly height: number;
  /** Where text may begin: below the header that stays. */
  readonly textTop: number;
}

/** Draws the rectangles of the lower canvas. Returns what draw() then writes over them. */
export function paint(pixels: Pixels, frame: Frame, scenes: Scenes, ratio: number): Painted {
  const { palette, width, height } = frame;
  const colours = pixelsOf(palette);
  pixels.begin(width, height, ratio, colours.token.bg);
  const ticks = ruler(frame.view, width - GUTTER);
  for (const tick of ticks.ticks) {
    const x = Math.round(xOf(frame, tick.time));
    pixels.rect(x, TOP, 1, height - TOP, colours.token.line);
  }
  const placed = visible(frame.layout, frame.scroll, height);
  const room = pinnedRoom(frame.layout, height);
  const sticky = stickyHeader(frame.layout, frame.scroll, height);
  const top = TOP + room;
  const low = sticky === null ? top : Math.max(top, sticky.y + sticky.band.height);
  const most = MOST_RECTANGLES - OTHER_RECTANGLES - miniRectangles(frame);
  const few = room === 0 ? 0 : most * PINNED_SHARE;
  const parts: Part[] = [
    {
      placed: placed.filter(({ band }) => !band.pinned),
      scene: scenes.scrolled,
      y: top,
      height: height - top,
      textTop: low,
    },
    {
      placed: placed.filter(({ band }) => band.pinned),
      scene: scenes.pinned,
      y: TOP,
      height: room,
      textTop: TOP,
    },
  ];
  for (const part of parts) {
    const picture = (track: number) => frame.store.picture(track);
    const share = part.scene === scenes.pinned ? few : most - few;
    buildScene({ ...frame, placed: part.placed, picture, most: share }, part.scene);
    pixels.within(GUTTER, part.y, width - GUTTER, part.height);
    for (const place of part.placed) groundOf(pixels, frame, place, colours);
    rectanglesOf(pixels, part.scene.rectangles, colours);
    pixels.within(0, part.y, width, part.height);
    for (const place of part.placed) stripGround(pixels, frame, place, colours);
  }
  if (sticky !== null) {
    pixels.within(0, top, width, height - top);
    headerGround(pixels, frame, sticky.y, sticky.band, colours);
  }
  pixels.within(0, 0, width, height);
  if (room > 0) pixels.rect(0, top - 1, width, 1, colours.token.line2);
  thumbOf(pixels, frame, room, colours);
  pixels.rect(0, MINIMAP, width, RULER, colours.token.bg);
  pixels.rect(0, TOP - 1, width, 1, colours.token.line2);
  for (const tick of ticks.ticks) {
    const x = Math.round(xOf(frame, tick.time));
    if (x >= GUTTER) pixels.rect(x, MINIMAP + 4, 1, RULER - 4, colours.token.line2);
  }
  paintMinimap(pixels, frame);
  return { parts, sticky, ticks };
}

export interface Painted {
  readonly parts: readonly Part[];
  readonly sticky: Placed | null;
  readonly ticks: Ruler;
}

/** Writes lines and texts over the rectangles. */
export function write(pen: Pen, frame: Frame, painted: Painted, ratio: number): void {
  const { palette, width } = frame;
  pen.begin(palette, ratio);
  for (const part of painted.parts) {
    const tall = Math.max(0, part.y + part.height - part.textTop);
    pen.within(GUTTER, part.textTop, width - GUTTER, tall, () => {
      for (const { band, y } of part.placed) {
        if (band.track !== null && isCounter(band.track.kind)) paintCounter(pen, frame, band, y);
        else writeOuter(pen, frame, { band, y });
      }
      paintLabels(pen, palette, part.scene.labels);
    });
    pen.within(0, part.textTop, width, tall, () => {
      for (const place of part.placed) writeNames(pen, frame, place, part.textTop);
    });
  }
  const { sticky } = painted;
  const scrolled = painted.parts[0];
  if (sticky !== null && scrolled !== undefined) {
    pen.within(0, scrolled.y, width, sticky.band.height, () =>
      writeHeader(pen, frame, sticky.band, sticky.y),
    );
  }
  writeRuler(pen, frame, painted.ticks);
  writeMinimap(pen, frame);
}

function rectanglesOf(pixels: Pixels, rectangles: Rectangles, colours: Pixelled): void {
  rectangles.each((bucket) => {
    const colour = (bucket.dim ? colours.dim : colours.ink)[bucket.ink];
    const { data, length } = bucket;
    const hatched = bucket.ink === "hatch";
    const soft = SOFT.has(bucket.layer);
    for (let i = 0; i < length; i += 4) {
      const [x, y, w, h] = [data[i] ?? 0, data[i + 1] ?? 0, data[i + 2] ?? 0, data[i + 3] ?? 0];
      if (hatched) pixels.hatch(x, y, w, h, colour);
      else if (bucket.layer === "bars") pixels.bar(x, y, w, h, colour);
      else if (soft) pixels.soft(x, y, w, h, colour);
      else pixels.rect(x, y, w, h, colour);
    }
  });
}

function paintLabels(pen: Pen, palette: Palette, labels: readonly Label[]): void {
  for (const label of labels) {
    pen.colour(label.on === null ? palette.token.text2 : palette.ink[label.on]);
    pen.context.globalAlpha = label.dim ? DIM : 1;
    pen.text(label.text, label.x, label.y);
  }
  pen.context.globalAlpha = 1;
}

/** Most outer frames that are named, the innermost ones. */
const MOST_OUTER = 4;

/** Hatches the part of a track that is not loaded yet: "nothing here" would not be true. */
function groundOf(pixels: Pixels, frame: Frame, { band, y }: Placed, colours: Pixelled): void {
  if (band.track === null) return;
  const have = isCounter(band.track.kind)
    ? frame.store.counter(band.track.id)
    : frame.store.picture(band.track.id);
  if (have === undefined) return;
  const first = Math.max(xOf(frame, frame.whole.start), GUTTER);
  const last = Math.min(xOf(frame, frame.whole.end), frame.width);
  const from = Math.min(xOf(frame, have.window.start), last);
  const to = Math.max(xOf(frame, have.window.end), first);
  const tall = band.height - 2 * PAD - 1;
  const line = colours.token.line2;
  if (from > first + 1) pixels.hatch(first, y + PAD, from - first, tall, line);
  if (to < last - 1) pixels.hatch(to, y + PAD, last - to, tall, line);
}

function headerGround(
  pixels: Pixels,
  frame: Frame,
  y: number,
  band: Band,
  colours: Pixelled,
): void {
  pixels.rect(0, y, frame.width, band.height - 1, colours.token.sunken);
}

/** Draws the ground of a strip's name, and the lines around it. */
function stripGround(pixels: Pixels, frame: Frame, { band, y }: Placed, colours: Pixelled): void {
  if (band.track === null) {
    headerGround(pixels, frame, y, band, colours);
    return;
  }
  pixels.rect(0, y, GUTTER - 1, band.height, colours.token.bg);
  pixels.rect(GUTTER - 1, y, 1, band.height, colours.token.line2);
  pixels.rect(0, y + band.height - 1, frame.width, 1, colours.token.line);
}

function thumbOf(pixels: Pixels, frame: Frame, room: number, colours: Pixelled): void {
  const seen = frame.height - TOP - room;
  const all = frame.layout.height;
  if (all <= seen || seen < 20) return;
  const tall = Math.max(24, (seen / all) * seen);
  const y = TOP + room + (frame.scroll / (all - seen)) * (seen - tall);
  pixels.rect(frame.width - 5, y, 4, tall, colours.thumb);
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

/** Names the outer frames of a strip in its first row, and what a click there does. */
function writeOuter(pen: Pen, frame: Frame, { band, y }: Placed): void {
  if (band.track === null || y + PAD + band.rowHeight < TOP) return;
  const rows = frame.store.picture(band.track.id)?.rows;
  if (rows === undefined || rows.outer.length === 0) return;
  const what = rows.isUnfolded ? "fold" : "unfold";
  const names = rows.outer.slice(-MOST_OUTER).map((name) => shortName(name).split(" · ")[0] ?? "");
  const all = `${count(rows.outer.length)} outer frames`;
  const words = rows.isUnfolded ? all : [all, ...names].join(" › ");
  const room = frame.width - GUTTER - 24 - frame.widths.of(what);
  const text = frame.widths.cut(words, Math.max(0, room));
  const middle = y + PAD + band.rowHeight / 2;
  pen.colour(frame.palette.token.text3);
  pen.text(text, GUTTER + 4, middle);
  pen.colour(frame.palette.token.accent);
  pen.text(what, GUTTER + 12 + frame.widths.of(text), middle);
}

/** Writes the name of a strip, which stays in sight in a tall track. */
function writeNames(pen: Pen, frame: Frame, { band, y }: Placed, top: number): void {
  const { palette } = frame;
  if (band.track === null) {
    writeHeader(pen, frame, band, y);
    return;
  }
  const below = band.note === "" ? band.caption : band.note;
  const beside = band.note === "" ? "" : band.caption;
  // The last line of the track pushes its name out.
  const lines = band.height > 30 && below !== "" ? 2 : 1;
  const lowest = y + band.height - (lines === 2 ? 34 : 20);
  const at = Math.max(y, Math.min(top, lowest));
  const room = GUTTER - 16 - 8;
  pen.colour(palette.token.text2);
  const title = frame.widths.cut(band.title, room);
  const middle = at + (lines === 1 && band.height < 30 ? band.height / 2 : 12);
  pen.text(title, 16, middle);
  pen.colour(palette.token.text3);
  if (lines === 2) pen.text(frame.widths.cut(below, room), 16, at + 26);
  const same = lines === 2 ? beside : band.caption || band.note;
  if (same === "") return;
  const left = 16 + frame.widths.of(title) + 8;
  pen.text(frame.widths.cut(same, GUTTER - left - 8), left, middle);
}

function writeHeader(pen: Pen, frame: Frame, band: Band, y: number): void {
  const { palette, width } = frame;
  pen.colour(palette.token.text);
  pen.context.font = fontOf(palette, 600);
  const title = shown(band.title, 80);
  pen.text(title, 16, y + 12);
  const after = 24 + pen.context.measureText(title).width;
  pen.context.font = fontOf(palette);
  pen.colour(palette.token.text3);
  pen.text(frame.widths.cut(band.caption, Math.max(0, width - after - 16)), after, y + 12);
}

function writeRuler(pen: Pen, frame: Frame, ticks: Ruler): void {
  const { palette, width } = frame;
  pen.colour(palette.token.text3);
  const { selection } = frame;
  // The length of the selection stands on the ruler: no label is half below it.
  const middle =
    selection === null ? null : (xOf(frame, selection.start) + xOf(frame, selection.end)) / 2;
  for (const tick of ticks.ticks) {
    const x = Math.round(xOf(frame, tick.time)) + 4;
    const right = x + frame.widths.of(tick.label);
    const below = middle !== null && right > middle - LENGTH_PX && x < middle + LENGTH_PX;
    if (right < width && !below) pen.text(tick.label, x, MINIMAP + 11);
  }
  const span = duration(frame.view.end - frame.view.start);
  pen.text(`${ticks.unit} · ${span} shown`, 16, MINIMAP + 11);
}
