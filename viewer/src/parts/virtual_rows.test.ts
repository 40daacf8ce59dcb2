// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import fc from "fast-check";
import { expect, it } from "vitest";
import { placeOf, rowsAt } from "./virtual_rows";

const ROW = 24;
const HEAD = 26;

it("has every row that can be seen, and not many more", () => {
  const some = fc.nat({ max: 1_000_000 });
  fc.assert(
    fc.property(
      some,
      fc.nat({ max: 24_000_000 }),
      fc.integer({ min: 1, max: 4000 }),
      (rows, at, height) => {
        const top = Math.min(at, Math.max(0, rows * ROW + HEAD - height));
        const [first, last] = rowsAt(rows, top, height);
        expect(first).toBeGreaterThanOrEqual(0);
        expect(last).toBeLessThanOrEqual(rows);
        expect(first).toBeLessThanOrEqual(last);
        expect(last - first).toBeLessThanOrEqual(Math.ceil(height / ROW) + 26);
        // What is between the sticky header and the lower edge.
        const seen = Math.min(rows, Math.ceil((top + height - HEAD) / ROW));
        expect(first).toBeLessThanOrEqual(Math.floor(top / ROW));
        expect(last).toBeGreaterThanOrEqual(seen);
      },
    ),
  );
});

it("is not behind the end of a table that was filtered", () => {
  expect(rowsAt(3, 240_000, 600)).toEqual([0, 3]);
  expect(rowsAt(0, 240_000, 600)).toEqual([0, 0]);
});

it("brings a row into view, and stays if it is there", () => {
  fc.assert(
    fc.property(
      fc.nat({ max: 1e6 }),
      fc.nat({ max: 24e6 }),
      fc.integer({ min: 60, max: 4000 }),
      (row, top, height) => {
        const place = placeOf(row, top, height);
        expect(row * ROW).toBeGreaterThanOrEqual(place);
        expect(HEAD + (row + 1) * ROW).toBeLessThanOrEqual(place + height);
        expect(placeOf(row, place, height)).toBe(place);
      },
    ),
  );
});
