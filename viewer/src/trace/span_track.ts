// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One row of the timeline: its spans, stretch by stretch. A stretch holds what begins in its time;
// it is decoded when it is touched, and a cache forgets it. One pass over all stretches finds what
// is kept for good: sums by name, busy time, the spans that are open at each begin, and the pyramid.

import { CLASSES, type Spans } from "./api";
import type { Cache } from "./cache";
import { FOLDED, Folder, type Zoom } from "./fold";
import { bytesOf, gather, Lanes, type Open, type Ordered, type Part } from "./lanes";
import type { Outline } from "./outline";
import { exponent, Pyramid } from "./pyramid";
import { NO_ROWS, type Rows } from "./rows";
import { NameSums } from "./sums";

/** Spans that are decoded together: a block, mostly. */
export interface Piece {
  /** Number of its first row in the track. */
  readonly firstRow: number;
  readonly rows: number;
  /** All its spans lie between these. */
  readonly first: number;
  readonly last: number;
  /** Its rows are left out of the page: it loads none. */
  readonly isAbsent?: boolean;
  load(): Promise<Rows>;
}

interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly pieces: readonly Piece[];
  open: readonly Open[];
  readonly sums: NameSums;
  /** Time in which a span ran. */
  busy: number;
}

/** How finely a track is parted. Tests part small ones. */
export interface Grain {
  /** Rows in a stretch, about. */
  readonly stretchRows: number;
  /** Tracks of fewer rows have no pyramid: all their rows are looked at. */
  readonly fewRows: number;
  /** The least number of columns of the finest level. */
  readonly columns: number;
  /** Rows from which on a near window is drawn without the pass. */
  readonly longRows: number;
}
export const GRAIN: Grain = {
  stretchRows: 131_072,
  fewRows: 65_536,
  columns: 131_072,
  longRows: 2_000_000,
};
/** A near window has no more rows in its pieces. */
const MOST_NEAR_ROWS = 500_000;

/** Makes the outline of a track elsewhere. */
export type AskOutline = () => Promise<Outline>;

export class SpanTrack {
  readonly rows: number;
  readonly first: number;
  readonly last: number;
  /** Lanes; known after the pass. */
  depth = 1;
  /** Most events that a span stands for, of the rows that were decoded so far. */
  oneIn = 1;
  private stretches: Stretch[];
  private pyramid: Pyramid | null = null;
  private pass: Promise<void> | null = null;
  private isReady = false;
  private fault: unknown;
  /** Pieces whose rows are left out, by their start. */
  private readonly absent: readonly Piece[];

  constructor(
    readonly id: number,
    readonly pieces: readonly Piece[],
    private readonly classOf: readonly number[],
    private readonly cache: Cache,
    private readonly onFault: (error: unknown) => void,
    private readonly askOutline: AskOutline | null = null,
    private readonly grain = GRAIN,
  ) {
    this.rows = pieces.reduce((sum, piece) => sum + piece.rows, 0);
    this.first = pieces.reduce((least, piece) => Math.min(least, piece.first), Infinity);
    this.last = pieces.reduce((most, piece) => Math.max(most, piece.last), -Infinity);
    this.absent = pieces
      .filter((piece) => piece.isAbsent === true)
      .sort((x, y) => x.first - y.first);
    this.stretches = planStretches(pieces, grain.stretchRows);
  }

  /** Counts the rows that are left out and may be in a window. */
  absentRows(start: number, end: number): number {
    let rows = 0;
    for (const piece of this.absent)
      if (piece.first < end && piece.last >= start) rows += piece.rows;
    return rows;
  }

  /** Looks at all rows once. */
  summarize(): Promise<void> {
    this.pass ??= this.runPass();
    return this.pass;
  }

  /** Takes the outline in place of the pass. Returns false if there is none for these rows. */
  private async takeOutline(): Promise<boolean> {
    if (this.askOutline === null || this.rows <= this.grain.longRows) return false;
    let outline: Outline;
    try {
      outline = await this.askOutline();
    } catch {
      return false;
    }
    if (outline.rows !== this.rows) return false;
    this.stretches = outline.stretches.map((stretch) => ({
      ...stretch,
      pieces: piecesIn(this.pieces, stretch.from, stretch.to),
    }));
    this.depth = outline.depth;
    this.oneIn = Math.max(this.oneIn, outline.oneIn);
    this.pyramid = outline.pyramid;
    this.isReady = true;
    return true;
  }

