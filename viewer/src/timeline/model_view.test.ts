// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What follows the view and the search: the card at the pointer, and the hit that is selected.

import { describe, expect, it } from "vitest";
import { makeTrace } from "./made_trace";
import { Model } from "./model";

const trace = makeTrace({ events: 4000, processes: 1 });
const pause = (ms = 0): Promise<void> => new Promise((next) => setTimeout(next, ms));

describe("the card at the pointer", () => {
  it("closes when the view changes or scrolls", () => {
    const model = new Model(trace);
    model.resize(1000, 300);
    const hit = { track: 0, row: 1, name: "", cls: 0, depth: 0, count: 1 };
    const place = { start: 0, end: 10, busy_ns: 10, y: 60, height: 38 };
    for (const change of [
      () => model.zoom(0.5),
      () => model.pan((model.view.end - model.view.start) / 4),
      () => model.scrollBy(40),
      () => model.undo(),
    ]) {
      model.hover({ ...hit, ...place }, 500, 80, 5);
      expect(model.hovered.value).not.toBeNull();
      change();
      expect(model.hovered.value).toBeNull();
    }
    model.close();
  });
});

describe("a search", () => {
  it("tells which of its hits is selected", async () => {
    const model = new Model(trace);
    model.resize(1000, 600);
    await model.find("gemm");
    const hits = model.match.value?.answer.hits ?? [];
    expect(hits.length).toBeGreaterThan(2);
    expect(model.hitIndex()).toBe(-1);
    model.nextHit(1);
    await pause(5);
    expect(model.hitIndex()).toBe(0);
    model.nextHit(1);
    await pause(5);
    expect(model.hitIndex()).toBe(1);
    model.nextHit(-1);
    await pause(5);
    expect(model.hitIndex()).toBe(0);
    model.close();
  });
});
