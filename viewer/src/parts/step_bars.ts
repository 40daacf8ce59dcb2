// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The bars of the chart of steps: which steps are drawn, and their stacked categories.

import type { Step } from "../data/results";

/** Categories from the ground up. */
export const STACK = [
  "forward",
  "backward",
  "optimizer",
  "other",
  "blocked",
  "lock_wait",
  "input",
] as const;
export type StackName = (typeof STACK)[number];

export function timeOf(step: Step, category: StackName): number {
  return step[`${category}_ns`];
}

/** Returns at most `most` steps: of each group of neighbours the longest, so that peaks stay. */
export function foldSteps(steps: readonly Step[], most: number): { drawn: Step[]; group: number } {
  const group = Math.max(1, Math.ceil(steps.length / most));
  if (group === 1) return { drawn: [...steps], group };
  const drawn: Step[] = [];
  for (let begin = 0; begin < steps.length; begin += group) {
    const longest = steps
      .slice(begin, begin + group)
      .reduce((best, step) => (step.duration_ns > best.duration_ns ? step : best));
    drawn.push(longest);
  }
  return { drawn, group };
}

/** Returns sums in milliseconds for each category from the top down: each holds those below it. */
export function stackedMs(steps: readonly Step[]): number[][] {
  const sums = STACK.map(() => new Array<number>(steps.length).fill(0));
  steps.forEach((step, index) => {
    let below = 0;
    STACK.forEach((category, level) => {
      below += timeOf(step, category) / 1e6;
      const row = sums[level];
      if (row !== undefined) row[index] = below;
    });
  });
  return sums.reverse();
}

/** Returns the places of about ten steps whose numbers are round, and of the first. */
export function labelledPlaces(numbers: readonly number[]): number[] {
  const first = numbers[0] ?? 0;
  const span = Math.max(1, (numbers[numbers.length - 1] ?? 0) - first);
  const rough = span / 10;
  const ten = 10 ** Math.floor(Math.log10(rough));
  const round = Math.max(
    1,
    [1, 2, 5, 10].map((each) => each * ten).find((each) => each >= rough) ?? 1,
  );
  const places = numbers.flatMap((number, place) => (number % round === 0 ? [place] : []));
  const second = numbers[places[0] ?? 0] ?? first;
  const hasRoom = places[0] !== 0 && second - first >= round / 2;
  return hasRoom || places.length === 0 ? [0, ...places] : places;
}
