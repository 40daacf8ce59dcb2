// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a finding's remedy wins, as people read it: "164 to 218 ms of 383 ms, 43 to 57 %".

import type { Gain } from "../data/results";
import { duration, percent, SPACE, significant } from "./format";

/** Returns the unit in which a duration is written, and its nanoseconds. */
function unitOf(ns: number): readonly [string, number] {
  if (ns >= 999.5e6) return ["s", 1e9];
  if (ns >= 999.5e3) return ["ms", 1e6];
  return ns >= 999.5 ? ["µs", 1e3] : ["ns", 1];
}

/** Returns a part and its whole in one unit: "218 of 383 ms". */
export function partOfDuration(part_ns: number, whole_ns: number): string {
  const part = part_ns / unitOf(whole_ns)[1];
  // A part that has no digit in the unit of the whole keeps its own.
  if (part_ns > 0 && part < 0.01) return `${duration(part_ns)} of ${duration(whole_ns)}`;
  const digits = part === 0 ? "0" : significant(part);
  return `${digits} of ${duration(whole_ns)}`;
}

/** Returns two durations as a range in one unit: "164 to 218 ms". Equal ends are one figure. */
export function durationRange(low_ns: number, high_ns: number): string {
  const high = duration(high_ns);
  if (duration(low_ns) === high) return high;
  const [unit, ns] = unitOf(high_ns);
  const low = low_ns / ns;
  if (unitOf(low_ns)[0] !== unit && low < 0.1) return `${duration(low_ns)} to ${high}`;
  return `${significant(low)} to ${high}`;
}

/** Returns a share with as many digits as it has a use for: 57, 4.2, 0.5. */
function share(ratio: number): string {
  const size = ratio * 100;
  return size >= 9.95 ? size.toFixed(0) : size.toFixed(1);
}

function percentRange(low: number, high: number): string {
  if (high > 0 && high < 0.0005) return percent(high);
  if (low <= 0 || share(low) === share(high)) return `${share(high)}${SPACE}%`;
  return `${share(low)} to ${share(high)}${SPACE}%`;
}

export interface GainWords {
  readonly amount: string;
  /** What it is a part of; "": nothing was computed. */
  readonly base: string;
  /** How it was found. */
  readonly method: string;
}

/** Returns the three lines of a gain. A bound without a low end says "at most". */
export function gainWords(gain: Gain): GainWords {
  if (gain.method === "not_computed") {
    return { amount: "not computed", base: "", method: gain.change };
  }
  const isOneEnded = gain.low_ns <= 0;
  const amount = isOneEnded
    ? `at most ${duration(gain.high_ns)}`
    : durationRange(gain.low_ns, gain.high_ns);
  const part = percentRange(isOneEnded ? 0 : gain.low_ratio, gain.high_ratio);
  const base = gain.base_ns > 0 ? `of ${duration(gain.base_ns)}, ${part}` : part;
  return { amount, base, method: `${gain.method}: ${gain.change}`.replace(/: $/, "") };
}