  private async runPass(): Promise<void> {
    if (await this.takeOutline()) return;
    const lanes = new Lanes();
    const span = Math.max(this.last - this.first, 1);
    const bits = Math.max(exponent(span / this.grain.columns), 0);
    const pyramid = this.rows > this.grain.fewRows ? new Pyramid(bits, this.classOf) : null;
    for (const stretch of this.stretches) {
      stretch.open = lanes.openAt(stretch.from);
      const spans = await this.spansOf(stretch, lanes);
      stretch.sums.addAll(spans);
      stretch.busy = coveredIn(stretch.open, spans, stretch.from, stretch.to);
      pyramid?.add(spans);
    }
    pyramid?.trim();
    this.depth = Math.max(lanes.most, 1);
    this.pyramid = pyramid;
    this.isReady = true;
  }

  /**
   * Returns a picture of blocks in place of spans while the pass is on its way; null: it is over, or
   * is a matter of a moment. Nobody knows yet how long the spans of a cell ran.
   */
  private rough(zoom: Zoom, start: number, end: number): Spans | null {
    if (this.isReady || this.rows <= this.grain.longRows) return null;
    if (this.fault !== undefined) throw this.fault;
    this.summarize().catch((error: unknown) => {
      this.fault = error;
    });
    const byStart = [...this.pieces].sort((x, y) => x.first - y.first);
    return roughSpans(this.id, cellsOf(byStart, zoom, start, end));
  }

  /**
   * Returns the spans of all pieces that reach into a window, before the pass; null: the pass is
   * needed, or was there. Nothing of the window is missing. Where spans cross, lanes may be others
   * than after the pass.
   */
  private async near(from: number, to: number): Promise<Ordered | null> {
    if (this.isReady || this.rows <= this.grain.longRows) return null;
    const pieces = this.pieces.filter((piece) => piece.first <= to && piece.last >= from);
    if (pieces.reduce((sum, piece) => sum + piece.rows, 0) > MOST_NEAR_ROWS) return null;
    const parts: Part[] = [];
    for (const piece of pieces)
      parts.push({ rows: await this.loadPiece(piece), firstRow: piece.firstRow });
    const spans = gather(parts, -Infinity, Infinity);
    new Lanes().assign(spans);
    return spans;
  }

  /** Sets the depth by the first and the middle piece, without a look at the others. */
  async estimateDepth(): Promise<void> {
    for (const piece of new Set([this.pieces[0], this.pieces[this.pieces.length >> 1]])) {
      if (piece === undefined) continue;
      const rows = await this.loadPiece(piece);
      const lanes = new Lanes();
      lanes.assign(gather([{ rows, firstRow: piece.firstRow }], -Infinity, Infinity));
      this.depth = Math.max(this.depth, lanes.most);
      if (this.rows > this.grain.longRows) this.cache.drop(piece);
    }
  }

  /** Decodes a piece. What cannot be decoded is told once, and has no rows. */
  loadPiece(piece: Piece): Promise<Rows> {
    const load = async () => {
      try {
        const rows = await piece.load();
        this.oneIn = Math.max(this.oneIn, rows.oneIn ?? 1);
        return rows;
      } catch (error) {
        this.onFault(error);
        return NO_ROWS;
      }
    };
    return this.cache.get(piece, load, (rows) => rows.count * 20 + 200);
  }

  /** Returns the spans of a stretch. `lanes`: of the pass; without them those of the pass are used. */
  private spansOf(stretch: Stretch, lanes?: Lanes): Promise<Ordered> {
    const make = async () => {
      const parts: Part[] = [];
      for (const piece of stretch.pieces)
        parts.push({ rows: await this.loadPiece(piece), firstRow: piece.firstRow });
      const spans = gather(parts, stretch.from, stretch.to);
      (lanes ?? Lanes.from(stretch.open)).assign(spans);
      for (const piece of stretch.pieces)
        if (piece.first >= stretch.from && piece.last < stretch.to) this.cache.drop(piece);
      return spans;
    };
    return this.cache.get(stretch, make, bytesOf);
  }

