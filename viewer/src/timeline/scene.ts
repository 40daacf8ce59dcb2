// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Turns the pictures of the visible tracks into rectangles and labels. It knows no canvas. If a
// frame would have too many rectangles, small slices are gathered into wider columns until they fit.

import type { Bars as CellBars, TraceInfo, TrackKind } from "../trace/api";
import type { Match } from "./finding";
import { foldLabel, readable, shortName, type Widths } from "./labels";
import { type Band, GUTTER, PAD, type Placed } from "./layout";
import { barSlot, isHatched, isModule, isNeutral, SLOTS, type Slot, slotOf } from "./palette";
import { LAYER, Rectangles } from "./rectangles";
import { NO_ROW } from "./rows";
import { columnOf, type Picture } from "./store";
import { duration } from "./units";
import type { Window } from "./view";

/** Rectangles that a frame may have, with everything. */
export const MOST_RECTANGLES = 20_000;

export interface Label {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  /** Slot that the label stands on; null: text2 on the ground. */
  readonly on: Slot | null;
  readonly dim: boolean;
}

export interface Scene {
  readonly rectangles: Rectangles;
  readonly labels: Label[];
  /** How many times wider than usual the columns of small slices are; 1: as they are. */
  factor: number;
}

export interface SceneInput {
  readonly view: Window;
  readonly width: number;
  readonly placed: readonly Placed[];
  picture(track: number): Picture | undefined;
  readonly match: Match | null;
  readonly widths: Widths;
  /** The trace: whether its events are still being read. */
  readonly info: Pick<TraceInfo, "is_rough">;
  /** Rectangles that the scene may have. */
  readonly most: number;
}

const SLOT_INDEX = new Map<Slot, number>(SLOTS.map((slot, index) => [slot, index]));
/** Columns of this factor are wider than any screen. */
const MOST_FACTOR = 1 << 12;
const NARROW = 4;
const LABEL_FROM = 22;
/** Rows from this height have room for a second line. */
const TALL = 28;
/** A lone slice of less than a pixel is at least so tall: it must be seen. */
const LEAST_TALL = 2;

export function emptyScene(): Scene {
  return { rectangles: new Rectangles(), labels: [], factor: 1 };
}

/** Fills the scene. The factor of the scene before is the first guess: mostly one try is enough. */
export function buildScene(input: SceneInput, scene: Scene): void {
  // With room to spare a finer picture is tried; a finer one may have twice the rectangles.
  const roomy = scene.rectangles.count * 3 < input.most;
  let factor = roomy ? Math.max(1, scene.factor / 2) : scene.factor;
  while (!fill(input, scene, factor) && factor < MOST_FACTOR) factor *= 2;
}

/** Fills the scene with columns of a factor. Says if the rectangles are not too many. */
function fill(input: SceneInput, scene: Scene, factor: number): boolean {
  scene.rectangles.clear();
  scene.labels.length = 0;
  scene.factor = factor;
  for (const { band, y } of input.placed) {
    if (band.track === null) continue;
    const picture = input.picture(band.track.id);
    if (picture === undefined) continue;
    new TrackScene(input, scene, picture, band, y + PAD).build(factor);
    if (scene.rectangles.count > input.most && factor < MOST_FACTOR) return false;
  }
  return true;
}

/** A column that small slices of a row are gathered in. */
interface Column {
  at: number;
  ns: Float64Array;
  dim: boolean;
}

/**
 * Draws the columns of a cell so that their areas are true: what runs in a part of a pixel has that
 * part of the pixel's height. Pixels that are alike are one rectangle.
 */
class Bars {
  /** By pixel and slot: the part of the pixel. */
  private shares = new Float64Array(0);
  /** By pixel: a bit for each slot that has a part. */
  private slots = new Uint32Array(0);
  private first = 0;
  private pixels = 0;

  constructor(private readonly list: Rectangles) {}

  /** Begins a cell between two places. */
  begin(left: number, right: number): void {
    this.first = Math.floor(left);
    this.pixels = Math.max(0, Math.ceil(right) - this.first);
    if (this.pixels <= this.slots.length) return;
    this.slots = new Uint32Array(2 * this.pixels);
    this.shares = new Float64Array(2 * this.pixels * SLOTS.length);
  }

