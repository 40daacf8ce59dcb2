// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the page gets of a trace: tracks, ranges, events with their causes, hits of a search.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Trace, TrackKind } from "./api";
import { openInPage } from "./engine";
import { FIXTURES, readText, sourceOf, storedFiles, TRACES } from "./test_source";

const MODEL = `${TRACES}h200/pytorch/language_model`;
const TOLD = JSON.parse(readText(`${FIXTURES}rows.json`) ?? "{}");

function open(path: string, results: Record<string, unknown> = {}): Promise<Trace> {
  return openInPage(sourceOf(storedFiles(path), results));
}

function whole(trace: Trace): { start_ns: number; end_ns: number } {
  return { start_ns: trace.info.start_ns, end_ns: trace.info.end_ns + 1 };
}

function trackOf(trace: Trace, kind: TrackKind, least = 0): number {
  return trace.info.tracks.find((track) => track.kind === kind && track.rows > least)?.id ?? -1;
}

describe("a trace", () => {
  it("has the sums of all rows in the range of everything", async () => {
    for (const path of ["h200/pytorch/language_model", "h200/pytorch/images", "v1/ops.gpt"]) {
      const trace = await open(TRACES + path);
      for (const kind of ["op", "stream"] as const) {
        const names: Record<string, [number, number]> =
          TOLD[path].names[kind === "op" ? "op" : "kernel"] ?? {};
        const told = Object.values(names).reduce((sum, [count]) => sum + count, 0);
        const time = Object.values(names).reduce((sum, [, total]) => sum + total, 0);
        const copies = /^(Memcpy|Memset) /;
        const { rows } = await trace.range(kind, whole(trace));
        const own = rows.filter((row) => !copies.test(row.name));
        expect(own.reduce((sum, row) => sum + row.count, 0)).toBe(told);
        expect(own.reduce((sum, row) => sum + row.total_ns, 0)).toBe(time);
      }
    }
  });

  it("cuts ranges so that parts add up to the whole", async () => {
    const trace = await open(MODEL);
    const all = whole(trace);
    const whole_ = await trace.range("stream", all);
    const total = (rows: typeof whole_.rows) => rows.reduce((sum, row) => sum + row.total_ns, 0);
    const busy = (answer: typeof whole_) =>
      answer.busy_ns.reduce((sum, each) => sum + each.busy_ns, 0);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: all.start_ns, max: all.end_ns }), async (middle) => {
        const left = await trace.range("stream", { start_ns: all.start_ns, end_ns: middle });
        const right = await trace.range("stream", { start_ns: middle, end_ns: all.end_ns });
        expect(total(left.rows) + total(right.rows)).toBe(total(whole_.rows));
        expect(busy(left) + busy(right)).toBe(busy(whole_));
      }),
      { numRuns: 50 },
    );
  });

  it("keeps the sums of cells exact at every zoom", async () => {
    const trace = await open(MODEL);
    const { start_ns, end_ns } = whole(trace);
    const ids = trace.info.tracks.filter(({ kind }) => kind === "op").map(({ id }) => id);
    const rows = trace.info.tracks.reduce(
      (sum, { kind, rows }) => sum + (kind === "op" ? rows : 0),
      0,
    );
    for (const px of [1, 10, 500, 3840, 1e6]) {
      const { spans, names } = await trace.spans(ids, start_ns, end_ns, (end_ns - start_ns) / px);
      const counts = spans.flatMap((each) => Array.from(each.count));
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(rows);
      for (const each of spans)
        for (const [i, name] of each.name.entries())
          if (each.count[i] === 1) expect(names[name]).toBeTypeOf("string");
    }
  });

  it("finds the launch, the operation and the function behind a kernel", async () => {
    const trace = await open(`${FIXTURES}kineto`);
    const stream = trackOf(trace, "stream");
    const hit = (await trace.search("gemm", 1)).hits[0];
    expect(hit?.track).toBe(stream);
    const detail = await trace.event(stream, hit?.row ?? -1);
    const kinds = detail.causes.map((cause) => trace.info.tracks[cause.track]?.kind);
    expect(kinds).toEqual(["api", "op", "python"].slice(0, kinds.length));
    expect(kinds.length).toBeGreaterThanOrEqual(2);
    expect(detail.causes[0]?.name).toMatch(/LaunchKernel/);
    const launch = detail.causes[0];
    const back = await trace.event(launch?.track ?? -1, launch?.row ?? -1);
    expect(back.effects.map((effect) => effect.row)).toContain(hit?.row);
    const op = detail.causes[1];
    const fromOp = await trace.event(op?.track ?? -1, op?.row ?? -1);
    expect(fromOp.effects.map((effect) => effect.row)).toContain(hit?.row);
    expect(detail.fields.map((field) => field.name)).toContain("grid");
  });

  it("refuses a row that is not there", async () => {
    const trace = await open(`${TRACES}v1/gpu.gpt`);
    await expect(trace.event(0, 1e6)).rejects.toThrow("no such row");
    await expect(trace.event(99, 0)).rejects.toThrow("no such row");
    await expect(trace.counter(0, 0, 1, 1)).rejects.toThrow("no such curve");
  });

  it("counts what a search finds in the whole trace", async () => {
    const trace = await open(MODEL);
    const found = await trace.search("ATEN::", 7);
    const names: [string, [number, number]][] = Object.entries(
      TOLD["h200/pytorch/language_model"].names.op,
    );
    const told = names.filter(([name]) => name.startsWith("aten::"));
    expect(found.count).toBe(told.reduce((sum, [, [count]]) => sum + count, 0));
    expect(found.names.length).toBe(told.length);
    expect(found.hits.length).toBe(7);
    const starts = found.hits.map((hit) => hit.start_ns);
    expect([...starts].sort((x, y) => x - y)).toEqual(starts);
  });

  it("has the names and the steps that passes tell", async () => {
    const kernels = [
      { name: "Multiply()", short_name: "Multiply!", mangled: "_Z8Multiplyv" },
      { name: "Gradient()", short_name: "Gradient!", mangled: "_Z8Gradientv" },
    ];
    const steps = [
      { pid: 5661, tid: 5661, number: 1, start_ns: 40_723_882, duration_ns: 238_710, host: "x" },
      { pid: 5661, tid: 5661, number: 2, start_ns: 40_962_749, duration_ns: 4816 },
    ];
    const trace = await open(`${TRACES}v1/gpu.gpt`, { kernels: { kernels }, steps: { steps } });
    const { rows } = await trace.range("stream", whole(trace));
    expect(rows.map(({ name, count, total_ns }) => [name, count, total_ns])).toEqual([
      ["Gradient!", 9, 45_000],
      ["Multiply!", 6, 30_000],
    ]);
    const track = trackOf(trace, "steps");
    expect((await trace.at(track, 40_963_000))?.name).toBe("step 2");
    expect(trace.info.tracks.map(({ kind }) => kind)).toEqual([
      "stream",
      "sync",
      "queue",
      "steps",
      "api",
      "range",
      "overhead",
    ]);
  });

  it("shows waits for the GPU, and CUDA's own time, on tracks of their own", async () => {
    for (const [path, kind, names] of [
      ["events", "sync", ["stream waits for an event", "wait for an event"]],
      ["events", "overhead", ["lazy function loading"]],
    ] as const) {
      const trace = await open(`${TRACES}v1/${path}.gpt`);
      const { rows, busy_ns } = await trace.range(kind, whole(trace));
      expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining([...names]));
      const { track } = busy_ns[0] ?? { track: -1 };
      const { device, tid, name } = trace.info.tracks[track] ?? {};
      if (kind === "sync") expect([device, name]).toEqual([0, expect.stringMatching(/^waits for/)]);
      else expect([device, tid]).toEqual([null, expect.any(Number)]);
    }
  });

  it("draws many streams of graphs in lanes, and counts them stream by stream", async () => {
    const source = sourceOf(storedFiles(`${TRACES}v1/graphs.gpt`));
    const plain = await openInPage(source);
    const packed = await openInPage(source, undefined, { graphStreams: 0 });
    expect(plain.info.tracks.some(({ kind }) => kind === "graph_lane")).toBe(false);
    const lane = packed.info.tracks.find(({ kind }) => kind === "graph_lane");
    const streams = packed.info.tracks.filter(({ is_packed }) => is_packed === true);
    expect(streams.length).toBeGreaterThan(0);
    expect(lane?.rows).toBe(streams.reduce((sum, { rows }) => sum + rows, 0));
    const told = async (trace: Trace) => {
      const { rows, busy_ns } = await trace.range("stream", whole(trace));
      return { rows, busy: busy_ns.map((each) => each.busy_ns) };
    };
    expect(await told(packed)).toEqual(await told(plain));
    const id = lane?.id ?? -1;
    const { spans } = await packed.spans([id], 0, packed.info.end_ns, 1e-3);
    expect(spans[0]?.start_ns.length).toBe(lane?.rows);
    const names = new Set<string>();
    for (let row = 0; row < (lane?.rows ?? 0); row++) {
      const { fields, causes } = await packed.event(id, row);
      names.add(fields.find(({ name }) => name === "stream")?.value ?? "");
      for (const cause of causes.slice(0, 1)) {
        const { effects } = await packed.event(cause.track, cause.row);
        expect(effects.some((each) => each.track === id && each.row === row)).toBe(true);
      }
    }
    expect(names).toEqual(new Set(streams.map(({ name }) => name)));
    const { count, hits } = await packed.search(packed.info.tracks.length > 0 ? "k" : "", 100);
    expect(hits.length).toBe(count);
  });

  it("has the moments of the pass `heap` where there are too many allocations", async () => {
    const files = storedFiles(`${TRACES}v1/heap.gpt`);
    const { pid } = (await openInPage(sourceOf(files))).info.processes[0] ?? { pid: 0 };
    const timeline = [
      { pid, time_ns: 1000, live_bytes: 70 },
      { pid: pid + 1, time_ns: 1500, live_bytes: 9 },
      { pid, time_ns: 2000, live_bytes: 50 },
    ];
    const source = sourceOf(files, { heap: { timeline } });
    const trace = await openInPage(source, undefined, { heapRows: 1 });
    const track = trace.info.tracks.find(({ name }) => name === "heap")?.id ?? -1;
    const { time_ns, most } = await trace.counter(track, 0, 1e9, 1);
    expect([...time_ns]).toEqual([1000, 2000]);
    expect([...most]).toEqual([70, 50]);
  });

  it("has the heap's live bytes as the pass `heap` does", async () => {
    // What `gpuprof stats heap --json` prints: peak_bytes, peak_time_ns, end_bytes.
    for (const [path, peak, time, last] of [
      [`${TRACES}v1/heap.gpt`, 203_680, 40_244_652, 7776],
      [`${TRACES}v1/flight.gpt`, 4400, 42_597_308, 4400],
      [MODEL, 682_075_226, 7_546_742_301, 526_266_032],
    ] as const) {
      const trace = await open(path);
      const { start_ns, end_ns } = whole(trace);
      const track = trace.info.tracks.find(({ name }) => name.startsWith("heap"))?.id ?? -1;
      const { most, time_ns, unit } = await trace.counter(track, start_ns, end_ns, 0.001);
      const top = most.reduce((x, y) => Math.max(x, y), 0);
      expect(unit).toBe("bytes");
      expect(Math.abs(top - peak)).toBeLessThan(1);
      expect(time_ns[most.indexOf(top)]).toBe(time);
      expect(Math.abs((most[most.length - 1] ?? 0) - last)).toBeLessThan(1);
    }
  });

  it("puts hardware counters and memory on curves", async () => {
    const trace = await open(MODEL);
    const { start_ns, end_ns } = whole(trace);
    const power = trace.info.tracks.find(({ name }) => name === "power")?.id ?? -1;
    const answer = await trace.counter(power, start_ns, end_ns, 1);
    expect(answer.unit).toBe("W");
    expect(answer.most.every((value) => value > 50 && value < 800)).toBe(true);
    const coarse = await trace.counter(power, start_ns, end_ns, (end_ns - start_ns) / 4);
    expect(Math.max(...coarse.most)).toBe(Math.max(...answer.most));
    expect(coarse.time_ns.length).toBeLessThan(7);
  });

  it("counts the kernels that were launched and wait", async () => {
    const trace = await open(`${TRACES}v1/gpu.gpt`);
    const { start_ns, end_ns } = whole(trace);
    const { time_ns, most } = await trace.counter(trackOf(trace, "queue"), start_ns, end_ns, 1);
    // Four of 15 kernels have begun when the last kernel is launched.
    expect(Math.max(...most)).toBe(11);
    expect(most[most.length - 1]).toBe(0);
    // The last kernel begins then.
    expect(time_ns[time_ns.length - 1]).toBe(41_022_070);
  });

  it("with little memory answers the same", async () => {
    const files = storedFiles(MODEL);
    const small = await openInPage(sourceOf(files), undefined, { cacheBytes: 1000, eagerRows: 0 });
    const large = await openInPage(sourceOf(files));
    const { start_ns, end_ns } = whole(large);
    const ids = large.info.tracks.map(({ id }) => id);
    for (const nsPerPx of [1000, 1e6]) {
      const args = [ids, start_ns, end_ns, nsPerPx] as const;
      expect(await small.spans(...args)).toEqual(await large.spans(...args));
    }
  });

  it("tells of a file that it cannot read, and shows the others", async () => {
    const files = storedFiles(MODEL);
    const broken = { name: "p9-9.gpt", size: 100, read: () => Promise.reject(new Error("gone")) };
    const trace = await openInPage(sourceOf([broken, ...files]));
    expect(trace.info.faults).toEqual(["p9-9.gpt: it cannot be read: gone"]);
    expect(trace.info.processes.length).toBe(2);
  });
});
