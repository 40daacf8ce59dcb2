// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from "vitest";
import type { SelectedTracks, Trace, TrackInfo } from "../trace/api";
import { arrowsOf, follow } from "./arrows";
import { commandOf } from "./keys";
import { Latest } from "./latest";
import { makeTrace } from "./made_trace";
import { Model } from "./model";
import { nearest, sibling, stepFrom } from "./moves";
import { wheelFactor, wheelPx } from "./pointer";
import { sorted, unitFor } from "./range_table";
import { askedWindow, columnOf, levelOf, misfit, Store } from "./store";

const trace = makeTrace({ events: 4000, processes: 1 });
const kindOf = (kind: string): number =>
  trace.info.tracks.findIndex((track) => track.kind === kind);
const pause = (ms = 0): Promise<void> => new Promise((next) => setTimeout(next, ms));

async function settle(model: Model): Promise<void> {
  for (let i = 0; i < 6; i++) {
    model.request();
    await pause();
  }
}

/** A trace whose answers come when the test says so. */
class Slow {
  readonly waiting: (() => void)[] = [];
  readonly asked: number[][] = [];
  readonly trace: Trace;

  constructor() {
    this.trace = {
      ...trace,
      info: trace.info,
      counter: (...args) => trace.counter(...args),
      spans: (tracks, start, end, scale) =>
        new Promise((take) => {
          this.asked.push([start, end, scale]);
          this.waiting.push(() => take(trace.spans(tracks, start, end, scale)));
        }),
    } as Trace;
  }

  async answer(): Promise<void> {
    this.waiting.shift()?.();
    await pause(1);
  }
}

describe("groups", () => {
  it("of counters alone are folded at first if they have many", () => {
    const some = trace.info.tracks[0] as TrackInfo;
    const withCounters = (many: number): Model => {
      const { tracks, processes } = trace.info;
      const own = Array.from({ length: many }, (_, i) => ({
        ...some,
        kind: "counter" as const,
        device: 0,
        tid: null,
        id: tracks.length + i,
        process: processes.length,
      }));
      const sampler = { pid: 9, host: "", name: "counters" };
      const info = {
        ...trace.info,
        tracks: [...tracks, ...own],
        processes: [...processes, sampler],
      };
      return new Model({ ...trace, info } as Trace);
    };
    const shown = (model: Model) =>
      model.layout.scrolled.filter(({ track }) => (track?.id ?? -1) >= trace.info.tracks.length)
        .length;
    expect(shown(withCounters(4))).toBe(4);
    expect(shown(withCounters(5))).toBe(0);
  });
});

describe("questions", () => {
  it("wait for the one before, and only the newest of them", async () => {
    const asked: number[] = [];
    const taken: [number, boolean][] = [];
    const doors: (() => void)[] = [];
    const latest = new Latest<number, number>(
      (question) => {
        asked.push(question);
        return new Promise((take) => doors.push(() => take(question * 10)));
      },
      (question, answer, stale) => {
        expect(answer).toBe(question * 10);
        taken.push([question, stale]);
      },
      () => {},
    );
    for (const question of [1, 2, 3, 4]) latest.want(question);
    expect(asked).toEqual([1]);
    doors.shift()?.();
    await pause();
    expect(asked).toEqual([1, 4]);
    doors.shift()?.();
    await pause();
    expect(taken).toEqual([
      [1, true],
      [4, false],
    ]);
    latest.want(5);
    latest.close();
    doors.shift()?.();
    await pause();
    expect(taken.length).toBe(2);
  });

  it("go on after one that failed", async () => {
    const failed: unknown[] = [];
    const taken: number[] = [];
    const latest = new Latest<number, number>(
      (question) => (question === 1 ? Promise.reject(new Error("no")) : Promise.resolve(question)),
      (_, answer) => taken.push(answer),
      (_, reason) => failed.push(reason),
    );
    latest.want(1);
    latest.want(2);
    await pause();
    expect(failed.length).toBe(1);
    expect(taken).toEqual([2]);
  });
});