  /** Adds a bar. It fills `share` of the height of the cell, and stays within the cell. */
  add(left: number, right: number, slot: number, share: number): void {
    const { shares, slots, first } = this;
    const end = Math.min(right - first, this.pixels);
    for (let from = Math.max(left - first, 0); from < end; ) {
      const pixel = Math.floor(from);
      const to = Math.min(pixel + 1, end);
      const at = pixel * SLOTS.length + slot;
      shares[at] = (shares[at] as number) + (to - from) * share;
      slots[pixel] = (slots[pixel] as number) | (1 << slot);
      from = to;
    }
  }

  /** Draws the bars upwards from `base`. */
  end(base: number, room: number, dim: boolean): void {
    for (let i = 0; i < this.pixels; ) {
      let next = i + 1;
      while (next < this.pixels && this.areAlike(i, next)) next++;
      this.emit(i, next - i, base, room, dim);
      i = next;
    }
    this.shares.fill(0, 0, this.pixels * SLOTS.length);
    this.slots.fill(0, 0, this.pixels);
  }

  private areAlike(one: number, two: number): boolean {
    const { shares, slots } = this;
    if (slots[one] !== slots[two]) return false;
    for (let left = slots[one] as number; left !== 0; left &= left - 1) {
      const slot = lowest(left);
      if (shares[one * SLOTS.length + slot] !== shares[two * SLOTS.length + slot]) return false;
    }
    return true;
  }

  private emit(pixel: number, width: number, base: number, room: number, dim: boolean): void {
    let y = base;
    for (let left = this.slots[pixel] as number; left !== 0; left &= left - 1) {
      const slot = lowest(left);
      const share = this.shares[pixel * SLOTS.length + slot] as number;
      const tall = Math.min(share * room, y - base + room);
      if (tall <= 0) break;
      y -= tall;
      this.list.add(LAYER.bars, SLOTS[slot] ?? "bar", dim, this.first + pixel, y, width, tall);
    }
  }
}

/** Returns the number of the lowest bit that is set. */
function lowest(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}

class TrackScene {
  private readonly scale: number;
  private readonly kind: TrackKind;
  private readonly rowHeight: number;
  private readonly height: number;
  private readonly right: number;
  private readonly columns = new Map<number, Column>();
  private readonly bars: Bars;

  constructor(
    private readonly input: SceneInput,
    private readonly scene: Scene,
    private readonly picture: Picture,
    private readonly band: Band,
    private readonly top: number,
  ) {
    const { view, width } = input;
    this.kind = band.track?.kind ?? "stream";
    this.rowHeight = band.rowHeight;
    this.scale = (width - GUTTER) / Math.max(view.end - view.start, 1);
    this.height = band.rowHeight - 1;
    this.right = width;
    this.bars = new Bars(scene.rectangles);
  }

  build(factor: number): void {
    const { spans, rows } = this.picture;
    const { view, match } = this.input;
    // Powers of two: edges of columns are then exact.
    const pixel = 2 ** Math.ceil(Math.log2(1 / this.scale));
    const columnNs = Math.max(columnOf(this.picture.ns_per_px), pixel) * factor;
    const n = spans.start_ns.length;
    const names = match === null ? null : match.flags(this.picture.names);
    for (let i = 0; i < n; i++) {
      const start = spans.start_ns[i] ?? 0;
      if (start > view.end) break;
      const end = spans.end_ns[i] ?? 0;
      const row = rows.row[i] ?? NO_ROW;
      // A picture of the whole may have more rows than the one that its strip was made for.
      if (end < view.start || row === NO_ROW || row >= this.band.rows) continue;
      const y = this.top + row * this.rowHeight;
      const narrow = factor > 1 && (end - start) * this.scale < NARROW * factor;
      if ((spans.count[i] ?? 1) > 1) {
        const hit = match?.inCell(spans.track, start, end) ?? null;
        if (narrow) this.gatherCell(i, row, columnNs, hit === false);
        else this.cell(i, y, factor > 1 ? columnNs : 0, hit);
        continue;
      }
      const dim = names !== null && names[spans.name[i] ?? 0] !== 1;
      if (narrow) {
        this.gather(row, start, end, spans.cls[i] ?? 0, columnNs, dim);
      } else {
        this.slice(i, start, end, y, dim);
      }
    }
    for (const [row, column] of this.columns) this.flush(row, column, columnNs);
    this.columns.clear();
  }

  private x(time: number): number {
    return GUTTER + (time - this.input.view.start) * this.scale;
  }

