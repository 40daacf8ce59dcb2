// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Numbers as words, by the rules of the page: durations are rounded to three digits, positions are
// whole numbers, and a percentage that is not zero is never written as zero.

/** Narrow space that no line breaks at: between a number and its unit. */
export const THIN = "\u202f";

const DURATIONS: readonly (readonly [number, string])[] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** Writes a count in full, with thousands: 394,962. */
export function count(n: number): string {
  return whole.format(n);
}

/** Writes with three significant digits. */
function three(value: number): string {
  const size = Math.abs(value);
  if (size >= 99.95) return whole.format(value);
  return size >= 9.995 ? value.toFixed(1) : value.toFixed(2);
}

/** Writes a duration: 47.7 µs, 1.38 ms, 16.4 s. */
export function duration(ns: number): string {
  if (!Number.isFinite(ns)) return "—";
  const size = Math.abs(ns);
  for (const [factor, unit] of DURATIONS) {
    // 999.6 µs are 1.00 ms: the unit follows the rounded number.
    if (size < factor * 0.9995 && factor > 1) continue;
    if (factor === 1) return `${whole.format(ns)}${THIN}${unit}`;
    return `${three(ns / factor)}${THIN}${unit}`;
  }
  return `0${THIN}ns`;
}

/** Writes a position on a trace that ends at `end`: a whole number in one unit for all of the trace. */
export function position(ns: number, end: number): string {
  const [factor, unit] = end >= 1e9 ? [1e6, "ms"] : end >= 1e6 ? [1e3, "µs"] : [1, "ns"];
  return `${whole.format(Math.round(ns / factor))}${THIN}${unit}`;
}

/** Writes a share of 1: 93.9 %, <0.1 %, 0 %. */
export function percent(share: number): string {
  if (!Number.isFinite(share)) return "—";
  if (share === 0) return `0${THIN}%`;
  if (share < 0.001) return `<0.1${THIN}%`;
  return `${(share * 100).toFixed(1)}${THIN}%`;
}

/** Writes a share of 1 without decimals, for labels in narrow places. 99.6 % is not 100 %. */
export function roughPercent(share: number): string {
  const hundredths = share * 100;
  const near = Math.round(hundredths);
  if (near === 0 && share > 0) return `<1${THIN}%`;
  if (near >= 100 && share < 1) return `99${THIN}%`;
  return `${Math.min(100, near)}${THIN}%`;
}

/** Writes a number of bytes in KiB, MiB or GiB. */
export function bytes(n: number): string {
  const size = Math.abs(n);
  if (size < 1024) return `${whole.format(n)}${THIN}B`;
  if (size < 1024 ** 2) return `${three(n / 1024)}${THIN}KiB`;
  if (size < 1024 ** 3) return `${three(n / 1024 ** 2)}${THIN}MiB`;
  return `${three(n / 1024 ** 3)}${THIN}GiB`;
}

/** Writes a value of a counter in the counter's own unit. */
export function counterValue(value: number, unit: string): string {
  if (unit === "bytes" || unit === "B") return bytes(value);
  if (unit === "ns") return duration(value);
  const text = Number.isInteger(value) ? whole.format(value) : three(value);
  return unit === "" ? text : `${text}${THIN}${unit}`;
}

/** Writes a number with a fixed number of decimals; what is below the last one is "<0.01". */
export function fixed(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return "—";
  if (value === 0) return "0";
  const least = 10 ** -decimals;
  if (value > 0 && value < least / 2) return `<${least.toFixed(decimals)}`;
  return value.toLocaleString("en", {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
}