describe("store", () => {
  const whole = { start: 0, end: trace.info.end_ns };

  it("asks once for what a move within the loaded window needs", async () => {
    const slow = new Slow();
    const store = new Store(
      slow.trace,
      whole,
      () => {},
      () => {},
    );
    const view = { start: 10e6, end: 12e6 };
    store.want([0], view, 1000);
    store.want([0], view, 1000);
    expect(slow.asked.length).toBe(1);
    await slow.answer();
    expect(store.picture(0)?.window).toEqual(askedWindow(view, whole));
    store.want([0], { start: 10.5e6, end: 12.5e6 }, 1000);
    expect(slow.asked.length).toBe(1);
    store.want([0], { start: 14e6, end: 16e6 }, 1000);
    expect(slow.asked.length).toBe(2);
  });

  it("keeps the last picture until a new one is there, and drops stale answers", async () => {
    const slow = new Slow();
    const store = new Store(
      slow.trace,
      whole,
      () => {},
      () => {},
    );
    const here = { start: 10e6, end: 12e6 };
    store.want([0], here, 1000);
    await slow.answer();
    const first = store.picture(0);
    expect(first).toBeDefined();
    // Away, and back again before the answer came.
    store.want([0], { start: 20e6, end: 22e6 }, 1000);
    expect(store.picture(0)).toBe(first);
    store.want([0], { start: 11e6, end: 13.5e6 }, 1250);
    await slow.answer();
    expect(store.picture(0)).toBe(first);
    await slow.answer();
    expect(store.picture(0)?.window.start).toBe(9.75e6);
  });

  it("shows the whole where nothing finer is there", async () => {
    const slow = new Slow();
    const store = new Store(
      slow.trace,
      whole,
      () => {},
      () => {},
    );
    const scale = (whole.end - whole.start) / 1000;
    store.want([0], whole, scale);
    await slow.answer();
    const coarse = store.picture(0);
    store.want([0], { start: 10e6, end: 12e6 }, 1000);
    await slow.answer();
    expect(store.picture(0)).not.toBe(coarse);
    store.want([0], { start: 40e6, end: 42e6 }, 1000);
    expect(store.picture(0)).toBe(coarse);
  });

  it("says when something could not be read", async () => {
    const failed: unknown[] = [];
    const broken = { ...trace, info: trace.info, spans: () => Promise.reject(new Error("cut")) };
    const store = new Store(
      broken as unknown as Trace,
      whole,
      () => {},
      (reason) => failed.push(reason),
    );
    store.want([0], whole, 1000);
    await pause();
    expect(String(failed[0])).toContain("cut");
    // The same question is not asked again and again.
    store.want([0], whole, 1000);
    await pause();
    expect(failed.length).toBe(1);
  });

  it("has levels that are never coarser than the screen, and columns of 1 to 2 px", () => {
    for (let scale = 0.3; scale < 1e7; scale *= 1.37) {
      const level = levelOf(scale);
      expect(level).toBeLessThanOrEqual(scale);
      expect(level).toBeGreaterThan(scale * 0.84);
      expect(columnOf(level) / level).toBeGreaterThanOrEqual(1);
      expect(columnOf(level) / level).toBeLessThan(2);
      expect(Number.isInteger(Math.log2(columnOf(level)))).toBe(true);
    }
    const window = { start: 0, end: 100 };
    expect(misfit({ window, ns_per_px: 2 }, window, 2)).toBe(0);
    expect(misfit({ window, ns_per_px: 2 }, { start: 50, end: 150 }, 2)).toBe(50);
  });
});

describe("a track that is deeper than it seemed at first", () => {
  it("grows when a deeper row is met, and draws it", async () => {
    const tracks = trace.info.tracks.map((track) => ({ ...track, depth: 1 }));
    const info = { ...trace.info, tracks };
    const model = new Model(Object.assign(Object.create(trace) as Trace, { info }));
    model.resize(1400, 3000);
    const op = info.tracks.find((track) => track.kind === "op")?.id ?? -1;
    const rowsOf = () => model.layout.scrolled.find(({ track }) => track?.id === op)?.rows ?? 0;
    expect(rowsOf()).toBe(1);
    model.request();
    await pause(20);
    const { spans, rows } = model.picture(op) ?? {};
    const deepest = Math.max(...(spans?.depth ?? []));
    expect(deepest).toBeGreaterThan(0);
    expect(rowsOf()).toBe(deepest + 1);
    expect(Math.max(...(rows?.row ?? []))).toBeLessThan(rowsOf());
    model.close();
  });
});