  private slice(i: number, start: number, end: number, y: number, dim: boolean): void {
    const { spans, names } = this.picture;
    const cls = spans.cls[i] ?? 0;
    const left = Math.max(GUTTER - 2, this.x(start));
    const right = Math.min(this.right + 2, this.x(end));
    const wide = right - left;
    const width = Math.max(1, wide - (wide > 6 ? 1 : 0));
    const name = names[spans.name[i] ?? -1] ?? "";
    const slot = this.kind === "python" && isModule(name) ? "n3" : slotOf(cls, this.kind);
    // A lone short slice of the host would not be seen in the colour of the ground.
    const ink = wide < NARROW ? barSlot(slot) : slot;
    if (end - start < 1 / this.scale) {
      this.speck(ink, left, y, Math.max(0, wide), dim);
      return;
    }
    this.scene.rectangles.add(LAYER.slices, ink, dim, left, y, width, this.height);
    if (isHatched(cls) && width > 2) {
      this.scene.rectangles.add(LAYER.hatch, "hatch", dim, left, y, width, this.height);
    }
    if (width < LABEL_FROM) return;
    const x = Math.max(left, GUTTER) + 4;
    const room = left + width - x - 3;
    const tall = this.height >= TALL;
    const length = duration(spans.busy_ns[i] ?? end - start);
    const words = shortName(name) + (this.kind === "steps" ? ` · ${length}` : "");
    const text = readable(words, this.input.widths.cut(words, room));
    const at = tall ? y + 11 : y + this.height / 2 + 0.5;
    if (text !== "") this.scene.labels.push({ text, x, y: at, on: slot, dim });
    if (!tall || width < 54) return;
    const second = readable(length, this.input.widths.cut(length, room));
    if (second !== "") this.scene.labels.push({ text: second, x, y: y + 26, on: slot, dim });
  }

  /** Draws a lone slice of less than a pixel like a column of a cell: its height is its share. */
  private speck(ink: Slot, left: number, y: number, wide: number, dim: boolean): void {
    const tall = Math.max(LEAST_TALL, this.height * Math.min(wide, 1));
    const at = Math.floor(left);
    this.scene.rectangles.add(LAYER.slices, ink, dim, at, y + this.height - tall, 1, tall);
  }

  /**
   * Draws a folded cell: a bar chart of itself, with its count. `columnNs`: the width of columns that
   * are wider than those of the picture; 0: they are not.
   */
  private cell(i: number, y: number, columnNs: number, hit: boolean | null): void {
    const { spans } = this.picture;
    const list = this.scene.rectangles;
    const start = spans.start_ns[i] ?? 0;
    const end = spans.end_ns[i] ?? 0;
    const busy = spans.busy_ns[i] ?? 0;
    const left = Math.max(GUTTER - 2, this.x(start));
    const right = Math.min(this.right + 2, this.x(end));
    const width = Math.max(1, right - left);
    const tall = this.height >= TALL;
    const room = tall ? this.height - 14 : this.height;
    const base = y + this.height;
    const dim = hit === false;
    list.add(LAYER.ground, "n1", dim, left, y, width, this.height);
    const bars = spans.bars;
    if (Number.isNaN(busy)) {
      list.add(LAYER.hatch, "hatch", dim, left, y, width, this.height);
    } else if (bars === undefined) {
      const share = Math.min(1, busy / Math.max(end - start, 1));
      const tallness = Math.max(1, share * room);
      const ink = barSlot(slotOf(spans.cls[i] ?? 0, this.kind));
      list.add(LAYER.bars, ink, dim, left, base - tallness, width, tallness);
    } else {
      this.bars.begin(left, right);
      if (columnNs === 0) this.addBars(bars, i);
      else this.addColumns(bars, i, columnNs, start, end);
      this.bars.end(base, room, dim);
    }
    list.add(LAYER.edges, "line3", dim, left, y, width, 1);
    if (hit === true) list.add(LAYER.marks, "text", false, left, base - 2, width, 2);
    // The label of a low row stands on the bars; that is only readable on neutral ones.
    const slot = barSlot(slotOf(spans.cls[i] ?? 0, this.kind));
    if (width < LABEL_FROM || (!tall && !isNeutral(slot))) return;
    const x = Math.max(left, GUTTER) + 3;
    const share = busy / Math.max(end - start, 1);
    const free = left + width - x - 3;
    const why = this.input.info.is_rough === true ? "being read" : "left out";
    const text = foldLabel(spans.count[i] ?? 0, share, free, this.input.widths, why);
    const at = tall ? y + 8 : y + this.height / 2 + 0.5;
    if (text !== "") {
      this.scene.labels.push({ text, x, y: at, on: tall ? null : "bar", dim });
    }
  }

