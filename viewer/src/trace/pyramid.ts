// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The picture of a long track from afar. Spans shorter than a column are summed, column by column;
// longer ones are kept. Columns of each further level are twice as wide and take the spans that are
// short there. A query looks at one level only, so its work depends on the pixels alone.

import type { Folder, Zoom } from "./fold";
import { Floats, Words } from "./growing";
import { MOST_LANES, type Open, type Ordered } from "./lanes";

/** Columns of one lane, by time. There are hundreds of thousands, so nothing is kept twice. */
export class Columns {
  constructor(
    readonly first = new Floats(),
    readonly last = new Floats(),
    readonly count = new Words(),
    readonly name = new Words(),
    readonly row = new Words(),
    /** Class of the span that ends last: it may reach into the next column. */
    readonly lastCls = new Words(),
  ) {}
  /** Busy time by class, of the classes that are there. */
  readonly byClass: (Float64Array | undefined)[] = [];

  get length(): number {
    return this.first.length;
  }

  /** Returns the column in which a span begins, made if it is new. Spans come in order. */
  open(width: number, first: number, name: number, row: number): number {
    const last = this.length - 1;
    const isOpen =
      last >= 0 && Math.floor(this.first.at(last) / width) === Math.floor(first / width);
    if (isOpen) return last;
    this.first.push(first);
    this.last.push(first);
    this.count.push(0);
    this.name.push(name);
    this.row.push(row);
    this.lastCls.push(0);
    return last + 1;
  }

  add(i: number, end: number, count: number, cls: number): void {
    if (end > this.last.at(i)) {
      this.last.set(i, end);
      this.lastCls.set(i, cls);
    }
    this.count.set(i, this.count.at(i) + count);
  }
  /** `room`: how many columns there will be, if that is known. */
  addClass(i: number, cls: number, busy: number, room = 0): void {
    if (busy === 0) return;
    let sums = this.byClass[cls];
    if (sums === undefined || i >= sums.length) {
      const grown = new Float64Array(i < room ? room : Math.max(64, 2 * (i + 1)));
      if (sums !== undefined) grown.set(sums);
      sums = grown;
      this.byClass[cls] = grown;
    }
    sums[i] = (sums[i] as number) + busy;
  }

  /** Gives back the room for more columns. */
  trim(): void {
    for (const list of [this.first, this.last, this.count, this.name, this.row, this.lastCls])
      list.trim();
    this.byClass.forEach((sums, cls) => {
      if (sums !== undefined && sums.length > this.length)
        this.byClass[cls] = sums.slice(0, this.length);
    });
  }
}

/** Long spans whose durations lie between a power of two and the next. */
class Long {
  readonly start = new Floats();
  readonly end = new Floats();
  readonly name = new Words();
  readonly row = new Words();
  readonly lane = new Words();
}

type Level = (Columns | undefined)[];

export class Pyramid {
  private readonly levels: Level[] = [];
  private readonly long = new Map<number, Long>();

  /** `bits`: the exponent of the finest columns' width. */
  constructor(
    readonly bits: number,
    private readonly classOf: readonly number[],
    finest: Columns[] = [],
  ) {
    this.levels[0] = finest;
  }

  /** Adds spans in their order. */
  add(spans: Ordered): void {
    const width = 2 ** this.bits;
    const base = this.levels[0] as Level;
    for (let i = 0; i < spans.count; i++) {
      const start = spans.start[i] as number;
      const end = spans.end[i] as number;
      const duration = end - start;
      const lane = spans.lane[i] as number;
      const name = spans.name[i] as number;
      const row = spans.row[i] as number;
      if (duration >= width) {
        this.addLong({ lane, start, end, name, row });
        continue;
      }
      base[lane] ??= new Columns();
      const columns = base[lane] as Columns;
      const at = columns.open(width, start, name, row);
      const cls = this.classOf[name] ?? 0;
      columns.add(at, end, 1, cls);
      columns.addClass(at, cls, duration);
    }
  }

  /** Gives back the room for more spans. */
  trim(): void {
    for (const columns of this.levels[0] ?? []) columns?.trim();
  }

