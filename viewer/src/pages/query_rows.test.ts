// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { expect, test } from "vitest";
import { chartOf, isNumeric, linkOfRows } from "./query_rows";

const answer = (columns: string[], rows: (string | number | boolean | null)[][]) => ({
  columns,
  rows,
  truncated: null,
});

test("rows with a time lead to the timeline", () => {
  const link = linkOfRows(["name", "start_ns", "dur_ns", "pid", "device"]);
  expect(link?.(["k", 1000, 500, 7, 0])).toBe("#timeline?v=750,1750&sel=1000,1500&on=7.d0");
  const thread = linkOfRows(["ts", "dur", "pid", "tid"]);
  expect(thread?.([1000, 500, 7, 9])).toBe("#timeline?v=750,1750&sel=1000,1500&on=7.t9");
  expect(linkOfRows(["start", "end"])?.([2e6, 3e6])).toBe("#timeline?v=1000000,4000000");
  expect(linkOfRows(["time_ns"])?.([null])).toBe("");
  expect(linkOfRows(["time_ns"])?.(["1e9"])).toBe("");
  expect(linkOfRows(["name", "count"])).toBeUndefined();
});

test("two columns that suit have a chart", () => {
  const bars = [["a", 3] as const, ["b", 5] as const].map((row) => [...row]);
  expect(chartOf(answer(["name", "total"], bars))).toEqual({ kind: "bars", x: 0, y: 1 });
  expect(
    chartOf(
      answer(
        ["name", "of", "n"],
        [
          ["a", "x", 1],
          ["b", "y", 2],
        ],
      ),
    )?.y,
  ).toBe(2);
  const curve = Array.from({ length: 9 }, (_, step) => [step, step * step]);
  expect(chartOf(answer(["step", "ns"], curve))).toEqual({ kind: "curve", x: 0, y: 1 });
});

test("what does not suit has none", () => {
  expect(chartOf(answer(["name", "n"], [["a", 3]]))).toBeUndefined();
  expect(
    chartOf(
      answer(
        ["name", "n"],
        [
          ["a", -3],
          ["b", 5],
        ],
      ),
    ),
  ).toBeUndefined();
  expect(
    chartOf(
      answer(
        ["a", "b"],
        [
          ["a", "x"],
          ["b", "y"],
        ],
      ),
    ),
  ).toBeUndefined();
  const many = Array.from({ length: 41 }, (_, i) => [`n${i}`, i]);
  expect(chartOf(answer(["name", "n"], many))).toBeUndefined();
  const falling = Array.from({ length: 9 }, (_, step) => [9 - step, step]);
  expect(chartOf(answer(["step", "ns"], falling))).toBeUndefined();
});

test("a column of nothing is no column of numbers", () => {
  expect(isNumeric([[null], [null]], 0)).toBe(false);
  expect(isNumeric([[null], [4]], 0)).toBe(true);
  expect(isNumeric([["4"], [4]], 0)).toBe(false);
});