  /** Adds the bars of a cell, each where its events ran. */
  private addBars(bars: CellBars, i: number): void {
    const last = bars.first[i + 1] ?? 0;
    for (let k = bars.first[i] ?? 0; k < last; k++) {
      const from = bars.start_ns[k] ?? 0;
      const to = bars.end_ns[k] ?? 0;
      const slot = this.slotIndex(bars.cls[k] ?? 0);
      this.bars.add(this.x(from), this.x(to), slot, (bars.busy_ns[k] ?? 0) / (to - from));
    }
  }

  /** Adds the bars of a cell, gathered in wider columns. */
  private addColumns(
    bars: CellBars,
    i: number,
    columnNs: number,
    start: number,
    end: number,
  ): void {
    const column: Column = { at: Number.NaN, ns: new Float64Array(SLOTS.length), dim: false };
    const last = bars.first[i + 1] ?? 0;
    for (let k = bars.first[i] ?? 0; k < last; k++) {
      const at = Math.floor((bars.start_ns[k] ?? 0) / columnNs);
      if (at !== column.at) {
        this.stack(column, columnNs, start, end);
        column.at = at;
      }
      const slot = this.slotIndex(bars.cls[k] ?? 0);
      column.ns[slot] = (column.ns[slot] ?? 0) + (bars.busy_ns[k] ?? 0);
    }
    this.stack(column, columnNs, start, end);
  }

  /** Adds a column to the bars of a cell, and empties it. */
  private stack(column: Column, columnNs: number, start: number, end: number): void {
    if (Number.isNaN(column.at)) return;
    const from = Math.max(start, column.at * columnNs);
    const to = Math.min(end, (column.at + 1) * columnNs);
    column.ns.forEach((ns, slot) => {
      if (ns > 0) this.bars.add(this.x(from), this.x(to), slot, ns / Math.max(to - from, 1));
    });
    column.ns.fill(0);
  }

  /** Returns the place in the stack of a class's bars. */
  private slotIndex(cls: number): number {
    return SLOT_INDEX.get(barSlot(slotOf(cls, this.kind))) ?? 0;
  }

  /** Adds a slice that is too small for this frame to the columns of its row. */
  private gather(
    row: number,
    start: number,
    end: number,
    cls: number,
    columnNs: number,
    dim: boolean,
  ): void {
    const slot = this.slotIndex(cls);
    let column = this.columns.get(row);
    if (column === undefined) {
      column = { at: Number.NaN, ns: new Float64Array(SLOTS.length), dim: true };
      this.columns.set(row, column);
    }
    let from = start;
    do {
      const at = Math.floor(from / columnNs);
      if (at !== column.at) {
        this.flush(row, column, columnNs);
        column.at = at;
        column.dim = true;
      }
      const to = Math.min(end, (at + 1) * columnNs);
      column.ns[slot] = (column.ns[slot] ?? 0) + Math.max(to - from, 0);
      column.dim = column.dim && dim;
      from = to;
    } while (from < end);
  }

  /** Adds a folded cell that is too small for this frame to the columns of its row. */
  private gatherCell(i: number, row: number, columnNs: number, dim: boolean): void {
    const { spans } = this.picture;
    const { bars } = spans;
    if (bars === undefined) {
      const start = spans.start_ns[i] ?? 0;
      const busy = spans.busy_ns[i] ?? 0;
      if (!Number.isNaN(busy))
        this.gather(row, start, start + busy, spans.cls[i] ?? 0, columnNs, dim);
      return;
    }
    const last = bars.first[i + 1] ?? 0;
    for (let k = bars.first[i] ?? 0; k < last; k++) {
      const start = bars.start_ns[k] ?? 0;
      this.gather(row, start, start + (bars.busy_ns[k] ?? 0), bars.cls[k] ?? 0, columnNs, dim);
    }
  }

  private flush(row: number, column: Column, columnNs: number): void {
    if (Number.isNaN(column.at)) return;
    const y = this.top + row * this.rowHeight;
    const from = column.at * columnNs;
    const left = Math.max(GUTTER - 2, this.x(from));
    const right = Math.min(this.right + 2, this.x(from + columnNs));
    if (right > left) {
      const width = right - left;
      this.scene.rectangles.add(LAYER.ground, "n1", column.dim, left, y, width, this.height);
      this.scene.rectangles.add(LAYER.edges, "line3", column.dim, left, y, width, 1);
    }
    this.bars.begin(left, right);
    this.stack(column, columnNs, from, from + columnNs);
    this.bars.end(y + this.height, this.height, column.dim);
    column.at = Number.NaN;
  }
}
