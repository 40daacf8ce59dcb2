// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { afterEach, describe, expect, it, vi } from "vitest";
import type { Source } from "../data/source";
import {
  hashOf,
  load,
  loadSmall,
  parseHash,
  placeHash,
  source,
  timelineHash,
  waits,
} from "./state";

it("reads the place of a hash", () => {
  expect(parseHash("").page).toBe("overview");
  expect(parseHash("#").page).toBe("overview");
  const route = parseHash("#kernels?q=gemm%20bf16&by=op");
  expect(route.page).toBe("kernels");
  expect(route.params.get("q")).toBe("gemm bf16");
});

it("writes hashes that it reads back", () => {
  const q = "a&b=c?#<b>";
  expect(parseHash(hashOf("ops", { q, by: "" })).params.get("q")).toBe(q);
  expect(hashOf("ops", { by: "" })).toBe("#ops");
  expect(timelineHash(1.4, 2_000_000_000)).toBe("#timeline?v=1,2000000000");
});

it("leads to a place in the timeline, with what is around it", () => {
  const place = { start_ns: 1000, end_ns: 1200, pid: 7 };
  expect(placeHash({ ...place, tid: 9 })).toBe("#timeline?v=900,1300&sel=1000,1200&on=7.t9");
  expect(placeHash({ ...place, tid: null, device: 0 })).toBe(
    "#timeline?v=900,1300&sel=1000,1200&on=7.d0",
  );
  expect(placeHash(place)).toBe("#timeline?v=900,1300&sel=1000,1200");
  // A moment has no range to select.
  expect(placeHash({ ...place, start_ns: 5e6, end_ns: 5e6 })).toBe("#timeline?v=4000000,6000000");
});

describe("results that take long", () => {
  afterEach(() => {
    vi.useRealTimers();
    source.value = null;
  });

  /** A source whose results come when `answer` is called. Notes who hangs up. */
  function slow(isLarge: boolean) {
    vi.useFakeTimers();
    const asked: { name: string; signal: AbortSignal | undefined; answer(value: unknown): void }[] =
      [];
    source.value = {
      manifest: { version: 1, title: "", gpuprof: "", passes: ["ops", "sync", "idle"], failed: [] },
      result: (name, signal) =>
        new Promise((answer, reject) => {
          signal?.addEventListener("abort", () => reject(new Error("left")));
          asked.push({ name, signal, answer });
        }),
      waitOf: async (name) => `Reading for '${name}'.`,
      isLarge: async () => isLarge,
    } satisfies Source;
    return asked;
  }

  it("says what they wait for, until they are there", async () => {
    const asked = slow(true);
    const [answer, leave] = load("ops");
    await vi.advanceTimersByTimeAsync(600);
    expect([...waits.value]).toEqual([]);
    await vi.advanceTimersByTimeAsync(200);
    expect([...waits.value]).toEqual([["ops", "Reading for 'ops'."]]);
    asked[0]?.answer({ count: 3 });
    expect(await answer).toEqual({ state: "ready", value: { count: 3 } });
    await vi.advanceTimersByTimeAsync(2000);
    expect([...waits.value]).toEqual([]);
    // It is kept, although all have left.
    leave();
    await vi.advanceTimersByTimeAsync(2000);
    expect(await load("ops")[0]).toEqual({ state: "ready", value: { count: 3 } });
    expect(asked.length).toBe(1);
  });

  it("are not waited for when all have left", async () => {
    const asked = slow(true);
    const [, leaveFirst] = load("sync");
    const [, leaveSecond] = load("sync");
    leaveFirst();
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked[0]?.signal?.aborted).toBe(false);
    leaveSecond();
    // A part of the page that comes at once takes its place.
    const [, leaveThird] = load("sync");
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked[0]?.signal?.aborted).toBe(false);
    leaveThird();
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked[0]?.signal?.aborted).toBe(true);
    expect([...waits.value]).toEqual([]);
    const [answer] = load("sync");
    asked[1]?.answer({ count: 4 });
    expect(await answer).toEqual({ state: "ready", value: { count: 4 } });
  });

  it("are not asked for beside a page", async () => {
    const asked = slow(true);
    expect(await loadSmall("idle")).toEqual({ state: "loading" });
    expect(asked).toEqual([]);
    const small = slow(false);
    const answer = loadSmall("idle");
    await vi.advanceTimersByTimeAsync(0);
    small[0]?.answer({ count: 5 });
    expect(await answer).toEqual({ state: "ready", value: { count: 5 } });
  });
});
