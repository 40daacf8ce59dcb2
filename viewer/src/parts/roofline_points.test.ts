// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { expect, it } from "vitest";
import type { RooflinePeak, RooflineRow } from "../data/results";
import {
  boundTimes,
  labelled,
  placeLabels,
  pointsOf,
  powersOf,
  roofsOf,
  ticksOf,
  wordsOf,
} from "./roofline_points";

const row = (name: string, more: Partial<RooflineRow>) =>
  ({
    name,
    total_ns: 100,
    total_ratio: 0.1,
    known_ratio: 1,
    bound: "memory",
    flop_per_byte: 2,
    flop_per_s: 1e12,
    roof_ratio: 0.5,
    ...more,
  }) as RooflineRow;

it("draws what has a place on logarithmic axes, the longest first", () => {
  const rows = [
    row("short", { total_ns: 1 }),
    row("no work", { flop_per_byte: 0, flop_per_s: 0 }),
    row("unknown", { flop_per_byte: null, flop_per_s: null }),
    row("long", { total_ns: 9 }),
  ];
  expect(pointsOf(rows).map(({ name }) => name)).toEqual(["long", "short"]);
});

it("counts the time without known work as unknown, also a part of an operation's", () => {
  const times = boundTimes([
    row("a", { total_ns: 100, known_ratio: 0.25 }),
    row("b", { total_ns: 40, bound: "compute" }),
    row("c", { total_ns: 60, bound: "unknown", known_ratio: 0 }),
  ]);
  expect(times).toEqual([
    { name: "Memory", ns: 25 },
    { name: "Computing", ns: 40 },
    { name: "Not known", ns: 135 },
  ]);
});

it("has the colours of other pages for families, and different ones for other categories", () => {
  const words = wordsOf(["loop fusion", "matrix", "all-reduce", "convolution fusion", ""]);
  expect(words.get("matrix")).toEqual({ name: "Matrix products", look: "d_forward" });
  expect(words.get("all-reduce")?.look).toBe("d_comm");
  expect(words.get("loop fusion")?.look).not.toBe(words.get("convolution fusion")?.look);
  expect(words.get("")?.name).toBe("No category");
});

it("has a roof for each type of numbers whose peak is known", () => {
  const peak = (precision: string, flop: number | null, ridge: number | null) =>
    ({ precision, peak_flop_per_s: flop, ridge_flop_per_byte: ridge }) as RooflinePeak;
  const roofs = roofsOf([
    peak("fp32", 67e12, 20),
    peak("fp8", null, null),
    peak("bf16", 990e12, 295),
  ]);
  expect(roofs.map(({ name, from }) => [name, from])).toEqual([
    ["bf16", 295],
    ["fp32", 20],
  ]);
});

it("shows all values, and at least a decade", () => {
  expect(powersOf([1, 1000], 0.5, 0.25)).toEqual([-0.5, 3.25]);
  expect(powersOf([10], 0, 0)).toEqual([1, 2]);
  expect(powersOf([], 1, 1)).toEqual([-1, 1]);
  expect(ticksOf([-0.5, 3.25], 8)).toEqual([0, 1, 2, 3]);
  expect(ticksOf([-0.5, 9.5], 5)).toEqual([0, 2, 4, 6, 8]);
});

it("labels the longest, and those far from their roof that take time", () => {
  const points = [
    ...["a", "b", "c"].map((name) => row(name, {})),
    row("near", { roof_ratio: 0.9 }),
    row("far", { roof_ratio: 0.1 }),
    row("tiny", { roof_ratio: 0.01, total_ratio: 0.001 }),
    row("middle", { roof_ratio: 0.4 }),
  ];
  expect(labelled(points).map(({ name }) => name)).toEqual(["a", "b", "c", "far", "middle"]);
});

it("places labels beside each other, or leaves them out", () => {
  const chart = { left: 0, right: 200, top: 0, bottom: 40 };
  const spot = { x: 100, y: 20, radius: 4, width: 60 };
  const boxes = placeLabels([spot, spot, spot, spot], chart, []);
  expect(boxes[0]).toMatchObject({ left: 108, right: 168 });
  expect(boxes[1]).toMatchObject({ left: 32, right: 92 });
  expect(boxes[2]).toBeNull();
  const beside = placeLabels([spot], chart, [{ left: 110, right: 120, top: 0, bottom: 40 }]);
  expect(beside[0]).toMatchObject({ right: 92 });
});
