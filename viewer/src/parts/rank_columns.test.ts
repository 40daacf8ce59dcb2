// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from "vitest";
import { placeColumns, roundRanks } from "./rank_columns";

const ranks = (count: number, odd: readonly number[] = []) =>
  Array.from({ length: count }, (_, rank) => ({
    rank,
    outlier: odd.includes(rank),
    step_ns: 1000 + rank,
  }));

describe("columns of ranks", () => {
  it("stand next to each other within the width", () => {
    const columns = placeColumns(ranks(256, [137]), 1000);
    expect(columns.length).toBe(256);
    let end = 0;
    for (const { x, width } of columns) {
      expect(x).toBeGreaterThanOrEqual(end - 1e-9);
      expect(width).toBeGreaterThan(0);
      end = x + width;
    }
    expect(end).toBeLessThanOrEqual(1000);
  });
  it("are wide and set apart if the rank differs", () => {
    const columns = placeColumns(ranks(1024, [7]), 900);
    const odd = columns.find(({ row }) => row.rank === 7);
    expect(odd?.width).toBeGreaterThanOrEqual(8 * 0.9);
    expect(odd?.count).toBe(1);
  });
  it("stand for several ranks if there is no room, and show the longest", () => {
    const columns = placeColumns(ranks(1024, [7]), 300);
    expect(columns.reduce((sum, { count }) => sum + count, 0)).toBe(1024);
    expect(columns.length).toBeLessThan(310);
    const last = columns[columns.length - 1];
    expect(last?.row.rank).toBe(1023);
    expect(last?.count).toBeGreaterThan(1);
  });
  it("are of usual width if there are few", () => {
    const columns = placeColumns(ranks(4, [2]), 1000);
    expect(columns.map(({ width }) => Math.round(width))).toEqual([59, 59, 60, 59]);
  });
  it("all differ, and fit", () => {
    const columns = placeColumns(
      ranks(
        50,
        ranks(50).map(({ rank }) => rank),
      ),
      200,
    );
    const last = columns[columns.length - 1];
    expect((last?.x ?? 0) + (last?.width ?? 0)).toBeLessThanOrEqual(200 + 1e-9);
  });
});

describe("labels of ranks", () => {
  it("have round numbers", () => {
    const numbers = ranks(256).map(({ rank }) => rank);
    expect(roundRanks(numbers, 8)).toEqual([0, 32, 64, 96, 128, 160, 192, 224]);
    expect(roundRanks([0, 1, 2, 3], 8)).toEqual([0, 1, 2, 3]);
    expect(roundRanks([null, null], 8)).toEqual([]);
  });
});
