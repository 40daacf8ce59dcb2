// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the events tell of any range: gaps and calls equal those of a slow look at every event.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Selection, Trace, TrackKind } from "./api";
import { openInPage } from "./engine";
import { FIXTURES, sourceOf, storedFiles, TRACES } from "./test_source";

const MODEL = `${TRACES}h200/pytorch/language_model`;

const CALLS = `${FIXTURES}calls`;

function open(path: string): Promise<Trace> {
  return openInPage(sourceOf(storedFiles(path)));
}

interface Event {
  readonly name: string;
  readonly start_ns: number;
  readonly duration_ns: number;
}

/** Returns every event of a kind. */
async function eventsOf(trace: Trace, kind: TrackKind): Promise<Event[]> {
  const { tracks, start_ns, end_ns } = trace.info;
  const ids = tracks.filter((track) => track.kind === kind).map((track) => track.id);
  // So near that nothing is gathered.
  const { spans, names } = await trace.spans(ids, start_ns, end_ns + 1, 0.001);
  return spans.flatMap((track) =>
    [...track.start_ns].map((start, i) => ({
      name: names[track.name[i] as number] ?? "",
      start_ns: start,
      duration_ns: (track.end_ns[i] as number) - start,
    })),
  );
}

/** Returns the gaps of a device in a range, from all its events. */
function slowGaps(events: readonly Event[], { start_ns, end_ns }: Selection) {
  const sorted = [...events].sort((x, y) => x.start_ns - y.start_ns);
  const gaps: [number, number][] = [];
  let covered = Infinity;
  for (const { start_ns: start, duration_ns } of sorted) {
    if (start > covered) gaps.push([covered, start]);
    covered = Math.max(covered === Infinity ? start : covered, start + duration_ns);
  }
  return gaps
    .map(([from, to]) => [Math.max(from, start_ns), Math.min(to, end_ns)] as const)
    .filter(([from, to]) => to > from);
}

function ranges({ info }: Trace) {
  const time = fc.integer({ min: info.start_ns, max: info.end_ns });
  return fc
    .tuple(time, time)
    .map(([x, y]) => ({ start_ns: Math.min(x, y), end_ns: Math.max(x, y) + 1 }));
}

describe("gaps of a range", () => {
  it.each([
    ["a training", MODEL],
    ["an import", `${FIXTURES}kineto`],
  ])("equal those of all events of %s", async (_, path) => {
    const trace = await open(path);
    const { devices } = await trace.gaps({
      start_ns: trace.info.start_ns,
      end_ns: trace.info.end_ns + 1,
    });
    expect(devices).toHaveLength(1);
    const events = await eventsOf(trace, "stream");
    await fc.assert(
      fc.asyncProperty(ranges(trace), async (range) => {
        const expected = slowGaps(events, range);
        const found = (await trace.gaps(range)).devices[0];
        const idle = expected.reduce((sum, [from, to]) => sum + to - from, 0);
        expect(found?.idle_ns ?? 0).toBe(idle);
        expect(found?.gap_count ?? 0).toBe(expected.length);
        const longest = expected.reduce((most, [from, to]) => Math.max(most, to - from), 0);
        const first = found?.gaps[0];
        expect(first === undefined ? 0 : first.end_ns - first.start_ns).toBe(longest);
      }),
      { numRuns: 60 },
    );
  });

  it("are those of the chosen process and device alone", async () => {
    const trace = await open(MODEL);
    const whole = { start_ns: trace.info.start_ns, end_ns: trace.info.end_ns + 1 };
    expect(await trace.gaps({ ...whole, devices: [7] })).toEqual({ devices: [] });
    expect(await trace.gaps({ ...whole, processes: [] })).toEqual({ devices: [] });
    expect(await trace.gaps({ ...whole, devices: [0] })).toEqual(await trace.gaps(whole));
  });
});

