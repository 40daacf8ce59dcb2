// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { expect, it } from "vitest";
import type { Manifest } from "../data/source";
import { allTime, parsePart, partOf, resultsOf, scopeOfResults, scopeWords, WHOLE } from "./scope";

const MANIFEST: Manifest = {
  version: 1,
  title: "",
  gpuprof: "",
  passes: [],
  failed: [],
  parts: [
    { name: "pid=12" },
    { name: "device=1" },
    { name: "step=3", step: "3, the longest", start_ns: 5, end_ns: 9 },
  ],
};
const range = { start_ns: 5, end_ns: 9 };

it("reads the names of parts that it writes", () => {
  for (const scope of [
    WHOLE,
    { ...WHOLE, range },
    { ...WHOLE, pid: 12 },
    { ...WHOLE, range, pid: 12, device: 0 },
    { range: { start_ns: -5, end_ns: 0 }, step: 4, pid: null, device: 3 },
  ])
    expect(parsePart(partOf(scope))).toEqual(scope);
  expect(partOf({ ...WHOLE, range, pid: 12, device: 0 })).toBe("5,9;pid=12;device=0");
});

it("leaves out what makes no sense", () => {
  for (const name of ["", "9,5", "5,", "pid=", "pid=x", "device=-1", "<b>", "pid=99999999999"])
    expect(parsePart(name)).toEqual(WHOLE);
  expect(parsePart("9,5;pid=3")).toEqual({ ...WHOLE, pid: 3 });
});

const SOURCE = { manifest: MANIFEST, result: async () => null };

it("finds the results that are nearest to the scope", () => {
  const nearest = (scope: typeof WHOLE) => partOf(scopeOfResults(SOURCE, scope));
  expect(nearest({ ...WHOLE, range })).toBe("");
  expect(nearest({ ...WHOLE, range, step: 3 })).toBe("5,9;step=3");
  expect(resultsOf({ ...WHOLE, range, step: 3, device: 1 })).toBe("step=3;device=1");
  expect(nearest(allTime({ ...WHOLE, range, step: 3, pid: 12 }))).toBe("pid=12");
  expect(nearest({ ...WHOLE, range: { start_ns: 5, end_ns: 10 } })).toBe("");
  expect(nearest({ ...WHOLE, range: { start_ns: 1, end_ns: 2 }, pid: 12 })).toBe("pid=12");
  expect(nearest({ ...WHOLE, range, step: 3, pid: 13 })).toBe("5,9;step=3");
  expect(nearest({ ...WHOLE, pid: 13, device: 1 })).toBe("device=1");
  expect(
    partOf(scopeOfResults({ ...SOURCE, computes: true }, { ...WHOLE, range, pid: 13, device: 1 })),
  ).toBe("5,9;pid=13;device=1");
});

it("says what a part is", () => {
  expect(scopeWords(WHOLE)).toBe("the whole run");
  expect(scopeWords({ ...WHOLE, range, pid: 12, device: 0 })).toBe(
    "process 12, GPU 0, a range of 4\u202fns",
  );
});
