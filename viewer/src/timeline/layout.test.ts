// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Spans, TrackInfo, TrackKind } from "../trace/api";
import { bandAt, groups, type LayoutState, layout, stickyHeader, TOP, visible } from "./layout";
import { makeTrace } from "./made_trace";
import { NO_ROW, rowsOf } from "./rows";

const state = (part: Partial<LayoutState> = {}): LayoutState => ({
  folded: new Set(),
  pinned: new Set(),
  shape: () => undefined,
  ...part,
});

const { info } = makeTrace({ events: 3000, processes: 2 });
const all = groups(info);

describe("layout", () => {
  it("puts devices first, then processes: steps, then calls, operators, Python", () => {
    const kinds = layout(all, state()).scrolled.map((band) => band.track?.kind ?? band.title);
    const device = ["stream", "stream", "queue", "memory"];
    const host = ["steps", "api", "op", "python", "wait"];
    expect(kinds).toEqual([
      "GPU 0",
      ...device,
      "GPU 1",
      ...device,
      "python3",
      ...host,
      "worker 1",
      ...host,
    ]);
  });

  it("keeps the tracks of a thread together", () => {
    const track = (id: number, kind: TrackKind, tid: number): TrackInfo => ({
      id,
      kind,
      process: 0,
      name: `thread ${tid}`,
      device: null,
      tid,
      rows: 1,
      depth: 1,
    });
    const tracks = [
      track(0, "python", 7),
      track(1, "api", 7),
      track(2, "api", 5),
      track(3, "steps", 5),
    ];
    const processes = [{ pid: 1, host: "h", name: "p" }];
    const order = groups({ start_ns: 0, end_ns: 1, processes, tracks, rows: 4, faults: [] });
    expect(order[0]?.tracks.map((one) => one.id)).toEqual([3, 1, 0, 2]);
  });

  it("leaves no gap and no overlap, and says what a folded group holds", () => {
    const folded = new Set(["d0.0"]);
    const made = layout(all, state({ folded }));
    let y = 0;
    for (const band of made.scrolled) {
      expect(band.y).toBe(y);
      y += band.height;
    }
    expect(made.height).toBe(y);
    expect(made.scrolled[0]?.caption).toMatch(/4 tracks, [\d,]+ events folded/);
    expect(made.scrolled[1]?.track).toBeNull();
  });

  it("takes a pinned track out of the rows that scroll", () => {
    const made = layout(all, state({ pinned: new Set([1]) }));
    expect(made.pinned.map((band) => band.track?.id)).toEqual([1]);
    expect(made.scrolled.some((band) => band.track?.id === 1)).toBe(false);
    const seen = visible(made, 0, 600);
    expect(seen[0]?.y).toBe(TOP);
    expect(seen[1]?.y).toBe(TOP + made.pinnedHeight);
  });

  it("shows only strips on the screen, and finds the one at a place", () => {
    const made = layout(all, state());
    for (const scroll of [0, 13, 100, 400]) {
      for (const { band, y } of visible(made, scroll, 500)) {
        expect(y + band.height).toBeGreaterThan(TOP);
        expect(y).toBeLessThan(500);
        const middle = Math.max(y, TOP) + 1;
        const sticky = stickyHeader(made, scroll, 500);
        const covered = sticky !== null && middle < sticky.y + sticky.band.height;
        expect(bandAt(made, scroll, 500, middle)?.band).toBe(covered ? sticky.band : band);
      }
    }
  });

  it("keeps the header of a group in sight and lets the next one push it out", () => {
    const made = layout(all, state());
    expect(stickyHeader(made, 0, 500)).toBeNull();
    expect(stickyHeader(made, 40, 500)?.y).toBe(TOP);
    const next = made.scrolled.filter((band) => band.track === null)[1];
    expect(next).toBeDefined();
    const pushed = stickyHeader(made, (next?.y ?? 0) - 10, 500);
    expect(pushed?.band.title).toBe("GPU 0");
    expect(pushed?.y).toBe(TOP + 10 - 24);
  });
});