  private stretchAt(time: number): number {
    let low = 0;
    let high = this.stretches.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.stretches[middle] as Stretch).from <= time) low = middle + 1;
      else high = middle;
    }
    return Math.max(low - 1, 0);
  }

  /** Returns what is to be drawn of a window. Names are those of the trace. */
  async draw(zoom: Zoom, start: number, end: number): Promise<Spans> {
    const folder = new Folder(zoom, start, end, this.classOf);
    // Whole cells: otherwise the cells at the edges would change with each move.
    const from = Math.floor(start / zoom.width) * zoom.width - zoom.width;
    const to = Math.ceil(end / zoom.width) * zoom.width;
    for (const cell of cellsOf(this.absent, zoom, start, end))
      folder.unknown(cell.start, cell.end, cell.count);
    const near = await this.near(from, to);
    if (near !== null) {
      drawSpans(folder, near, zoom, start, from, to);
      return this.finished(folder);
    }
    const rough = this.rough(zoom, start, end);
    if (rough !== null) return rough;
    await this.summarize();
    if (this.pyramid !== null && zoom.columnBits >= this.pyramid.bits) {
      this.pyramid.draw(folder, zoom, from, to);
      return this.finished(folder);
    }
    const begin = this.stretchAt(from);
    for (const span of this.stretches[begin]?.open ?? [])
      if (span.end > start && span.end - span.start >= zoom.short)
        folder.span(span.lane, span.start, span.end, span.name, span.row);
    for (let i = begin; i < this.stretches.length; i++) {
      const stretch = this.stretches[i] as Stretch;
      if (stretch.from >= to) break;
      drawSpans(folder, await this.spansOf(stretch), zoom, start, from, to);
    }
    return this.finished(folder);
  }

  private finished(folder: Folder): Spans {
    const spans = folder.finish(this.id);
    return this.oneIn > 1 ? { ...spans, one_in: this.oneIn } : spans;
  }

  /** Adds what ran in [start, end) to sums, cut at the edges. Returns the busy time. */
  async sumRange(start: number, end: number, sums: NameSums): Promise<number> {
    const near = await this.near(start, end);
    if (near !== null) {
      addCut(near, start, end, sums);
      return coveredIn([], near, start, end);
    }
    await this.summarize();
    if (this.stretches.length === 0 || end <= start) return 0;
    const begin = this.stretchAt(start);
    const stop = this.stretchAt(end);
    const front = this.stretches[begin] as Stretch;
    const frontSpans = await this.spansOf(front);
    for (const span of front.open)
      sums.addCut(span.name, span.start, span.end, start, end, span.weight);
    addCut(frontSpans, start, end, sums);
    let busy = coveredIn(front.open, frontSpans, start, Math.min(end, front.to));
    if (begin === stop) return busy;
    for (let i = begin + 1; i < stop; i++) {
      const stretch = this.stretches[i] as Stretch;
      sums.addSums(stretch.sums);
      busy += stretch.busy;
    }
    const back = this.stretches[stop] as Stretch;
    const backSpans = await this.spansOf(back);
    // Spans of the stretches between were added whole: those that reach beyond the end are cut.
    for (const span of back.open)
      if (span.start >= front.to && span.end > end)
        sums.take(span.name, (span.end - end) * span.weight);
    addCut(backSpans, start, end, sums);
    return busy + coveredIn(back.open, backSpans, back.from, end);
  }

  /** Hands over all spans that overlap [start, end), by their starts. */
  async within(
    start: number,
    end: number,
    take: (start: number, end: number, name: number) => void,
  ): Promise<void> {
    const takeAll = (spans: Ordered) => {
      for (let i = 0; i < spans.count && (spans.start[i] as number) < end; i++)
        if ((spans.end[i] as number) > start || (spans.start[i] as number) >= start)
          take(spans.start[i] as number, spans.end[i] as number, spans.name[i] as number);
    };
    const near = await this.near(start, end);
    if (near !== null) return takeAll(near);
    await this.summarize();
    const begin = this.stretchAt(start);
    for (const span of this.stretches[begin]?.open ?? [])
      if (span.end > start) take(span.start, span.end, span.name);
    for (let i = begin; i < this.stretches.length; i++) {
      const stretch = this.stretches[i] as Stretch;
      if (stretch.from >= end) return;
      takeAll(await this.spansOf(stretch));
    }
  }

  /** Returns the spans that may be open at a moment: those of its stretch, with what is open. */
  private async aroundTime(
    time: number,
  ): Promise<{ open: readonly Open[]; spans: Ordered } | null> {
    const near = await this.near(time, time);
    if (near !== null) return { open: [], spans: near };
    await this.summarize();
    const stretch = this.stretches[this.stretchAt(time)];
    if (stretch === undefined) return null;
    return { open: stretch.open, spans: await this.spansOf(stretch) };
  }

  /** Returns the innermost span at a moment; null: none. */
  async at(time: number): Promise<Open | null> {
    const near = await this.aroundTime(time);
    if (near === null) return null;
    const { open, spans } = near;
    let found: Open | null = null;
    for (const span of open) if (span.end > time) found = span;
    for (let i = 0; i < spans.count && (spans.start[i] as number) <= time; i++) {
      const end = spans.end[i] as number;
      if (end > time || (end === time && spans.start[i] === time)) found = spanAt(spans, i);
    }
    return found;
  }

  /** Returns the spans around a moment, the outermost first. */
  async around(time: number): Promise<Open[]> {
    const near = await this.aroundTime(time);
    if (near === null) return [];
    const { open, spans } = near;
    const found = open.filter((span) => span.end > time);
    for (let i = 0; i < spans.count && (spans.start[i] as number) <= time; i++)
      if ((spans.end[i] as number) > time) found.push(spanAt(spans, i));
    return found.sort((x, y) => x.lane - y.lane);
  }

  /** Calls for each span that starts in [start, end], by time, until it returns false. */
  async each(start: number, end: number, take: (span: Open) => boolean): Promise<void> {
    await this.summarize();
    for (let i = this.stretchAt(start); i < this.stretches.length; i++) {
      const stretch = this.stretches[i] as Stretch;
      if (stretch.from > end) return;
      const spans = await this.spansOf(stretch);
      for (let k = 0; k < spans.count; k++) {
        const first = spans.start[k] as number;
        if (first > end) return;
        if (first >= start && !take(spanAt(spans, k))) return;
      }
    }
  }

  /** Finds spans by name: the first of them by time. `named`: the names that are looked for. */
  async find(named: ReadonlySet<number>, limit: number): Promise<Open[]> {
    await this.summarize();
    const found: Open[] = [];
    for (const stretch of this.stretches) {
      if (found.length >= limit) break;
      if (!stretch.sums.hasAny(named)) continue;
      const spans = await this.spansOf(stretch);
      for (let i = 0; i < spans.count && found.length < limit; i++)
        if (named.has(spans.name[i] as number)) found.push(spanAt(spans, i));
    }
    return found;
  }

  /** Adds the sums of the whole track. */
  async sumAll(sums: NameSums): Promise<void> {
    await this.summarize();
    for (const stretch of this.stretches) sums.addSums(stretch.sums);
  }

  /** Finds a row. Undefined: there is none of that number. */
  async row(row: number): Promise<Omit<Open, "lane"> | undefined> {
    const piece = this.pieceOf(row);
    if (piece === undefined) return undefined;
    const rows = await this.loadPiece(piece);
    const i = row - piece.firstRow;
    const start = rows.start[i];
    if (start === undefined || Number.isNaN(start)) return undefined;
    const weight = rows.oneIn ?? 1;
    return { start, end: rows.end[i] as number, name: rows.name[i] as number, row, weight };
  }

  pieceOf(row: number): Piece | undefined {
    let low = 0;
    let high = this.pieces.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.pieces[middle] as Piece).firstRow <= row) low = middle + 1;
      else high = middle;
    }
    const piece = this.pieces[low - 1];
    return piece !== undefined && row < piece.firstRow + piece.rows ? piece : undefined;
  }
}