describe("model", () => {
  it("opens a link, and writes the same link", async () => {
    const link = `#timeline?v=3000000,5000000&sel=3200000,4000000&event=${kindOf("stream")}.4`;
    const model = new Model(trace, link);
    model.resize(1400, 700);
    await pause();
    expect(model.selection.value).toEqual({ start: 3.2e6, end: 4e6 });
    expect(model.picked.value?.row).toBe(4);
    expect(model.view).toEqual({ start: 3e6, end: 5e6 });
    expect(model.link()).toBe(link);
    model.openHash(`#timeline?event=${kindOf("stream")}.200`);
    await pause(1);
    const picked = model.picked.value;
    expect(picked?.row).toBe(200);
    // Without a view of its own the event is brought into view.
    expect(picked?.start_ns).toBeGreaterThanOrEqual(model.view.start);
    expect(picked?.start_ns).toBeLessThan(model.view.end);
    model.close();
  });

  it("selects the event that fills a range of a thread or device", async () => {
    const event = await trace.event(kindOf("stream"), 4);
    const info = trace.info.tracks[kindOf("stream")];
    const pid = trace.info.processes[info?.process ?? 0]?.pid ?? 0;
    const end = event.start_ns + event.duration_ns;
    const range = `sel=${event.start_ns},${end}`;
    const on = `on=${pid}.d${info?.device}`;
    const model = new Model(
      trace,
      `#timeline?v=${event.start_ns - 500},${end + 500}&${range}&${on}`,
    );
    model.resize(1400, 700);
    await pause();
    expect(model.picked.value?.track).toBe(event.track);
    expect(model.picked.value?.row).toBe(4);
    expect(model.selection.value).toEqual({ start: event.start_ns, end });
    // No event fills this range.
    const other = new Model(trace, `#timeline?sel=${event.start_ns - 1},${end}&${on}`);
    other.resize(1400, 700);
    await pause();
    expect(other.picked.value).toBeNull();
    expect(other.selection.value).not.toBeNull();
    model.close();
    other.close();
  });

  it("drops what was selected when a link is followed", async () => {
    const model = new Model(trace);
    const { whole } = model;
    const track = kindOf("stream");
    const gap = `v=${whole.start},${whole.end / 2}&sel=${whole.start + 1000},${whole.start + 2000}`;
    const absent = `${gap}&on=4000000000.d0`;
    for (const query of [gap, absent]) {
      await model.pick(track, 200, "all");
      model.openHash(`#timeline?${query}`);
      await settle(model);
      expect(model.picked.value).toBeNull();
      expect(model.selection.value).toEqual({ start: whole.start + 1000, end: whole.start + 2000 });
    }
    model.openHash(`#timeline?v=${whole.start},${whole.end / 4}`);
    expect(model.selection.value).toBeNull();
    // The rail leads to the page as it is.
    await model.pick(track, 200, "all");
    model.openHash("#timeline");
    expect(model.picked.value?.row).toBe(200);
    // An answer on its way comes too late.
    const late = model.pick(track, 201, "all");
    model.openHash(`#timeline?${gap}`);
    await late;
    expect(model.picked.value).toBeNull();
    model.close();
  });

  it("shows the chosen tracks alone", () => {
    const shown = (only: SelectedTracks) => {
      const model = new Model(makeTrace({ events: 4000, processes: 2 }), "", only);
      model.resize(1400, 700);
      const tracks = model.layout.scrolled.flatMap(({ track }) => (track === null ? [] : [track]));
      model.close();
      return tracks;
    };
    const all = shown({});
    expect(new Set(all.map((track) => track.process)).size).toBe(2);
    const own = shown({ processes: [1] });
    expect(own.length).toBe(all.filter((track) => track.process === 1).length);
    expect(own.every((track) => track.process === 1)).toBe(true);
    const device = own.find((track) => track.device !== null)?.device ?? -1;
    expect(shown({ devices: [device + 100] }).every((track) => track.device === null)).toBe(true);
  });

  it("undoes a zoom and a jump", () => {
    let now = 0;
    const model = new Model(trace, "", {}, () => now);
    model.resize(1400, 700);
    model.run("zoom_in");
    now += 50;
    model.run("zoom_in");
    now += 5000;
    const near = model.view;
    model.show({ start: 1e6, end: 2e6 }, true);
    model.run("undo");
    expect(model.view).toEqual(near);
    model.run("undo");
    expect(model.view).toEqual(model.whole);
    model.run("undo");
    expect(model.view).toEqual(model.whole);
    model.close();
  });

  it("fits the selection, and the whole at the second time", () => {
    const model = new Model(trace);
    model.resize(1400, 700);
    model.select({ start: 2e6, end: 3e6 });
    model.run("fit");
    expect(model.view).toEqual({ start: 2e6 - 80_000, end: 3e6 + 80_000 });
    model.run("fit");
    expect(model.view).toEqual(model.whole);
    model.close();
  });

  it("moves from slice to slice and along the arrow with keys alone", async () => {
    const model = new Model(trace);
    model.resize(1400, 700);
    model.show({ start: 2.6e6, end: 3.2e6 }, true);
    await settle(model);
    model.run("slice_on");
    await pause(1);
    const first = model.picked.value;
    expect(first).not.toBeNull();
    model.run("slice_on");
    await pause(1);
    const second = model.picked.value;
    expect(second?.track).toBe(first?.track);
    expect(second?.start_ns).toBeGreaterThan(first?.start_ns ?? 0);
    expect(model.spoken.value).toContain(second?.name ?? "?");
    model.run("follow");
    await pause(1);
    expect(trace.info.tracks[model.picked.value?.track ?? 0]?.kind).toBe("api");
    model.run("follow");
    await pause(1);
    expect(model.picked.value?.row).toBe(second?.row);
    model.run("escape");
    expect(model.picked.value).toBeNull();
    model.close();
  });

  it("goes down from a row to the next one", async () => {
    const model = new Model(trace);
    model.resize(1400, 900);
    model.show({ start: 2.6e6, end: 3.0e6 }, true);
    await settle(model);
    const op = kindOf("op");
    const outer = await trace.at(kindOf("python"), 2.8e6);
    expect(outer).not.toBeNull();
    const found = await trace.search("aten::", 500);
    const seen = found.hits.find(
      (hit) => hit.track === op && hit.start_ns > 2.6e6 && hit.end_ns - hit.start_ns > 2e4,
    );
    expect(seen).toBeDefined();
    await model.pick(seen?.track ?? 0, seen?.row ?? 0, "all");
    await settle(model);
    const before = model.picked.value;
    model.run("row_down");
    await pause(2);
    const after = model.picked.value;
    expect([before?.track, before?.row]).not.toEqual([after?.track, after?.row]);
    model.close();
  });

  it("steps from step to step", async () => {
    const model = new Model(trace);
    model.resize(1400, 700);
    const track = kindOf("steps");
    const first = await trace.event(track, 0);
    model.show({ start: first.start_ns, end: first.start_ns + first.duration_ns }, true);
    model.run("step_on");
    await pause(1);
    const second = await trace.event(track, 1);
    expect(model.view.start).toBeLessThan(second.start_ns);
    expect(model.view.end).toBeGreaterThan(second.start_ns + second.duration_ns);
    expect(model.spoken.value).toContain(second.name);
    // Between two steps the nearest one is meant.
    const gap = second.start_ns - 1;
    expect((await stepFrom(trace, track, gap, 1))?.row).toBe(1);
    expect((await stepFrom(trace, track, gap, -1))?.row).toBe(0);
    const { end_ns } = trace.info;
    expect((await nearest(trace, track, end_ns, -1, 0))?.row).toBe(
      (trace.info.tracks[track]?.rows ?? 0) - 1,
    );
    expect(await nearest(trace, track, end_ns, 1, 0)).toBeNull();
    model.close();
  });

  it("finds the next slice of the same depth, whatever the numbers of rows are", async () => {
    for (const kind of ["op", "python", "stream", "api"]) {
      const track = kindOf(kind);
      const { spans } = await trace.spans([track], 0, trace.info.end_ns, 2 ** -10);
      const all = spans[0];
      expect(all?.row.length).toBeGreaterThan(10);
      const same = [...(all?.row ?? [])].map((row, i) => ({
        track,
        row,
        depth: all?.depth[i] ?? 0,
        start_ns: all?.start_ns[i] ?? 0,
        end_ns: all?.end_ns[i] ?? 0,
      }));
      for (let i = 5; i < same.length; i += Math.ceil(same.length / 12)) {
        const slice = same[i];
        if (slice === undefined) continue;
        const level = same.filter((one) => one.depth === slice.depth);
        const at = level.indexOf(slice);
        expect((await sibling(trace, slice, 1))?.row).toBe(level[at + 1]?.row);
        expect((await sibling(trace, slice, -1))?.row).toBe(level[at - 1]?.row);
      }
    }
  });

  it("measures between two marks, pins and folds", () => {
    const model = new Model(trace);
    model.resize(1400, 700);
    model.pointer = 1e6;
    model.run("mark");
    model.pointer = 3e6;
    model.run("mark");
    expect(model.marks.value).toEqual([1e6, 3e6]);
    expect(model.spoken.value).toMatch(/2\.00.ms/);
    model.run("range");
    expect(model.selection.value).toEqual({ start: 1e6, end: 3e6 });
    const bands = model.layout.scrolled.length;
    model.run("fold");
    expect(model.layout.scrolled.length).toBeLessThan(bands);
    model.run("fold");
    model.togglePin(2);
    expect(model.layout.pinned.length).toBe(1);
    model.close();
  });

  it("drops an answer about an event that is not wanted any more", async () => {
    const doors: (() => void)[] = [];
    const late = {
      ...trace,
      info: trace.info,
      event: (track: number, row: number) =>
        new Promise((take) => doors.push(() => take(trace.event(track, row)))),
    } as unknown as Trace;
    const model = new Model(late);
    void model.pick(0, 1, "nothing");
    void model.pick(0, 2, "nothing");
    doors[1]?.();
    await pause(1);
    doors[0]?.();
    await pause(1);
    expect(model.picked.value?.row).toBe(2);
    model.close();
  });

  it("draws arrows upward from the launch to its kernel", async () => {
    const model = new Model(trace);
    model.resize(1400, 700);
    model.show({ start: 2.6e6, end: 3.2e6 }, true);
    await settle(model);
    const found = await trace.search("gemm", 400);
    const hit = found.hits.find((one) => one.start_ns > 2.7e6);
    const detail = await trace.event(hit?.track ?? 0, hit?.row ?? 0);
    const [arrow] = arrowsOf(model, detail, model.groupsOfTracks);
    expect(arrow?.up).toBe(true);
    expect(arrow?.y0).toBeGreaterThan(arrow?.y1 ?? 0);
    expect(follow(detail)?.track).toBe(kindOf("api"));
    // Far from its launch the arrow says how long before that was.
    model.show({ start: detail.start_ns, end: detail.start_ns + 20_000 }, true);
    expect(arrowsOf(model, detail, model.groupsOfTracks)[0]?.label).toMatch(/^launched .* before$/);
    model.close();
  });
});

