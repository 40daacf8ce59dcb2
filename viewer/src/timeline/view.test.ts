// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ruler } from "./ruler";
import { around, clamp, History, LEAST_NS, pan, reveal, type Window, zoomAt } from "./view";

const whole: Window = { start: 0, end: 1e9 };

const windows = fc
  .tuple(fc.double({ min: 0, max: 1e9, noNaN: true }), fc.double({ min: 0, max: 1e9, noNaN: true }))
  .map(([a, b]) => clamp({ start: Math.min(a, b), end: Math.max(a, b) }, whole));

function inside(window: Window): boolean {
  const slack = 1e-3;
  return (
    window.start >= whole.start - slack &&
    window.end <= whole.end + slack &&
    window.end - window.start >= LEAST_NS - slack
  );
}

describe("arithmetic of the view", () => {
  it("never leaves the whole and never gets too short", () => {
    fc.assert(
      fc.property(
        windows,
        fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: -1e10, max: 1e10, noNaN: true }),
        (window, factor, share, by) => {
          const at = window.start + share * (window.end - window.start);
          expect(inside(zoomAt(window, at, factor, whole))).toBe(true);
          expect(inside(pan(window, by, whole))).toBe(true);
          expect(inside(around(window, factor, whole))).toBe(true);
        },
      ),
    );
  });

  it("keeps the moment below the pointer in its place when it zooms in", () => {
    fc.assert(
      fc.property(
        windows,
        fc.double({ min: 0.1, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (window, factor, share) => {
          const length = window.end - window.start;
          fc.pre(length * factor > LEAST_NS * 2);
          const at = window.start + share * length;
          const after = zoomAt(window, at, factor, whole);
          const place = (at - after.start) / (after.end - after.start);
          expect(place).toBeCloseTo(share, 4);
        },
      ),
    );
  });

  it("keeps its length when it pans against an edge", () => {
    const window = { start: 100, end: 1100 };
    expect(pan(window, -1e6, whole)).toEqual({ start: 0, end: 1000 });
    expect(pan(window, 1e12, whole)).toEqual({ start: 1e9 - 1000, end: 1e9 });
  });

  it("shows the whole for what is no window", () => {
    expect(clamp({ start: Number.NaN, end: 5 }, whole)).toEqual(whole);
    expect(clamp({ start: 500, end: 100 }, whole)).toEqual({ start: 100, end: 500 });
  });

  it("moves only for what is not seen", () => {
    const window = { start: 0, end: 1000 };
    expect(reveal(window, { start: 10, end: 20 }, whole)).toBe(window);
    const moved = reveal(window, { start: 5000, end: 5010 }, whole);
    expect(moved.end - moved.start).toBe(1000);
    expect(moved.start).toBeLessThan(5000);
  });
});

describe("undo of zooms", () => {
  it("takes moves of one gesture back at once, and jumps one by one", () => {
    const history = new History(400);
    const a = { start: 0, end: 1000 };
    const b = { start: 100, end: 900 };
    const c = { start: 200, end: 800 };
    history.leave(a, 0);
    history.leave(b, 100);
    history.leave(c, 2000, true);
    expect(history.back()).toBe(c);
    expect(history.back()).toBe(a);
    expect(history.back()).toBeUndefined();
  });

  it("begins a new gesture after an undo", () => {
    const history = new History(400);
    const a = { start: 0, end: 1000 };
    history.leave(a, 0);
    history.back();
    history.leave(a, 10);
    expect(history.back()).toBe(a);
  });
});

describe("ruler", () => {
  it("has one unit, and ticks that are far enough apart", () => {
    fc.assert(
      fc.property(windows, fc.integer({ min: 100, max: 4000 }), (window, px) => {
        const { ticks, step } = ruler(window, px);
        expect((step / (window.end - window.start)) * px).toBeGreaterThanOrEqual(109.9);
        for (const tick of ticks) {
          expect(tick.time).toBeGreaterThanOrEqual(window.start - 1e-6);
          expect(tick.time).toBeLessThan(window.end);
        }
        expect(new Set(ticks.map((tick) => tick.label)).size).toBe(ticks.length);
      }),
    );
  });

  it("says milliseconds for milliseconds", () => {
    const { unit, ticks } = ruler({ start: 16.15e6, end: 18.35e6 }, 1250);
    expect(unit).toBe("ms");
    expect(ticks[0]?.label).toBe("16.2");
  });
});
