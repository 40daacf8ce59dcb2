// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The ruler: all ticks have one unit, which the ruler says once.

import type { Window } from "./view";

export interface Tick {
  readonly time: number;
  readonly label: string;
}

export interface Ruler {
  readonly unit: string;
  readonly step: number;
  readonly ticks: readonly Tick[];
}

const UNITS: readonly (readonly [number, string])[] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

/** Returns the least of 1, 2, 5 times a power of ten that is not below `raw`. */
export function roundStep(raw: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(raw, 1)));
  for (const factor of [1, 2, 5]) if (factor * power >= raw) return factor * power;
  return 10 * power;
}

/** Returns the ticks of a window that is `px` wide, at least `apart` pixels from each other. */
export function ruler(window: Window, px: number, apart = 110): Ruler {
  const span = Math.max(window.end - window.start, 1);
  const step = roundStep((span / Math.max(px, 1)) * apart);
  // One decimal is enough for the largest unit that a tenth of fits in a step.
  const [factor, unit] = UNITS.find(([size]) => step >= size / 10) ?? [1, "ns"];
  const decimals = step < factor ? 1 : 0;
  const write = new Intl.NumberFormat("en", {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  const ticks: Tick[] = [];
  const first = Math.ceil(window.start / step);
  for (let i = first; i * step < window.end && ticks.length < 1000; i++) {
    ticks.push({ time: i * step, label: write.format((i * step) / factor) });
  }
  return { unit, step, ticks };
}
