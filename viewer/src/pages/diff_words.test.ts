// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from "vitest";
import type { Comparability, Diff, Meta, StepDiff } from "../data/results";
import { change, reasonWords, runName, verdictWords } from "./diff_words";

const STEPS: StepDiff = {
  window: "device",
  before_count: 20,
  after_count: 20,
  before_median_ns: 10e6,
  after_median_ns: 12e6,
  before_mean_ns: 10e6,
  after_mean_ns: 12e6,
  change_ratio: 0.2,
  change_low_ratio: 0.18,
  change_high_ratio: 0.22,
  differs_in_window: false,
};
const SAME: Comparability = {
  score_ratio: 1,
  reasons: [],
  same_shape_ratio: 1,
  shapes: "grids",
};

function diff(verdict: Diff["verdict"], steps: Partial<StepDiff> = {}): Diff {
  const meta = { path: "runs/a/" } as Meta;
  return {
    before: meta,
    after: meta,
    verdict,
    comparability: SAME,
    steps: { ...STEPS, ...steps },
    categories: [],
    kernels: [],
    ops: [],
    neutral_ratio: 0.02,
    baseline_name: "",
    baseline_saved_realtime_ns: 0,
  };
}

const plain = (text: string) => text.replaceAll("\u202f", " ");

describe("a comparison", () => {
  it("says the change with its sign and interval", () => {
    const { headline, because } = verdictWords(diff("regression"));
    expect(plain(headline)).toBe("The step takes 20.0 % more time.");
    expect(plain(because)).toContain("between +18.0 % and +22.0 %");
    expect(plain(verdictWords(diff("improvement", { change_ratio: -0.5 })).headline)).toBe(
      "The step takes 50.0 % less time.",
    );
    expect(plain(verdictWords(diff("neutral")).because)).toContain("Less than 2.0 %");
    expect(verdictWords(diff("inconclusive")).because).toContain("Record more steps");
  });

  it("tells no interval of a single step, and compares no different measures", () => {
    const one = { change_low_ratio: null, change_high_ratio: null };
    expect(verdictWords(diff("inconclusive", one)).because).not.toContain("95");
    const { headline } = verdictWords(
      diff("none", { ...one, change_ratio: null, differs_in_window: true }),
    );
    expect(headline).toContain("different measures");
  });

  it("says that a side has no steps", () => {
    const { headline } = verdictWords(diff("none", { change_ratio: null }));
    expect(headline).toContain("Without steps");
  });

  it("says why runs do not compare, also for reasons that it does not know", () => {
    const reasons = ["few_steps", "other_moon", "none"] as unknown as Comparability["reasons"];
    expect(reasonWords({ ...SAME, reasons })).toBe("a side has fewer than five steps; other_moon");
    expect(reasonWords(SAME)).toBe("");
  });

  it("has true signs", () => {
    expect([0.5, -0.5, 0, null].map((ratio) => plain(change(ratio)))).toEqual([
      "+50.0 %",
      "−50.0 %",
      "0.0 %",
      "—",
    ]);
  });

  it("names a run without the folders above it", () => {
    expect(["/home/me/run1", "run1/", "", "/"].map((path) => runName({ path } as Meta))).toEqual([
      "run1",
      "run1",
      "",
      "",
    ]);
  });
});