describe("hands", () => {
  it("knows Perfetto's keys and leaves combinations to the browser", () => {
    const press = (key: string, ctrlKey = false) =>
      commandOf({ key, ctrlKey, metaKey: false, altKey: false });
    expect("wsadfm/?".split("").map((key) => press(key))).toEqual([
      "zoom_in",
      "zoom_out",
      "left",
      "right",
      "fit",
      "mark",
      "find",
      "help",
    ]);
    expect(press("[")).toBe("step_back");
    expect(press("W")).toBe("zoom_in");
    expect(press("f", true)).toBeNull();
    expect(press("x")).toBeNull();
  });

  it("zooms as much in many small turns as in a large one", () => {
    expect(wheelFactor(10) ** 10).toBeCloseTo(wheelFactor(100), 10);
    expect(wheelFactor(-50) * wheelFactor(50)).toBeCloseTo(1, 10);
    expect(wheelPx(3, 1, 800)).toBe(48);
    expect(wheelPx(1, 2, 800)).toBe(800);
  });
});

describe("table of a range", () => {
  it("sorts by each column, equal rows by name", () => {
    const row = (name: string, count: number, total_ns: number) => ({
      name,
      cls: "gemm" as const,
      count,
      total_ns,
      mean_ns: total_ns / count,
      min_ns: 1,
      max_ns: total_ns,
    });
    const rows = [row("b", 1, 10), row("a", 1, 10), row("c", 5, 1)];
    const names = (list: typeof rows) => list.map((one) => one.name).join("");
    expect(names(sorted(rows, "total", true) as typeof rows)).toBe("abc");
    expect(names(sorted(rows, "count", true) as typeof rows)).toBe("cab");
    expect(names(sorted(rows, "name", false) as typeof rows)).toBe("abc");
    expect(unitFor(5e6).name).toBe("µs");
    expect(unitFor(5e7).name).toBe("ms");
  });
});
