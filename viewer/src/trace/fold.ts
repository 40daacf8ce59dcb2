// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Gathers short spans into cells, by the rule of api.ts and of the design of the timeline: a cell is
// a power of two wide and aligned to time 0. A gap of more than 10 px ends a cell, and so does a
// span that is drawn by itself. Input comes in the order of starts, lane by lane or mixed.

import { type Bars, CLASSES, type Spans } from "./api";
import { Floats, Words } from "./growing";
import { MOST_LANES } from "./lanes";

export const FOLDED = 0xffffffff;
const SHORT_PX = 4;
const GAP_PX = 10;
const CLASS_COUNT = CLASSES.length;
const OTHER = CLASSES.indexOf("other");
/** Columns of a cell. */
const COLUMNS = 64;
/** A short span that begins in the last column may reach into four more. */
const ALL_COLUMNS = COLUMNS + 4;

/** What the zoom means in nanoseconds. */
export interface Zoom {
  /** Spans shorter than this are gathered. */
  readonly short: number;
  /** A longer gap ends a cell. */
  readonly gap: number;
  /** Width of a cell. */
  readonly width: number;
  /** A column is a 64th of a cell, 1 to 2 px. This is the exponent of 2. */
  readonly columnBits: number;
}

export function zoomOf(nsPerPx: number): Zoom {
  const perPx = Number.isFinite(nsPerPx) && nsPerPx > 0 ? nsPerPx : 1;
  const bits = Math.ceil(Math.log2(perPx * 64));
  // Rounding of the logarithm must not make a cell too narrow or too wide.
  let exact = bits;
  while (2 ** exact < perPx * 64) exact++;
  while (2 ** (exact - 1) >= perPx * 64) exact--;
  return {
    short: perPx * SHORT_PX,
    gap: perPx * GAP_PX,
    width: 2 ** exact,
    columnBits: exact - 6,
  };
}

/** The columns of a cell: their time by class, and from when until when something ran in them. */
class OpenColumns {
  readonly busy = new Float64Array(ALL_COLUMNS * CLASS_COUNT);
  readonly first = new Float64Array(ALL_COLUMNS).fill(Number.POSITIVE_INFINITY);
  readonly last = new Float64Array(ALL_COLUMNS).fill(Number.NEGATIVE_INFINITY);

  clear(): void {
    this.busy.fill(0);
    this.first.fill(Number.POSITIVE_INFINITY);
    this.last.fill(Number.NEGATIVE_INFINITY);
  }
}

export class Folder {
  private readonly cell = new Float64Array(MOST_LANES);
  private readonly first = new Float64Array(MOST_LANES);
  private readonly last = new Float64Array(MOST_LANES);
  private readonly count = new Float64Array(MOST_LANES);
  private readonly busy = new Float64Array(MOST_LANES);
  private readonly name = new Uint32Array(MOST_LANES);
  private readonly row = new Uint32Array(MOST_LANES);
  private readonly byClass = new Float64Array(MOST_LANES * CLASS_COUNT);
  private readonly out = {
    start: new Floats(),
    end: new Floats(),
    lane: new Words(),
    name: new Words(),
    cls: new Words(),
    row: new Words(),
    count: new Words(),
    busy: new Floats(),
    bars: new Words(),
  };
  /** By lane: the columns of the open cell. */
  private readonly columns: (OpenColumns | undefined)[] = [];
  private readonly bars = {
    start: new Floats(),
    end: new Floats(),
    cls: new Words(),
    busy: new Floats(),
  };

  constructor(
    private readonly zoom: Zoom,
    private readonly from: number,
    private readonly to: number,
    private readonly classOf: readonly number[],
  ) {}

