// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  bytes,
  count,
  duration,
  fixed,
  percent,
  perSecond,
  plural,
  position,
  times,
} from "./format";

const plain = (text: string) => text.replaceAll("\u202f", " ");

it("writes rates in powers of 1000, and keeps the unit of devices", () => {
  const rates = [497.4e12, 1.9799e15, 12e15, 171e9, 0.5].map((value) => perSecond(value, "FLOP"));
  expect(rates.map(plain)).toEqual([
    "497 TFLOP/s",
    "1,980 TFLOP/s",
    "12.0 PFLOP/s",
    "171 GFLOP/s",
    "0.50 FLOP/s",
  ]);
  expect([perSecond(3.35e12, "B"), perSecond(null, "B")].map(plain)).toEqual(["3.35 TB/s", "—"]);
});

describe("duration", () => {
  it("has three significant digits and a unit", () => {
    expect([47_700, 1_380_000, 16_400_000_000, 999, 0].map(duration).map(plain)).toEqual([
      "47.7 µs",
      "1.38 ms",
      "16.4 s",
      "999 ns",
      "0",
    ]);
  });

  it("takes the next unit if rounding reaches it", () => {
    expect(plain(duration(999_499))).toBe("999 µs");
    expect(plain(duration(999_500))).toBe("1.00 ms");
    expect(plain(duration(9_996_000))).toBe("10.0 ms");
    expect(plain(duration(99_960_000))).toBe("100 ms");
  });

  it("says that a value was not measured", () => {
    expect([null, undefined, Number.NaN].map(duration)).toEqual(["—", "—", "—"]);
  });

  it("has a true minus sign", () => {
    expect(plain(duration(-1_500_000))).toBe("−1.50 ms");
  });

  it("is within half a percent of any value", () => {
    const units: Record<string, number> = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 };
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 ** 15 }), (ns) => {
        const [number = "", unit = ""] = plain(duration(ns)).split(" ");
        const back = Number(number.replaceAll(",", "")) * (units[unit] ?? Number.NaN);
        expect(Math.abs(back - ns)).toBeLessThanOrEqual(ns * 0.0051);
      }),
    );
  });
});

describe("other figures", () => {
  it("writes sizes in binary units", () => {
    expect([0, 512, 1024, 152_043_520, 2_093_796_556].map(bytes).map(plain)).toEqual([
      "0 B",
      "512 B",
      "1.00 KiB",
      "145 MiB",
      "1.95 GiB",
    ]);
  });

  it("never rounds a share to zero", () => {
    expect([0, 0.0001, 0.0005, 0.476, 1].map(percent).map(plain)).toEqual([
      "0.0 %",
      "<0.1 %",
      "0.1 %",
      "47.6 %",
      "100.0 %",
    ]);
  });

  it("keeps the decimals of a column", () => {
    expect([0, 0.004, 0.005, 6.93, 6419.2].map((v) => fixed(v, 2))).toEqual([
      "0",
      "<0.01",
      "0.01",
      "6.93",
      "6,419.20",
    ]);
    expect(fixed(null, 2)).toBe("—");
    expect(fixed(-0.001, 2)).toBe(">−0.01");
  });

  it("counts in full", () => {
    expect(count(394_962)).toBe("394,962");
    expect(plural(1, "step", "steps")).toBe("1 step");
    expect(plural(80, "step", "steps")).toBe("80 steps");
  });

  it("does not round positions to three digits", () => {
    expect(plain(position(16_835_412, 49_779_532))).toBe("16,835 µs");
    expect(plain(position(8_611_400_000, 16_400_000_000))).toBe("8,611 ms");
    expect(plain(times(3.916))).toBe("3.92 ×");
  });
});
