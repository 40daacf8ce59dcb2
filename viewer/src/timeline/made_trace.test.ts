// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from "vitest";
import { makeTrace } from "./made_trace";

const trace = makeTrace({ events: 3000, processes: 2 });

describe("the made-up trace", () => {
  it("is the same each time, and another one for another seed", async () => {
    const whole = (one: typeof trace) => one.spans([0], 0, one.info.end_ns, 1);
    const again = makeTrace({ events: 3000, processes: 2 });
    expect(await whole(again)).toEqual(await whole(trace));
    const other = makeTrace({ events: 3000, processes: 2, seed: 9 });
    expect(await whole(other)).not.toEqual(await whole(trace));
  });

  it("keeps every event and its time, at any scale", async () => {
    const { end_ns, tracks } = trace.info;
    for (const track of tracks) {
      if (["queue", "memory"].includes(track.kind)) continue;
      const sums = { busy: 0, bars: 0 };
      for (const scale of [0.01, 500, 50_000, 5e6]) {
        const { spans } = await trace.spans([track.id], 0, end_ns, scale);
        const one = spans[0];
        expect(one).toBeDefined();
        if (one === undefined) continue;
        expect(one.count.reduce((sum, n) => sum + n, 0)).toBe(track.rows);
        const busy = one.busy_ns.reduce((sum, n) => sum + n, 0);
        if (sums.busy === 0) sums.busy = busy;
        expect(busy).toBeCloseTo(sums.busy, 0);
        const bars = one.bars;
        for (let i = 0; i < one.count.length; i++) {
          const from = bars?.first[i] ?? 0;
          const to = bars?.first[i + 1] ?? 0;
          if (one.count[i] === 1) expect(to).toBe(from);
          else expect(to).toBeGreaterThan(from);
        }
      }
    }
  });

  it("numbers rows by their start", async () => {
    for (const track of trace.info.tracks) {
      if (track.kind === "queue" || track.kind === "memory") continue;
      const { spans } = await trace.spans([track.id], 0, trace.info.end_ns, 0.001);
      const starts = [...(spans[0]?.start_ns ?? [])];
      expect(starts).toEqual([...starts].sort((a, b) => a - b));
      expect(starts.length).toBe(track.rows);
    }
  });
});