  /** Takes a span. */
  span(lane: number, start: number, end: number, name: number, row: number): void {
    const duration = end - start;
    if (duration >= this.zoom.short) {
      this.flush(lane);
      this.emit(lane, start, end, name, this.classOf[name] ?? 0, row, 1, duration, 0);
      return;
    }
    this.open(lane, start);
    this.put(lane, start, end, name, row, 1, duration);
    const cls = this.classOf[name] ?? 0;
    const column = 2 ** this.zoom.columnBits;
    let from = start;
    do {
      // Where doubles hold no finer columns the rest is in one.
      const next = (Math.floor(from / column) + 1) * column;
      const to = next > from ? Math.min(end, next) : end;
      this.addTime(lane, this.extend(lane, from, to), cls, to - from);
      from = to;
    } while (from < end);
  }

  /**
   * Takes spans of one column that were gathered before. `timeOf`: their time by class; `lastCls`:
   * the class of the last one, which may reach into the next column.
   */
  gathered(
    lane: number,
    first: number,
    last: number,
    name: number,
    row: number,
    count: number,
    timeOf: (cls: number) => number,
    lastCls: number,
  ): void {
    let busy = 0;
    for (let i = 0; i < CLASS_COUNT; i++) busy += timeOf(i);
    this.open(lane, first);
    this.put(lane, first, last, name, row, count, busy);
    const column = 2 ** this.zoom.columnBits;
    const next = (Math.floor(first / column) + 1) * column;
    const beyond = Math.min(Math.max(last - next, 0), timeOf(lastCls));
    const place = this.extend(lane, first, Math.min(last, next));
    for (let i = 0; i < CLASS_COUNT; i++)
      this.addTime(lane, place, i, timeOf(i) - (i === lastCls ? beyond : 0));
    if (beyond > 0) this.addTime(lane, this.extend(lane, next, last), lastCls, beyond);
  }

  /** Takes spans of which only the number is known. They are on the first lane. */
  unknown(start: number, end: number, count: number): void {
    this.emit(0, start, end, FOLDED, OTHER, FOLDED, count, Number.NaN, 0);
  }

  private columnsOf(lane: number): OpenColumns {
    this.columns[lane] ??= new OpenColumns();
    return this.columns[lane];
  }

  /** Notes that something ran in a column of the cell, or just behind it. Returns its place. */
  private extend(lane: number, from: number, to: number): number {
    const { first, last } = this.columnsOf(lane);
    const column = Math.floor(from / 2 ** this.zoom.columnBits);
    const place = column - (this.cell[lane] as number) * COLUMNS;
    if (from < (first[place] as number)) first[place] = from;
    if (to > (last[place] as number)) last[place] = to;
    return place;
  }

  /** Adds time to the cell's class and to a column. */
  private addTime(lane: number, place: number, cls: number, time: number): void {
    if (time === 0) return;
    const at = lane * CLASS_COUNT + cls;
    this.byClass[at] = (this.byClass[at] as number) + time;
    const { busy } = this.columnsOf(lane);
    const bar = place * CLASS_COUNT + cls;
    busy[bar] = (busy[bar] as number) + time;
  }

  /** Ends the columns of a cell. Returns the number of its bars. */
  private flushBars(lane: number, isOne: boolean): number {
    const columns = this.columns[lane];
    if (columns === undefined) return 0;
    let bars = 0;
    for (let i = 0; i < columns.busy.length && !isOne; i++) {
      const busy = columns.busy[i] as number;
      if (busy === 0) continue;
      const place = Math.floor(i / CLASS_COUNT);
      this.bars.start.push(columns.first[place] as number);
      this.bars.end.push(columns.last[place] as number);
      this.bars.cls.push(i % CLASS_COUNT);
      this.bars.busy.push(busy);
      bars++;
    }
    columns.clear();
    return bars;
  }

  private open(lane: number, start: number): void {
    const cell = Math.floor(start / this.zoom.width);
    if ((this.count[lane] as number) !== 0) {
      const isNext = cell !== this.cell[lane];
      if (isNext || start - (this.last[lane] as number) > this.zoom.gap) this.flush(lane);
    }
    this.cell[lane] = cell;
  }