function spanAt(spans: Ordered, i: number): Open {
  return {
    start: spans.start[i] as number,
    end: spans.end[i] as number,
    name: spans.name[i] as number,
    row: spans.row[i] as number,
    lane: spans.lane[i] as number,
    weight: spans.weight?.[i] ?? 1,
  };
}

/** Hands to a folder what begins in [from, to), and what is long and reaches beyond `start`. */
function drawSpans(
  folder: Folder,
  spans: Ordered,
  zoom: Zoom,
  start: number,
  from: number,
  to: number,
): void {
  for (let i = 0; i < spans.count; i++) {
    const first = spans.start[i] as number;
    const last = spans.end[i] as number;
    if (first >= to) break;
    if (first < from && (last <= start || last - first < zoom.short)) continue;
    folder.span(
      spans.lane[i] as number,
      first,
      last,
      spans.name[i] as number,
      spans.row[i] as number,
    );
  }
}

function addCut(spans: Ordered, start: number, end: number, sums: NameSums): void {
  for (let i = 0; i < spans.count && (spans.start[i] as number) < end; i++) {
    sums.addCut(
      spans.name[i] as number,
      spans.start[i] as number,
      spans.end[i] as number,
      start,
      end,
      spans.weight?.[i] ?? 1,
    );
  }
}

