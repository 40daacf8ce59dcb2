// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { expect, it } from "vitest";
import { unitOfTimes } from "./columns";
import { ticksOf } from "./time_rows";

it("puts round ticks on an axis, with room for each and for its end", () => {
  expect(ticksOf(383, 1000)).toEqual([0, 50, 100, 150, 200, 250, 300]);
  expect(ticksOf(383, 300)).toEqual([0, 100, 200]);
  expect(ticksOf(10.6, 60)).toEqual([0]);
  expect(ticksOf(0, 100)).toEqual([]);
});

it("chooses a unit in which the greatest time has three digits", () => {
  expect(unitOfTimes(382.5e6)).toEqual({ name: "ms", ns: 1e6, decimals: 1 });
  expect(unitOfTimes(68.78e6)).toEqual({ name: "ms", ns: 1e6, decimals: 2 });
  expect(unitOfTimes(2.4e9).name).toBe("s");
  expect(unitOfTimes(500).name).toBe("µs");
});
