// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { expect, it } from "vitest";
import type { Overview, Verdict } from "../data/results";
import { figuresOf, sentenceOf } from "./overview_words";

const VERDICT = {
  bound: "host",
  bound_ratio: 0.5714,
  window: "period",
  step_ns: 382.5e6,
  busy_ratio: 0.414,
  missing: null,
} as unknown as Verdict;

/** Returns an overview that has what the sentence and the figures need. */
function overviewOf(verdict: Verdict | null): Overview {
  const step = { count: 1, median_ns: 382.5e6, mean_ns: 382.5e6, p10_ns: 0, p90_ns: 0 };
  return {
    verdict,
    input: null,
    steps: null,
    step,
    findings: [],
    gpu: null,
    memory: null,
    environment: null,
    processes: [],
    device_series: [],
  } as unknown as Overview;
}
const plain = (text: string) => text.replaceAll("\u202f", " ");

it("says who costs how much of how much, and repeats it in one red figure", () => {
  const overview = overviewOf(VERDICT);
  const { headline } = sentenceOf(overview);
  expect(plain(headline)).toBe("For 219 of 383 ms of each step the GPU waits for the host.");
  const red = figuresOf(overview).filter((figure) => figure.isCause);
  expect(red).toHaveLength(1);
  expect(plain(red[0]?.value ?? "")).toBe("219 ms");
});

it("does not name a bound where work is missing", () => {
  const missing = { empty_graph_count: 70, graph_count: 72 };
  const verdict = { ...VERDICT, bound: "unknown", missing } as unknown as Verdict;
  const overview = overviewOf(verdict);
  expect(sentenceOf(overview).headline).toBe(
    "It cannot be told what bounds this: the kernels of 70 of 72 launches of CUDA graphs were not recorded.",
  );
  expect(figuresOf(overview).filter((figure) => figure.isCause)).toEqual([]);
});
