// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Pictures and sums of a track against slow references that look at every span.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Spans } from "./api";
import { Cache } from "./cache";
import { FOLDED, zoomOf } from "./fold";
import { NO_ROWS } from "./rows";
import { type Grain, type Piece, SpanTrack } from "./span_track";
import { NameSums } from "./sums";

interface Span {
  readonly start: number;
  readonly end: number;
  readonly name: number;
  readonly row: number;
}

/** Classes of the names 0 to 4. */
const CLASS_OF = [0, 1, 2, 0, 1];

/** Returns how many events the rows of a block stand for: of each second block more than one. */
function weightOf(row: number, block: number): number {
  return Math.floor(row / block) % 2 === 0 ? 1 : 8;
}

function pieceOf(spans: readonly Span[], firstRow: number, oneIn: number): Piece {
  const count = spans.length;
  return {
    firstRow,
    rows: count,
    first: Math.min(...spans.map((span) => span.start)),
    last: Math.max(...spans.map((span) => span.end)),
    load: async () => ({
      count,
      start: Float64Array.from(spans, (span) => span.start),
      end: Float64Array.from(spans, (span) => span.end),
      name: Uint32Array.from(spans, (span) => span.name),
      oneIn,
    }),
  };
}

/** Makes a track whose blocks are in the order of ends, as files have them. */
function trackOf(spans: readonly Span[], block: number, grain: Grain, cacheBytes: number) {
  const pieces: Piece[] = [];
  for (let i = 0; i < spans.length; i += block)
    pieces.push(pieceOf(spans.slice(i, i + block), i, weightOf(i, block)));
  const fail = (error: unknown) => {
    throw error;
  };
  return new SpanTrack(7, pieces, CLASS_OF, new Cache(cacheBytes), fail, null, grain);
}

const spans = fc
  .array(
    fc.tuple(
      fc.integer({ min: -2000, max: 60_000 }),
      fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 9000 })),
      fc.integer({ min: 0, max: 4 }),
    ),
    { minLength: 1, maxLength: 120, size: "max" },
  )
  .map((list) =>
    list
      .map(([start, duration, name]) => ({ start, end: start + duration, name }))
      .sort((x, y) => x.end - y.end)
      .map((span, row): Span => ({ ...span, row })),
  );
const grain = fc.record({
  stretchRows: fc.integer({ min: 1, max: 60 }),
  fewRows: fc.constantFrom(0, 1000),
  columns: fc.constantFrom(1, 8, 64, 4096),
  longRows: fc.constant(1000),
});
const shape = fc.record({
  spans,
  grain,
  block: fc.integer({ min: 1, max: 50 }),
  cache: fc.constantFrom(0, 1 << 20),
});
const window = fc.tuple(
  fc.integer({ min: -3000, max: 70_000 }),
  fc.integer({ min: 1, max: 70_000 }),
);

/** Leaves out what crosses a span before. */
function withoutCrossing(list: readonly Span[]): Span[] {
  const kept: Span[] = [];
  for (const span of list) {
    const crosses = ({ start, end }: Span) =>
      start < span.end &&
      span.start < end &&
      start !== span.start &&
      end !== span.end &&
      start < span.start !== span.end < end;
    if (!kept.some(crosses)) kept.push({ ...span, row: kept.length });
  }
  return kept;
}

interface Laid extends Span {
  readonly lane: number;
}

function layOut(list: readonly Span[]): Laid[] {
  const ordered = [...list].sort((x, y) => x.start - y.start || y.end - x.end || y.row - x.row);
  const ends: number[] = [];
  return ordered.map((span) => {
    let lane = ends.findIndex((end) => end <= span.start);
    if (lane < 0) lane = ends.length;
    ends[lane] = span.end;
    return { ...span, lane };
  });
}

interface Drawn {
  start: number;
  end: number;
  depth: number;
  count: number;
  busy: number;
  cls: number;
  row: number;
  name: number;
  bars: { start: number; end: number; cls: number; busy: number }[];
}

/** Sums the time of a cell by column and class, and finds where in the column something ran. */
function slowBars(spans: readonly Laid[], column: number): Drawn["bars"] {
  const sums = new Map<string, { at: number; cls: number; busy: number }>();
  const extents = new Map<number, { start: number; end: number }>();
  for (const { start, end, name } of spans) {
    let at = Math.floor(start / column) * column;
    do {
      const from = Math.max(start, at);
      const to = Math.min(end, at + column);
      const known = extents.get(at) ?? { start: from, end: to };
      extents.set(at, { start: Math.min(known.start, from), end: Math.max(known.end, to) });
      const cls = CLASS_OF[name] ?? 0;
      const busy = (sums.get(`${at} ${cls}`)?.busy ?? 0) + to - from;
      if (busy > 0) sums.set(`${at} ${cls}`, { at, cls, busy });
      at += column;
    } while (at < end);
  }
  return [...sums.values()]
    .sort((x, y) => x.at - y.at || x.cls - y.cls)
    .map(({ at, cls, busy }) => ({ ...(extents.get(at) ?? { start: 0, end: 0 }), cls, busy }));
}