/** Returns the time in [from, to) in which a span ran. */
function coveredIn(open: readonly Open[], spans: Ordered, from: number, to: number): number {
  let covered = from;
  let busy = 0;
  const cover = (start: number, end: number) => {
    const begin = Math.max(start, covered);
    const until = Math.min(end, to);
    if (until <= begin) return;
    busy += until - begin;
    covered = until;
  };
  for (const span of open) cover(span.start, span.end);
  for (let i = 0; i < spans.count && (spans.start[i] as number) < to; i++)
    cover(spans.start[i] as number, spans.end[i] as number);
  return busy;
}

interface RoughCell {
  readonly cell: number;
  readonly start: number;
  end: number;
  count: number;
}

/** Gathers blocks into cells. Blocks that begin in one cell, as spans would, are one. */
function cellsOf(pieces: readonly Piece[], zoom: Zoom, from: number, to: number): RoughCell[] {
  const cells: RoughCell[] = [];
  for (const piece of pieces) {
    if (piece.last < from || piece.first >= to) continue;
    const cell = Math.floor(piece.first / zoom.width);
    const last = cells[cells.length - 1];
    if (last?.cell === cell) {
      last.count += piece.rows;
      last.end = Math.max(last.end, piece.last);
      continue;
    }
    if (last !== undefined) last.end = Math.min(last.end, piece.first);
    cells.push({ cell, start: piece.first, end: piece.last, count: piece.rows });
  }
  return cells;
}

/** Draws blocks as cells. */
function roughSpans(track: number, cells: readonly RoughCell[]): Spans {
  const { length } = cells;
  const other = CLASSES.indexOf("other");
  return {
    track,
    start_ns: Float64Array.from(cells, ({ start }) => start),
    end_ns: Float64Array.from(cells, ({ end }) => end),
    depth: new Uint8Array(length),
    name: new Uint32Array(length).fill(FOLDED),
    cls: new Uint8Array(length).fill(other),
    row: new Uint32Array(length).fill(FOLDED),
    count: Uint32Array.from(cells, ({ count }) => count),
    busy_ns: new Float64Array(length).fill(Number.NaN),
    isRough: true,
  };
}

/** Returns the pieces that may have spans which begin in [from, to). */
function piecesIn(pieces: readonly Piece[], from: number, to: number): Piece[] {
  return pieces.filter((piece) => piece.first < to && piece.last >= from);
}

/** Parts the time of a track, so that a stretch has about so many rows. */
function planStretches(pieces: readonly Piece[], stretchRows: number): Stretch[] {
  if (pieces.length === 0) return [];
  const byEnd = [...pieces].sort((x, y) => x.last - y.last);
  const borders: number[] = [];
  let rows = 0;
  for (const piece of byEnd) {
    rows += piece.rows;
    if (rows < stretchRows || piece.last <= (borders[borders.length - 1] ?? -Infinity)) continue;
    borders.push(piece.last);
    rows = 0;
  }
  borders[Math.max(borders.length - 1, 0)] = Infinity;
  return borders.map((to, i) => {
    const from = i === 0 ? -Infinity : (borders[i - 1] as number);
    const inside = piecesIn(pieces, from, to);
    return { from, to, pieces: inside, open: [], sums: new NameSums(), busy: 0 };
  });
}
