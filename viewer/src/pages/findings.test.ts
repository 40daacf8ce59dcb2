// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { expect, it } from "vitest";
import type { Place } from "../data/results";
import { pagesOfRule, placeWords } from "./findings";

it("tells what a link to a place shows", () => {
  const place: Place = {
    kind: "longest_gap",
    pid: 1,
    host: "",
    tid: null,
    device: 0,
    start_ns: 5e6,
    end_ns: 7e6,
    step: 3,
  };
  expect(placeWords(place)).toBe("the longest gap, 2.00\u202fms, in step 3");
  expect(placeWords({ ...place, kind: "typical_step" })).toBe(
    "a typical step, 2.00\u202fms, step 3",
  );
  expect(placeWords({ ...place, kind: "memory_peak", end_ns: 5e6, step: null })).toBe("the peak");
});

it("leads from a rule to the page of its subject", () => {
  const pages = (id: string) => pagesOfRule(id).map(([, page]) => page);
  expect(pages("SY-001")).toEqual(["sync"]);
  expect(pages("SY-005")).toEqual(["locks"]);
  expect(pages("LA-001")).toEqual(["idle"]);
  expect(pages("CP-002")).toEqual(["memcpy"]);
  expect(pages("XX-001")).toEqual([]);
});