/** Folds the spans of the whole track, and keeps what the window shows. */
function slowPicture(list: readonly Span[], from: number, to: number, nsPerPx: number): Drawn[] {
  const width = 2 ** Math.ceil(Math.log2(64 * nsPerPx));
  const drawn: Drawn[] = [];
  const laid = layOut(list);
  for (let depth = 0; depth < list.length; depth++) {
    let cell: { id: number; spans: Laid[] } | null = null;
    const flush = () => {
      if (cell === null) return;
      const time = new Map<number, number>();
      for (const span of cell.spans) {
        const cls = CLASS_OF[span.name] ?? 0;
        time.set(cls, (time.get(cls) ?? 0) + span.end - span.start);
      }
      const most = [...time].sort((x, y) => y[1] - x[1] || x[0] - y[0])[0] ?? [0, 0];
      const first = cell.spans[0] as Laid;
      const isOne = cell.spans.length === 1;
      drawn.push({
        start: first.start,
        end: Math.max(...cell.spans.map((span) => span.end)),
        depth,
        count: cell.spans.length,
        busy: cell.spans.reduce((sum, span) => sum + span.end - span.start, 0),
        cls: isOne || most[1] === 0 ? (CLASS_OF[first.name] ?? 0) : most[0],
        row: isOne ? first.row : FOLDED,
        name: isOne ? first.name : FOLDED,
        bars: isOne ? [] : slowBars(cell.spans, width / 64),
      });
      cell = null;
    };
    for (const span of laid) {
      if (span.lane !== depth) continue;
      const { start, end, row, name } = span;
      const id = Math.floor(start / width);
      const last: number =
        cell === null
          ? start
          : Math.max(...(cell as { spans: Laid[] }).spans.map((each) => each.end));
      const isLong = end - start >= 4 * nsPerPx;
      if (
        isLong ||
        (cell !== null && ((cell as { id: number }).id !== id || start - last > 10 * nsPerPx))
      )
        flush();
      if (isLong) {
        drawn.push({
          start,
          end,
          depth,
          count: 1,
          busy: end - start,
          cls: CLASS_OF[name] ?? 0,
          row,
          name,
          bars: [],
        });
        continue;
      }
      cell ??= { id, spans: [] };
      (cell as { spans: Laid[] }).spans.push(span);
    }
    flush();
  }
  return drawn
    .filter(({ start, end }) => start < to && (end > from || start >= from))
    .sort((x, y) => x.start - y.start || x.depth - y.depth);
}

function barsOf({ bars }: Spans, rectangle: number): Drawn["bars"] {
  if (bars === undefined) throw new Error("there are no bars");
  const [from, to] = [bars.first[rectangle] as number, bars.first[rectangle + 1] as number];
  return Array.from(bars.start_ns.subarray(from, to), (start, i) => ({
    start,
    end: bars.end_ns[from + i] as number,
    cls: bars.cls[from + i] as number,
    busy: bars.busy_ns[from + i] as number,
  }));
}