  private put(
    lane: number,
    start: number,
    end: number,
    name: number,
    row: number,
    count: number,
    busy: number,
  ): void {
    if (this.count[lane] === 0) {
      this.first[lane] = start;
      this.last[lane] = end;
      this.name[lane] = name;
      this.row[lane] = row;
    } else if (end > (this.last[lane] as number)) {
      this.last[lane] = end;
    }
    this.count[lane] = (this.count[lane] as number) + count;
    this.busy[lane] = (this.busy[lane] as number) + busy;
  }

  private flush(lane: number): void {
    const count = this.count[lane] as number;
    if (count === 0) return;
    const isOne = count === 1;
    let cls = 0;
    const at = lane * CLASS_COUNT;
    for (let i = 1; i < CLASS_COUNT; i++)
      if ((this.byClass[at + i] as number) > (this.byClass[at + cls] as number)) cls = i;
    const name = this.name[lane] as number;
    // Moments have no time: then the class is that of the first one.
    if (isOne || this.byClass[at + cls] === 0) cls = this.classOf[name] ?? 0;
    this.emit(
      lane,
      this.first[lane] as number,
      this.last[lane] as number,
      isOne ? name : FOLDED,
      cls,
      isOne ? (this.row[lane] as number) : FOLDED,
      count,
      this.busy[lane] as number,
      this.flushBars(lane, isOne),
    );
    this.count[lane] = 0;
    this.busy[lane] = 0;
    this.byClass.fill(0, at, at + CLASS_COUNT);
  }

  private emit(
    lane: number,
    start: number,
    end: number,
    name: number,
    cls: number,
    row: number,
    count: number,
    busy: number,
    bars: number,
  ): void {
    const { out } = this;
    if (start >= this.to || (end <= this.from && start < this.from)) {
      for (const list of Object.values(this.bars)) list.length -= bars;
      return;
    }
    out.start.push(start);
    out.end.push(end);
    out.lane.push(lane);
    out.name.push(name);
    out.cls.push(cls);
    out.row.push(row);
    out.count.push(count);
    out.busy.push(busy);
    out.bars.push(bars);
  }

  /** Returns the bars of all rectangles in an order of rectangles. */
  private barsIn(order: Uint32Array): Bars {
    const { out, bars } = this;
    const place = new Uint32Array(order.length);
    for (let i = 1; i < order.length; i++) place[i] = (place[i - 1] as number) + out.bars.at(i - 1);
    const first = new Uint32Array(order.length + 1);
    const from: number[] = [];
    for (let i = 0; i < order.length; i++) {
      const rectangle = order[i] as number;
      for (let k = 0; k < out.bars.at(rectangle); k++) from.push((place[rectangle] as number) + k);
      first[i + 1] = from.length;
    }
    return {
      first,
      start_ns: Float64Array.from(from, (i) => bars.start.at(i)),
      end_ns: Float64Array.from(from, (i) => bars.end.at(i)),
      cls: Uint8Array.from(from, (i) => bars.cls.at(i)),
      busy_ns: Float64Array.from(from, (i) => bars.busy.at(i)),
    };
  }

  /** Ends all cells. Returns what is to be drawn, by start. Names are those of the trace. */
  finish(track: number): Spans {
    for (let lane = 0; lane < MOST_LANES; lane++) this.flush(lane);
    const { out } = this;
    const order = new Uint32Array(out.start.length);
    for (let i = 0; i < order.length; i++) order[i] = i;
    order.sort((x, y) => out.start.at(x) - out.start.at(y) || out.lane.at(x) - out.lane.at(y));
    const floats = (from: Floats) => Float64Array.from(order, (i) => from.at(i));
    const words = (from: Words) => Uint32Array.from(order, (i) => from.at(i));
    return {
      track,
      start_ns: floats(out.start),
      end_ns: floats(out.end),
      depth: Uint8Array.from(order, (i) => out.lane.at(i)),
      name: words(out.name),
      cls: Uint8Array.from(order, (i) => out.cls.at(i)),
      row: words(out.row),
      count: words(out.count),
      busy_ns: floats(out.busy),
      bars: this.barsIn(order),
    };
  }
}
