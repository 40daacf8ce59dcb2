// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { expect, it } from "vitest";
import type { Gain } from "../data/results";
import { durationRange, gainWords, partOfDuration } from "./gain";

const GAIN: Gain = {
  method: "replayed",
  low_ns: 164.2e6,
  high_ns: 218.4e6,
  low_ratio: 0.429,
  high_ratio: 0.571,
  base_ns: 382.5e6,
  is_of_run: false,
  change: "1 worker ahead, 2 ahead",
};
const plain = (text: string) => text.replaceAll("\u202f", " ");

it("writes a gain with two ends", () => {
  const { amount, base, method } = gainWords(GAIN);
  expect(plain(amount)).toBe("164 to 218 ms");
  expect(plain(base)).toBe("of 383 ms, 43 to 57 %");
  expect(method).toBe("replayed: 1 worker ahead, 2 ahead");
});

it("says at most where nothing is sure to be won", () => {
  const bound: Gain = { ...GAIN, method: "bound", low_ns: 0, low_ratio: 0, high_ns: 3.172e9 };
  expect(plain(gainWords(bound).amount)).toBe("at most 3.17 s");
  expect(plain(gainWords(bound).base)).toBe("of 383 ms, 57 %");
});

it("says that a gain was not computed, and never 0", () => {
  const none: Gain = { ...GAIN, method: "not_computed", low_ns: 0, high_ns: 0, change: "" };
  expect(gainWords(none)).toEqual({ amount: "not computed", base: "", method: "" });
});

it("writes parts and ranges in one unit", () => {
  expect(plain(partOfDuration(218.2e6, 382.5e6))).toBe("218 of 383 ms");
  expect(plain(partOfDuration(1.2e6, 2.3e9))).toBe("1.20 ms of 2.30 s");
  expect(plain(durationRange(0.4e6, 2.4e6))).toBe("0.40 to 2.40 ms");
  expect(plain(durationRange(2.2e6, 2.2e6))).toBe("2.20 ms");
});