describe("a track", () => {
  it("draws what a slow reference draws, at every zoom", async () => {
    const zoom = fc.oneof(
      fc.double({ min: 0.01, max: 2000, noNaN: true }),
      fc.constantFrom(1, 2, 4),
    );
    await fc.assert(
      fc.asyncProperty(shape, window, zoom, async (made, [from, length], nsPerPx) => {
        const track = trackOf(made.spans, made.block, made.grain, made.cache);
        const picture = await track.draw(zoomOf(nsPerPx), from, from + length);
        const drawn = Array.from(picture.start_ns, (start, i) => ({
          start,
          end: picture.end_ns[i],
          depth: picture.depth[i],
          count: picture.count[i],
          busy: picture.busy_ns[i],
          cls: picture.cls[i],
          row: picture.row[i],
          name: picture.name[i],
          bars: barsOf(picture, i),
        }));
        expect(drawn).toEqual(slowPicture(made.spans, from, from + length, nsPerPx));
      }),
      { numRuns: 300 },
    );
  });

  it("counts the events of blocks that are left out, and draws the others", async () => {
    await fc.assert(
      fc.asyncProperty(shape, window, async (made, [from, length]) => {
        const to = from + length;
        const { pieces } = trackOf(made.spans, made.block, made.grain, made.cache);
        const some = pieces.map((piece, i): Piece => {
          if (i % 3 !== 1) return piece;
          return { ...piece, isAbsent: true, load: async () => NO_ROWS };
        });
        const fail = (error: unknown) => {
          throw error;
        };
        const track = new SpanTrack(7, some, CLASS_OF, new Cache(0), fail, null, made.grain);
        const absent = some.filter((piece) => piece.isAbsent);
        const within = absent.filter((piece) => piece.first < to && piece.last >= from);
        const wanted = within.reduce((sum, piece) => sum + piece.rows, 0);
        expect(track.absentRows(from, to)).toBe(wanted);
        const picture = await track.draw(zoomOf(3), from, to);
        let unknown = 0;
        picture.busy_ns.forEach((busy, i) => {
          if (Number.isNaN(busy)) unknown += picture.count[i] as number;
        });
        // A cell whose end is the begin of the next may lie outside.
        expect(unknown).toBeLessThanOrEqual(wanted);
        const here = made.spans.filter(
          (span) =>
            !absent.some(
              ({ firstRow, rows }) => span.row >= firstRow && span.row < firstRow + rows,
            ),
        );
        const known = Array.from(picture.start_ns, (start, i) => [start, picture.count[i]]);
        expect(known.filter((_, i) => !Number.isNaN(picture.busy_ns[i] as number))).toEqual(
          slowPicture(here, from, to, 3).map(({ start, count }) => [start, count]),
        );
      }),
    );
  });

  it("sums a range as a slow reference does", async () => {
    await fc.assert(
      fc.asyncProperty(shape, window, async (made, [from, length]) => {
        const to = from + length;
        const track = trackOf(made.spans, made.block, made.grain, made.cache);
        const sums = new NameSums();
        const busy = await track.sumRange(from, to, sums);
        const wanted = new Map<
          number,
          { count: number; total: number; cut: number; min: number; max: number }
        >();
        const ran = new Set<number>();
        for (const { start, end, name, row } of made.spans) {
          if (start >= to || (end <= from && start < from)) continue;
          const own = wanted.get(name) ?? { count: 0, total: 0, cut: 0, min: Infinity, max: 0 };
          const duration = end - start;
          const weight = weightOf(row, made.block);
          const inside = Math.min(end, to) - Math.max(start, from);
          wanted.set(name, {
            count: own.count + weight,
            total: own.total + inside * weight,
            cut: own.cut + (duration - inside) * weight,
            min: Math.min(own.min, duration),
            max: Math.max(own.max, duration),
          });
          for (let at = Math.max(start, from); at < Math.min(end, to); at++) ran.add(at);
        }
        const byName = (map: typeof wanted) => [...map].sort((x, y) => x[0] - y[0]);
        expect(byName(sums.byName)).toEqual(byName(wanted));
        expect(busy).toBe(ran.size);
      }),
      { numRuns: 200 },
    );
  });

  it("finds the innermost span at a moment", async () => {
    await fc.assert(
      fc.asyncProperty(shape, fc.integer({ min: -3000, max: 70_000 }), async (made, time) => {
        const track = trackOf(made.spans, made.block, made.grain, made.cache);
        const open = layOut(made.spans).filter(
          ({ start, end }) => start <= time && (end > time || (start === time && end === time)),
        );
        const last = open[open.length - 1];
        expect((await track.at(time))?.row).toBe(last?.row);
        const around = open.filter(({ end }) => end > time).sort((x, y) => x.lane - y.lane);
        expect((await track.around(time)).map(({ row }) => row)).toEqual(
          around.map(({ row }) => row),
        );
      }),
      { numRuns: 300 },
    );
  });

  it("finds the first spans of a name, and any row", async () => {
    await fc.assert(
      fc.asyncProperty(shape, fc.integer({ min: 1, max: 20 }), async (made, limit) => {
        const track = trackOf(made.spans, made.block, made.grain, made.cache);
        const wanted = layOut(made.spans).filter(({ name }) => name === 2);
        const found = await track.find(new Set([2]), limit);
        expect(found.map(({ row }) => row)).toEqual(wanted.slice(0, limit).map(({ row }) => row));
        for (const { start, end, name, row } of made.spans.slice(0, 5))
          expect(await track.row(row)).toEqual({
            start,
            end,
            name,
            row,
            weight: weightOf(row, made.block),
          });
        expect(await track.row(made.spans.length)).toBeUndefined();
      }),
      { numRuns: 200 },
    );
  });

  it("draws and sums a near window without the pass, where spans nest", async () => {
    await fc.assert(
      fc.asyncProperty(shape, window, async (made, [from, length]) => {
        const args = [withoutCrossing(made.spans), made.block] as const;
        const near = trackOf(...args, { ...made.grain, longRows: 0 }, made.cache);
        const far = trackOf(...args, made.grain, made.cache);
        const [zoom, to] = [zoomOf(length / 50), from + length];
        // How many events a row stands for at most is known of rows that were read.
        const drawn = { ...(await near.draw(zoom, from, to)), one_in: 0 };
        expect(drawn).toEqual({ ...(await far.draw(zoom, from, to)), one_in: 0 });
        const [sums, wanted] = [new NameSums(), new NameSums()];
        expect(await near.sumRange(from, to, sums)).toBe(await far.sumRange(from, to, wanted));
        expect(new Map([...sums.byName].sort())).toEqual(new Map([...wanted.byName].sort()));
        expect((await near.at(from))?.row).toBe((await far.at(from))?.row);
      }),
      { numRuns: 200 },
    );
  });
});
