// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Numbers as words, by the rules of the page (base/format.ts), and those that the timeline alone
// writes.

import { bytes, count, duration, significant, SPACE as THIN } from "../base/format";

export { bytes, count, duration, fixed, percent, position, SPACE as THIN } from "../base/format";

/** Writes a share of 1 without decimals, for labels in narrow places. 99.6 % is not 100 %. */
export function roughPercent(share: number): string {
  const hundredths = share * 100;
  const near = Math.round(hundredths);
  if (near === 0 && share > 0) return `<1${THIN}%`;
  if (near >= 100 && share < 1) return `99${THIN}%`;
  return `${Math.min(100, near)}${THIN}%`;
}

/** Writes a value of a counter in the counter's own unit. */
export function counterValue(value: number, unit: string): string {
  if (unit === "bytes" || unit === "B") return bytes(value);
  if (unit === "ns") return duration(value);
  const text = Number.isInteger(value) ? count(value) : significant(value);
  return unit === "" ? text : `${text}${THIN}${unit}`;
}