interface Part {
  start: number;
  end: number;
  depth: number;
  name: number;
  count?: number;
}

function spansOf(parts: readonly Part[]): Spans {
  const list = [...parts].sort((a, b) => a.start - b.start || a.depth - b.depth);
  return {
    track: 0,
    start_ns: Float64Array.from(list, (part) => part.start),
    end_ns: Float64Array.from(list, (part) => part.end),
    depth: Uint8Array.from(list, (part) => part.depth),
    name: Uint32Array.from(list, (part) => part.name),
    cls: new Uint8Array(list.length),
    row: Uint32Array.from(list, (_, i) => i),
    count: Uint32Array.from(list, (part) => part.count ?? 1),
    busy_ns: Float64Array.from(list, (part) => part.end - part.start),
  };
}

const NAMES = [
  "run",
  "module.py(1): _call_impl",
  "forward",
  "_wrapped_call_impl",
  "my_call_impl_x",
];

/** Makes a random tree of frames. */
function tree(depth: number, start: number, end: number, next: () => number, out: Part[]): void {
  out.push({ start, end, depth, name: Math.floor(next() * 4) });
  let from = start + 1;
  while (depth < 6 && from + 8 < end && next() < 0.8) {
    const to = from + 2 + Math.floor(next() * (end - from - 3));
    tree(depth + 1, from, to, next, out);
    from = to + 1;
  }
}

describe("rows of nested slices", () => {
  it("gives outer frames and plumbing no row, and says so", () => {
    const spans = spansOf([
      { start: 0, end: 100, depth: 0, name: 0 },
      { start: 0, end: 100, depth: 1, name: 0 },
      { start: 10, end: 90, depth: 2, name: 1 },
      { start: 20, end: 80, depth: 3, name: 2 },
    ]);
    const rows = rowsOf(spans, NAMES, "python", 5, 95);
    // The first row names the outer frames.
    expect([...rows.row]).toEqual([NO_ROW, NO_ROW, NO_ROW, 1]);
    expect(rows.count).toBe(2);
    expect(rows.caption).toBe("");
    expect(rows.outer).toEqual([NAMES[0], NAMES[0], NAMES[1]]);
    const unfolded = rowsOf(spans, NAMES, "python", 5, 95, true);
    expect([...unfolded.row]).toEqual([1, 2, NO_ROW, 3]);
    expect(unfolded.caption).toBe("_call_impl folded");
    expect(unfolded.outer).toHaveLength(3);
    // Operators keep every row.
    expect([...rowsOf(spans, NAMES, "op", 5, 95).row]).toEqual([0, 1, 2, 3]);
  });

  it("keeps the innermost of frames that all span the view", () => {
    const spans = spansOf([
      { start: 0, end: 100, depth: 0, name: 0 },
      { start: 0, end: 100, depth: 1, name: 2 },
    ]);
    expect([...rowsOf(spans, NAMES, "python", 5, 95).row]).toEqual([NO_ROW, 1]);
  });

  it("never draws a slice over another one", () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })), (stream) => {
        const next = (): number => stream.next().value ?? 0;
        const parts: Part[] = [];
        tree(0, 0, 400, next, parts);
        // Small frames are folded now and then, as a reader does.
        for (const part of parts) if (part.end - part.start < 20 && next() < 0.5) part.count = 2;
        const spans = spansOf(parts);
        const { row } = rowsOf(spans, NAMES, "python", 50, 350);
        for (let i = 0; i < row.length; i++) {
          if (row[i] === NO_ROW) {
            expect(spans.count[i]).toBe(1);
            continue;
          }
          for (let k = i + 1; k < row.length; k++) {
            if (row[k] !== row[i] || spans.depth[k] === spans.depth[i]) continue;
            const apart = (spans.start_ns[k] ?? 0) >= (spans.end_ns[i] ?? 0);
            expect(apart, `${i} and ${k}`).toBe(true);
          }
        }
      }),
      { numRuns: 200 },
    );
  });
});
