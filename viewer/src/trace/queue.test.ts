// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import fc from "fast-check";
import { expect, it } from "vitest";
import { countOpen } from "./queue";

it("counts what is open at each moment", () => {
  const interval = fc.tuple(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 1, max: 20 }));
  fc.assert(
    fc.property(fc.array(interval, { maxLength: 40, size: "max" }), (list) => {
      const { time, value } = countOpen(
        Float64Array.from(list, ([start]) => start),
        Float64Array.from(list, ([start, length]) => start + length),
      );
      for (let at = 0; at < 75; at++) {
        const open = list.filter(([start, length]) => start <= at && at < start + length).length;
        const last = time.filter((each) => each <= at).length - 1;
        expect(value[last] ?? 0).toBe(open);
      }
    }),
  );
});
