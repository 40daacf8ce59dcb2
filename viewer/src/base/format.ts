// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Numbers as people read them. A duration or a size has three significant digits and its unit; a
// column of a table has one unit in its header and a fixed number of decimals.

/** A narrow space that does not break, between a number and its unit. */
export const SPACE = "\u202f";
/** What was not measured. Never 0. */
export const NOT_MEASURED = "—";

const LOCALE = "en-US";
const whole = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 0 });
const withDecimals = [0, 1, 2, 3].map(
  (digits) =>
    new Intl.NumberFormat(LOCALE, { minimumFractionDigits: digits, maximumFractionDigits: digits }),
);

/** Returns three significant digits; larger numbers stay whole, with thousands. */
export function significant(value: number): string {
  if (value >= 99.95) return whole.format(Math.round(value));
  return value >= 9.995 ? value.toFixed(1) : value.toFixed(2);
}

/** Returns a duration: 47.7 µs, 1.38 ms, 16.4 s. */
export function duration(ns: number | null | undefined): string {
  if (ns === null || ns === undefined || !Number.isFinite(ns)) return NOT_MEASURED;
  if (ns === 0) return "0";
  const sign = ns < 0 ? "−" : "";
  const size = Math.abs(ns);
  if (size >= 999.5e6) return `${sign}${significant(size / 1e9)}${SPACE}s`;
  if (size >= 999.5e3) return `${sign}${significant(size / 1e6)}${SPACE}ms`;
  if (size >= 999.5) return `${sign}${significant(size / 1e3)}${SPACE}µs`;
  return `${sign}${Math.round(size)}${SPACE}ns`;
}

const SIZES: readonly (readonly [string, number])[] = [
  ["TiB", 2 ** 40],
  ["GiB", 2 ** 30],
  ["MiB", 2 ** 20],
  ["KiB", 2 ** 10],
];

/** Returns a size in binary units: 145 MiB, 1.95 GiB. */
export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOT_MEASURED;
  const sign = value < 0 ? "−" : "";
  const size = Math.abs(value);
  for (const [unit, scale] of SIZES) {
    if (size >= scale * 0.9995) return `${sign}${significant(size / scale)}${SPACE}${unit}`;
  }
  return `${sign}${whole.format(size)}${SPACE}B`;
}

/** Returns a count in full, with thousands. */
export function count(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOT_MEASURED;
  return whole.format(value);
}

/** Returns a part of 1 as percent with one decimal. */
export function percent(ratio: number | null | undefined): string {
  if (ratio === null || ratio === undefined || !Number.isFinite(ratio)) return NOT_MEASURED;
  if (ratio > 0 && ratio < 0.0005) return `<0.1${SPACE}%`;
  return `${(ratio * 100).toFixed(1)}${SPACE}%`;
}

/** Returns a number with its sign: a change is not a size. */
export function signed(value: number | null | undefined, write: (size: number) => string): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOT_MEASURED;
  return `${value > 0 ? "+" : value < 0 ? "−" : ""}${write(Math.abs(value))}`;
}

/** Returns a speed in powers of 1000, as the passes do: 8.13 GB/s, 742 MB/s. */
export function speed(size: number | null, ns: number): string {
  if (size === null || ns === 0) return NOT_MEASURED;
  const perSecond = (size / ns) * 1e9;
  if (perSecond >= 999.5e6) return `${significant(perSecond / 1e9)}${SPACE}GB/s`;
  if (perSecond >= 999.5e3) return `${significant(perSecond / 1e6)}${SPACE}MB/s`;
  return `${significant(perSecond / 1e3)}${SPACE}kB/s`;
}

const PREFIXES: readonly (readonly [string, number])[] = [
  ["P", 1e15],
  ["T", 1e12],
  ["G", 1e9],
  ["M", 1e6],
  ["k", 1e3],
];

/** Returns a rate in powers of 1000: 497 TFLOP/s, 3.35 TB/s. Up to 9,999 it keeps the smaller unit. */
export function perSecond(value: number | null, unit: string): string {
  if (value === null || !Number.isFinite(value)) return NOT_MEASURED;
  const [prefix, scale] = PREFIXES.find(
    ([name, size]) => value >= size * (name === "P" ? 9.9995 : 0.9995),
  ) ?? ["", 1];
  return `${significant(value / scale)}${SPACE}${prefix}${unit}/s`;
}

/** Returns a number of a column: fixed decimals, "0" for zero, "<0.01" below the last digit. */
export function fixed(value: number | null | undefined, decimals: number): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOT_MEASURED;
  if (value === 0) return "0";
  const least = 10 ** -decimals;
  if (Math.abs(value) < least / 2) {
    return `${value < 0 ? ">−" : "<"}${least.toFixed(decimals)}`;
  }
  return (withDecimals[decimals] ?? whole).format(value).replace("-", "−");
}

/** Returns a factor: 3.92 ×. */
export function times(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOT_MEASURED;
  return `${value.toFixed(2)}${SPACE}×`;
}

/** Returns a moment of a trace as a whole number. All moments of a trace have one unit. */
export function position(ns: number, traceNs: number): string {
  const [factor, unit] = traceNs >= 1e9 ? [1e6, "ms"] : traceNs >= 1e6 ? [1e3, "µs"] : [1, "ns"];
  return `${whole.format(Math.round(ns / factor))}${SPACE}${unit}`;
}

/** Returns a number with its noun: "1 step", "80 steps". */
export function plural(value: number, one: string, many: string): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Says that a report leaves events out of a range. */
export function leftOutWords(events: number): string {
  const were =
    events === 1
      ? "event of the blocks in this range is"
      : "events of the blocks in this range are";
  return `${count(events)} ${were} left out of this page`;
}
