// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a comparison says in sentences: the change with its interval, and why the runs may not compare.

import { count, duration, percent, signed } from "../base/format";
import type { Comparability, Diff, Meta } from "../data/results";

const REASONS: Readonly<Record<Comparability["reasons"][number], string>> = {
  none: "",
  other_program: "the programs differ",
  other_device: "the devices differ",
  other_shapes: "shapes differ",
  other_framework: "the frameworks differ",
  other_steps: "the steps were found in other ways",
  few_steps: "a side has fewer than five steps",
  other_kernel_count: "the steps launch other numbers of kernels",
  other_versions: "the versions of CUDA or its driver differ",
  other_device_count: "the numbers of devices differ",
};

/** Returns the reasons why two runs are not the same program on the same machine. */
export function reasonWords(comparability: Comparability): string {
  return comparability.reasons
    .map((reason) => REASONS[reason] ?? reason)
    .filter((words) => words !== "")
    .join("; ");
}

/** Returns a change in percent with its sign. */
export function change(ratio: number | null): string {
  return signed(ratio, percent);
}

/** Returns the answer, and the figures behind it. */
export function verdictWords({ verdict, steps, neutral_ratio }: Diff): {
  headline: string;
  because: string;
} {
  if (steps.differs_in_window) {
    return {
      headline: "The steps of the two are different measures.",
      because:
        "One recording has no work of a GPU in its steps. The steps of the host and those of a GPU are not compared.",
    };
  }
  if (steps.change_ratio === null) {
    return {
      headline: "Without steps on both sides, there is no time to compare.",
      because: "A recording without steps has one time only: a difference may be noise.",
    };
  }
  const size = percent(Math.abs(steps.change_ratio));
  const headline = {
    regression: `The step takes ${size} more time.`,
    improvement: `The step takes ${size} less time.`,
    neutral: "The step takes as long as before.",
    inconclusive: "The steps do not tell whether the program is slower.",
    none: "The steps do not tell whether the program is slower.",
  }[verdict];
  const interval =
    steps.change_low_ratio === null
      ? ""
      : ` Resampled from the steps (95 %), the change lies between ${change(
          steps.change_low_ratio,
        )} and ${change(steps.change_high_ratio)}.`;
  const more =
    verdict === "inconclusive"
      ? " Record more steps to know."
      : verdict === "neutral"
        ? ` Less than ${percent(neutral_ratio)} counts as no change.`
        : "";
  return {
    headline,
    because: `The median step took ${duration(steps.before_median_ns)} before and ${duration(
      steps.after_median_ns,
    )} after.${interval}${more}`,
  };
}

/** Returns the last part of a path: where a recording lies is the reader's own matter. */
export function runName(meta: Meta | null): string {
  return (meta?.path ?? "").replace(/\/+$/, "").split("/").pop() ?? "";
}

/** Returns the facts of a run, in the order of the table. */
export function runFacts(meta: Meta | null): string[] {
  if (meta === null) return ["—", "—", "—", "—"];
  const rows = meta.inputs.reduce((sum, input) => sum + input.count, 0);
  return [
    meta.origin_realtime_ns === 0
      ? "—"
      : `${new Date(meta.origin_realtime_ns / 1e6).toISOString().slice(0, 16).replace("T", " ")} UTC`,
    duration(meta.window_end_ns - meta.window_start_ns),
    count(rows),
    meta.lost_count === 0 ? "0" : count(meta.lost_count),
  ];
}