  /** Adds a span that is longer than the finest columns. Spans come by their start. */
  addLong({ lane, start, end, name, row }: Omit<Open, "weight">): void {
    const bits = exponent(end - start);
    let list = this.long.get(bits);
    if (list === undefined) {
      list = new Long();
      this.long.set(bits, list);
    }
    list.start.push(start);
    list.end.push(end);
    list.name.push(name);
    list.row.push(row);
    list.lane.push(lane);
  }

  private level(bits: number): Level {
    const number = bits - this.bits;
    const known = this.levels[number];
    if (known !== undefined) return known;
    const finer = this.level(bits - 1);
    const made: Level = [];
    const long = this.long.get(bits - 1);
    const next = new Uint32Array(MOST_LANES);
    const width = 2 ** bits;
    const merge = (lane: number, before: number) => {
      const from = finer[lane];
      if (from === undefined) return;
      let i = next[lane] as number;
      for (; i < from.length && from.first.at(i) < before; i++)
        this.copyColumn(made, width, lane, from, i);
      next[lane] = i;
    };
    for (let i = 0; long !== undefined && i < long.start.length; i++) {
      const lane = long.lane.at(i);
      const start = long.start.at(i);
      const name = long.name.at(i);
      merge(lane, start);
      made[lane] ??= new Columns();
      const to = made[lane] as Columns;
      const at = to.open(width, start, name, long.row.at(i));
      const duration = long.end.at(i) - start;
      const cls = this.classOf[name] ?? 0;
      to.add(at, long.end.at(i), 1, cls);
      to.addClass(at, cls, duration);
    }
    for (let lane = 0; lane < finer.length; lane++) merge(lane, Number.POSITIVE_INFINITY);
    for (const columns of made) columns?.trim();
    this.levels[number] = made;
    return made;
  }

  private copyColumn(made: Level, width: number, lane: number, from: Columns, i: number): void {
    made[lane] ??= new Columns();
    const to = made[lane] as Columns;
    const at = to.open(width, from.first.at(i), from.name.at(i), from.row.at(i));
    to.add(at, from.last.at(i), from.count.at(i), from.lastCls.at(i));
    from.byClass.forEach((sums, cls) => {
      to.addClass(at, cls, sums?.[i] ?? 0);
    });
  }

  /** Hands everything that starts in [from, to), or is long and reaches into it, to a folder. */
  draw(folder: Folder, zoom: Zoom, from: number, to: number): void {
    const items: { start: number; put: () => void }[] = [];
    this.level(zoom.columnBits).forEach((columns, lane) => {
      if (columns === undefined) return;
      for (let i = columns.first.lowerBound(from); i < columns.length; i++) {
        const first = columns.first.at(i);
        if (first >= to) break;
        items.push({ start: first, put: () => putColumn(folder, lane, columns, i) });
      }
    });
    for (const [bits, long] of this.long) {
      if (bits < zoom.columnBits) continue;
      for (let i = long.start.lowerBound(from - 2 ** (bits + 1)); i < long.start.length; i++) {
        const start = long.start.at(i);
        const end = long.end.at(i);
        if (start >= to) break;
        if (start < from && (end <= from || end - start < zoom.short)) continue;
        const put = () => folder.span(long.lane.at(i), start, end, long.name.at(i), long.row.at(i));
        items.push({ start, put });
      }
    }
    items.sort((x, y) => x.start - y.start);
    for (const item of items) item.put();
  }
}

function putColumn(folder: Folder, lane: number, columns: Columns, i: number): void {
  const { first, last, name, row, count, byClass, lastCls } = columns;
  folder.gathered(
    lane,
    first.at(i),
    last.at(i),
    name.at(i),
    row.at(i),
    count.at(i),
    (cls) => byClass[cls]?.[i] ?? 0,
    lastCls.at(i),
  );
}

/** Returns the exponent of the greatest power of two that is not greater. */
export function exponent(value: number): number {
  let bits = Math.floor(Math.log2(value));
  while (2 ** bits > value) bits--;
  while (2 ** (bits + 1) <= value) bits++;
  return bits;
}
