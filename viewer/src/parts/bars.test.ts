// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { labelsOf, type Place } from "./bars";

function placesOf(values: readonly number[]): Place[] {
  const whole = values.reduce((sum, value) => sum + value, 0);
  let begin = 0;
  return values.map((value, i) => {
    const width = value / whole;
    const place = { name: `a part ${i}`, value, look: "n1" as const, begin, width };
    begin += width;
    return place;
  });
}

const FIGURES = () => "12.3 ms · 7.1 %";
const shownOf = (values: readonly number[]) =>
  labelsOf(placesOf(values), FIGURES).map(({ place }) => place.value);

describe("labelsOf", () => {
  it("keeps labels apart, whatever the parts are", () => {
    const values = fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(values, (all) => {
        const labels = labelsOf(placesOf(all), FIGURES);
        let end = 0;
        for (const label of labels) {
          expect(label.from).toBeGreaterThanOrEqual(end - 1e-9);
          expect(label.to).toBeGreaterThan(label.from);
          end = label.to;
        }
      }),
    );
  });

  it("leaves out the shorter of two parts at the end", () => {
    expect(shownOf([886, 56, 58])).toEqual([886, 58]);
    expect(shownOf([883, 60, 57])).toEqual([883, 60]);
  });

  it("lets a label at the end reach over a part that has room", () => {
    expect(shownOf([930, 70])).toEqual([930, 70]);
  });
});
