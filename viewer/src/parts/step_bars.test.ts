// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { expect, it } from "vitest";
import type { Step } from "../data/results";
import { foldSteps, labelledPlaces, STACK, stackedMs } from "./step_bars";

function step(number: number, forward_ns: number, input_ns: number): Step {
  return {
    pid: 1,
    tid: 1,
    host: "",
    number,
    start_ns: 0,
    duration_ns: forward_ns + input_ns,
    input_ns,
    forward_ns,
    backward_ns: 0,
    optimizer_ns: 0,
    lock_wait_ns: 0,
    blocked_ns: 0,
    other_ns: 0,
    op_count: 0,
    batch_count: 0,
    capture: 0,
    warmup: false,
    outlier: false,
    outlier_category: "",
    phase: "none",
    request_count: null,
    token_count: null,
  };
}

it("keeps the longest step of each group", () => {
  const steps = [5, 1, 9, 2, 3, 8, 7].map((ms, index) => step(index, ms * 1e6, 0));
  const folded = foldSteps(steps, 3);
  expect(folded.group).toBe(3);
  expect(folded.drawn.map((each) => each.number)).toEqual([2, 5, 6]);
  expect(foldSteps(steps, 7).drawn).toHaveLength(7);
});

it("stacks categories so that the highest sum is the step", () => {
  const sums = stackedMs([step(1, 2e6, 3e6)]);
  expect(sums).toHaveLength(STACK.length);
  expect(sums[0]).toEqual([5]);
  expect(sums[STACK.length - 1]).toEqual([2]);
});

it("labels round steps and the first", () => {
  const numbers = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const labels = (all: number[]) => labelledPlaces(all).map((place) => all[place]);
  expect(labels(numbers(1, 80))).toEqual([1, 10, 20, 30, 40, 50, 60, 70, 80]);
  expect(labels(numbers(9, 30))).toEqual([10, 15, 20, 25, 30]);
  expect(labels([6])).toEqual([6]);
});
