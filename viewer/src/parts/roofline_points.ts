// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a roofline chart draws: points, roofs, scales, and where labels have room.

import { KERNEL_FAMILIES, type Look, type Word } from "../base/vocabulary";
import type { RooflinePeak, RooflineRow } from "../data/results";

/** Returns the operations that have a place on logarithmic axes, those with the most time first. */
export function pointsOf(rows: readonly RooflineRow[]): RooflineRow[] {
  return rows
    .filter((row) => (row.flop_per_byte ?? 0) > 0 && (row.flop_per_s ?? 0) > 0)
    .sort((a, b) => b.total_ns - a.total_ns);
}

export interface BoundTime {
  readonly name: string;
  readonly ns: number;
}

/** Returns the time of operations by what bounds them. All parts add up to their time. */
export function boundTimes(rows: readonly RooflineRow[]): BoundTime[] {
  const times = { memory: 0, compute: 0, unknown: 0 };
  for (const { bound, total_ns, known_ratio } of rows) {
    const known_ns = bound === "unknown" ? 0 : total_ns * known_ratio;
    times[bound] += known_ns;
    times.unknown += total_ns - known_ns;
  }
  return [
    { name: "Memory", ns: times.memory },
    { name: "Computing", ns: times.compute },
    { name: "Not known", ns: times.unknown },
  ];
}

/** Colours of categories that are no families of kernels, in the order of their time. */
const LOOKS: readonly Look[] = ["d_forward", "d_optim", "d_backward", "d_copy", "d_reduce"];

/** Returns words and colours of categories. Families of kernels have the same on every page. */
export function wordsOf(categories: readonly string[]): Map<string, Word> {
  const words = new Map<string, Word>();
  let others = 0;
  for (const name of categories) {
    if (words.has(name)) continue;
    const family = KERNEL_FAMILIES[name];
    const isTransfer = /^(all|collective|reduce|send|recv)-|^collective/.test(name);
    const look = isTransfer ? "d_comm" : (LOOKS[others] ?? "d_other");
    if (family === undefined && !isTransfer) others += 1;
    words.set(name, family ?? { name: name || "No category", look });
  }
  return words;
}

export interface Roof {
  readonly name: string;
  readonly flop_per_s: number;
  /** The intensity from which on it is the lower roof. Null: the roof of memory is not known. */
  readonly from: number | null;
}

/** Returns the roofs of computing of one device, the highest first. */
export function roofsOf(peaks: readonly RooflinePeak[]): Roof[] {
  return peaks
    .flatMap((peak) =>
      peak.peak_flop_per_s === null
        ? []
        : [
            {
              name: peak.precision,
              flop_per_s: peak.peak_flop_per_s,
              from: peak.ridge_flop_per_byte,
            },
          ],
    )
    .sort((a, b) => b.flop_per_s - a.flop_per_s);
}

/** A part of a logarithmic axis: powers of ten. */
export type Powers = readonly [number, number];

/** Returns the part of an axis that shows all values, with some room on both sides. */
export function powersOf(values: readonly number[], below: number, above: number): Powers {
  const powers = values.filter((value) => value > 0).map(Math.log10);
  if (powers.length === 0) return [-1, 1];
  const from = Math.min(...powers) - below;
  const to = Math.max(...powers) + above;
  return [from, Math.max(to, from + 1)];
}

/** Returns the powers of ten that have a line; every second or third one if there are many. */
export function ticksOf([from, to]: Powers, most: number): number[] {
  // Not −0.
  const first = Math.ceil(from) || 0;
  const each = Math.max(1, Math.ceil((Math.floor(to) - first + 1) / most));
  const ticks: number[] = [];
  for (let power = first; power <= to; power += each) ticks.push(power);
  return ticks;
}

/** Labels are for so many points. */
const MOST_LABELS = 5;
const LONGEST = 3;
/** A point with a smaller share of the time has no label, however far from its roof. */
const LEAST_SHARE = 0.01;

/** Returns the points that have a label: those with the most time, then those farthest from their roof. */
export function labelled(points: readonly RooflineRow[]): RooflineRow[] {
  const longest = points.slice(0, LONGEST);
  const farthest = points
    .slice(LONGEST)
    .filter((point) => point.roof_ratio !== null && point.total_ratio >= LEAST_SHARE)
    .sort((a, b) => (a.roof_ratio ?? 0) - (b.roof_ratio ?? 0));
  return [...longest, ...farthest].slice(0, MOST_LABELS);
}

export interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export interface Spot {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  readonly width: number;
}

const LINE = 14;
const GAP = 4;

function meet(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/**
 * Places a label beside each spot, where it covers no other. Null: there is no room for it.
 * @param taken What is covered already. Labels are added to it.
 */
export function placeLabels(
  spots: readonly Spot[],
  chart: Box,
  taken: readonly Box[],
): (Box | null)[] {
  const covered = [...taken];
  return spots.map(({ x, y, radius, width }) => {
    const off = radius + GAP;
    const corners = [
      [x + off, y - LINE / 2],
      [x - off - width, y - LINE / 2],
      [x - width / 2, y - off - LINE],
      [x - width / 2, y + off],
      [x + off, y + off],
      [x - off - width, y + off],
      [x + off, y - off - LINE],
      [x - off - width, y - off - LINE],
    ] as const;
    for (const [left, top] of corners) {
      const box = { left, top, right: left + width, bottom: top + LINE };
      const isInside =
        box.left >= chart.left &&
        box.right <= chart.right &&
        box.top >= chart.top &&
        box.bottom <= chart.bottom;
      if (!isInside || covered.some((other) => meet(box, other))) continue;
      covered.push(box);
      return box;
    }
    return null;
  });
}