describe("damage", () => {
  it("is told with the gaps, the calls and the memory of a range", async () => {
    const files = storedFiles(`${FIXTURES}kineto`).map((file) => ({
      ...file,
      async read(offset: number, length: number) {
        const bytes = new Uint8Array(await file.read(offset, length));
        // Blocks in the middle of the file hold rows; what is read at first is at its ends.
        if (isDamaged && length < file.size / 2) bytes.fill(0xff);
        return bytes;
      },
    }));
    let isDamaged = false;
    const trace = await openInPage(sourceOf(files), () => {}, { cacheBytes: 1, eagerRows: 0 });
    const whole = { start_ns: trace.info.start_ns, end_ns: trace.info.end_ns + 1 };
    expect(trace.info.faults).toEqual([]);
    isDamaged = true;
    expect((await trace.gaps(whole)).faults?.count).toBeGreaterThan(0);
    expect((await trace.calls(whole)).faults?.first).toMatch(/block|cut|checksum|read/);
  });
});

describe("rows of a range", () => {
  it("have means of whole events between the shortest and the longest", async () => {
    const trace = await open(MODEL);
    const events = await eventsOf(trace, "op");
    await fc.assert(
      fc.asyncProperty(ranges(trace), async (range) => {
        const { start_ns, end_ns } = range;
        const { rows } = await trace.range("op", range);
        const overlaps = events.filter((each) => {
          const end = each.start_ns + each.duration_ns;
          return each.start_ns < end_ns && (end > start_ns || each.start_ns >= start_ns);
        });
        for (const row of rows) {
          const own = overlaps.filter((each) => each.name === row.name);
          const sum = own.reduce((total, each) => total + each.duration_ns, 0);
          expect(row.mean_ns).toBeCloseTo(sum / own.length, 3);
          expect(row.mean_ns).toBeGreaterThanOrEqual(row.min_ns);
          expect(row.mean_ns).toBeLessThanOrEqual(row.max_ns);
        }
      }),
      { numRuns: 20 },
    );
  });
});

describe("calls of a range", () => {
  it("take the time in which any function ran, once", async () => {
    const trace = await open(CALLS);
    let calls = 0;
    await fc.assert(
      fc.asyncProperty(ranges(trace), async (range) => {
        const tree = await trace.calls(range);
        const { busy_ns, rows } = await trace.range("python", range);
        const busy = busy_ns.reduce((sum, each) => sum + each.busy_ns, 0);
        expect(tree.self_ns.reduce((sum, each) => sum + each, 0)).toBe(busy);
        expect(Math.min(0, ...tree.self_ns)).toBe(0);
        const names = new Set(tree.names.slice(1));
        expect([...names].sort()).toEqual(rows.map((row) => row.name).sort());
        calls += names.size;
      }),
      { numRuns: 40 },
    );
    expect(calls).toBeGreaterThan(100);
  });

  it("have the time of callees with the callees", async () => {
    const trace = await open(CALLS);
    const events = await eventsOf(trace, "python");
    const range = { start_ns: trace.info.start_ns, end_ns: trace.info.end_ns + 1 };
    const tree = await trace.calls(range);
    const inside = new Float64Array(tree.self_ns);
    for (let node = inside.length - 1; node > 0; node--) {
      const caller = tree.caller[node] as number;
      inside[caller] = (inside[caller] as number) + (inside[node] as number);
    }
    // Functions that call themselves count once in the tree, by their outermost call.
    const total = (name: string) =>
      events.filter((each) => each.name === name).reduce((sum, each) => sum + each.duration_ns, 0);
    let compared = 0;
    const nodesOf = new Map<string, number[]>();
    tree.names.forEach((name, node) => {
      nodesOf.set(name, [...(nodesOf.get(name) ?? []), node]);
    });
    for (const [name, nodes] of nodesOf) {
      const isOwnCaller = nodes.some((node) => {
        for (let at = tree.caller[node] as number; at > 0; at = tree.caller[at] as number)
          if (tree.names[at] === name) return true;
        return false;
      });
      if (name === "" || isOwnCaller) continue;
      expect(nodes.reduce((sum, node) => sum + (inside[node] as number), 0)).toBe(total(name));
      compared += 1;
    }
    expect(compared).toBeGreaterThan(10);
  });
});
