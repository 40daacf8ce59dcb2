// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import fc from "fast-check";
import { expect, it } from "vitest";
import { scaleTicks } from "./change";

it("scales have few round ticks, within their ends", () => {
  const end = fc.double({ min: 1e-4, max: 50, noNaN: true });
  fc.assert(
    fc.property(end, end, (low, high) => {
      const ticks = scaleTicks(-low, high);
      expect(ticks.length).toBeGreaterThan(1);
      expect(ticks.length).toBeLessThanOrEqual(7);
      for (const tick of ticks) {
        expect(tick).toBeGreaterThanOrEqual(-low - 1e-9);
        expect(tick).toBeLessThanOrEqual(high + (low + high) * 1e-6);
      }
    }),
  );
});
