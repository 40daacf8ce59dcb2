// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { beforeAll, describe, expect, it } from "vitest";
import type { Trace } from "../trace/api";
import { Match } from "./finding";
import { hitAt, placeOf } from "./hits";
import { Widths } from "./labels";
import { GUTTER, MINIMAP, PAD, TOP, visible } from "./layout";
import { makeTrace } from "./made_trace";
import { askMini, sumUp } from "./minimap";
import { Model } from "./model";
import { type Frame, paint, type Scenes, write, xOf } from "./paint";
import { contrast, type Palette, readPalette, SLOTS } from "./palette";
import { type Canvas2d, Pen } from "./pen";
import { mix, Pixels, pixel } from "./pixels";
import { emptyScene, MOST_RECTANGLES } from "./scene";

const palette: Palette = readPalette((name) => (name === "--n1" ? "#ECECE9" : ""));
// Narrower than a font, so that the longest label of a cell has room.
const widths = new Widths(() => 3);

/** A canvas that draws nothing and counts. */
class Counting {
  rectangles = 0;
  readonly texts: string[] = [];
  readonly context: Canvas2d;

  constructor() {
    const count = (): void => {
      this.rectangles++;
    };
    const nothing = (): void => {};
    this.context = {
      fillRect: count,
      strokeRect: count,
      rect: nothing,
      fillText: (text: string) => this.texts.push(text),
      measureText: (text: string) => ({ width: text.length * 6 }),
      ...Object.fromEntries(
        ["beginPath", "moveTo", "lineTo", "bezierCurveTo", "arc", "closePath", "fill", "stroke"]
          .concat(["clip", "save", "restore", "setTransform"])
          .map((name) => [name, nothing]),
      ),
    } as unknown as Canvas2d;
  }
}

/** Draws a model as the page does, until nothing more is asked for. */
async function settle(model: Model): Promise<void> {
  for (let i = 0; i < 6; i++) {
    model.request();
    await new Promise((next) => setTimeout(next, 0));
  }
}

function frameOf(model: Model): Frame {
  return {
    info: model.trace.info,
    whole: model.whole,
    view: model.view,
    width: model.width,
    height: model.height,
    scroll: model.scroll,
    layout: model.layout,
    store: model.store,
    palette,
    widths,
    match: model.match.value,
    selection: model.selection.value,
    mini: model.mini,
  };
}

interface Drawn {
  readonly pixels: Pixels;
  readonly counting: Counting;
  readonly total: number;
  readonly scenes: Scenes;
}

function draw(
  model: Model,
  scenes: Scenes = { pinned: emptyScene(), scrolled: emptyScene() },
): Drawn {
  const pixels = new Pixels();
  const counting = new Counting();
  const frame = frameOf(model);
  const painted = paint(pixels, frame, scenes, 1);
  write(new Pen(counting.context), frame, painted, 1);
  return { pixels, counting, scenes, total: pixels.rectangles + counting.rectangles };
}

describe("frames of a million events", () => {
  let trace: Trace;
  beforeAll(() => {
    trace = makeTrace({ events: 1_000_000, processes: 4 });
  }, 60_000);

  it("have at most 20,000 rectangles, on a small and on a very large screen", async () => {
    expect(trace.info.rows).toBeGreaterThanOrEqual(1_000_000);
    for (const [width, height] of [
      [1280, 560],
      [3840, 2000],
    ] as const) {
      const model = new Model(trace);
      model.resize(width, height);
      const scenes = { pinned: emptyScene(), scrolled: emptyScene() };
      for (const share of [1, 0.3, 0.02, 0.001]) {
        const length = (model.whole.end - model.whole.start) * share;
        model.show({ start: model.whole.end / 3, end: model.whole.end / 3 + length }, true);
        for (const scroll of [0, 600]) {
          model.scrollBy(scroll - model.scroll);
          await settle(model);
          const { total } = draw(model, scenes);
          expect(total).toBeLessThanOrEqual(MOST_RECTANGLES);
          expect(total).toBeGreaterThan(50);
        }
      }
      model.close();
    }
  }, 120_000);

  it("have as few when an old picture is shown far out", async () => {
    const model = new Model(trace);
    model.resize(3840, 2000);
    const middle = model.whole.end / 2;
    model.show({ start: middle, end: middle + 5e6 }, true);
    await settle(model);
    // The view is wide again, and no answer about it is there.
    model.show(model.whole, true);
    expect(draw(model).total).toBeLessThanOrEqual(MOST_RECTANGLES);
    model.close();
  }, 60_000);
});

describe("a frame", () => {
  const trace = makeTrace({ events: 4000, processes: 1 });

  it("gathers small slices in wider columns when the rectangles are too many", async () => {
    const model = new Model(trace);
    model.resize(1400, 700);
    model.show({ start: 2e6, end: 4e6 }, true);
    await settle(model);
    const { buildScene } = await import("./scene");
    const input = {
      ...frameOf(model),
      placed: visible(model.layout, 0, 700),
      picture: (track: number) => model.picture(track),
    };
    const free = emptyScene();
    buildScene({ ...input, most: 1e6 }, free);
    const tight = emptyScene();
    buildScene({ ...input, most: Math.floor(free.rectangles.count / 3) }, tight);
    expect(free.factor).toBe(1);
    expect(tight.factor).toBeGreaterThan(1);
    expect(tight.rectangles.count).toBeLessThanOrEqual(free.rectangles.count / 3);
    expect(tight.rectangles.count).toBeGreaterThan(0);
    model.close();
  });

  it("labels what is folded with its events and its busy share", async () => {
    const model = new Model(trace);
    model.resize(1400, 700);
    await settle(model);
    const { texts } = draw(model).counting;
    expect(texts.some((text) => /^[\d,]+ events, \d+.% busy$/.test(text))).toBe(true);
    expect(texts).toContain("Whole capture");
    expect(texts).toContain("GPU 0");
    model.close();
  });

  it("draws hostile names short and without control characters", async () => {
    const model = new Model(makeTrace({ events: 4000, processes: 1, hostile: true }));
    model.resize(1400, 700);
    model.show({ start: 2e6, end: 4e6 }, true);
    await settle(model);
    const { texts } = draw(model).counting;
    expect(texts.some((text) => text.startsWith("<img"))).toBe(true);
    for (const text of texts) {
      expect(text.length).toBeLessThan(250);
      expect(text).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]|\p{Cs}/u);
    }
    model.close();
  });

  it("dims what a search does not match", async () => {
    const model = new Model(trace);
    model.resize(1400, 700);
    model.show({ start: 2e6, end: 4e6 }, true);
    await settle(model);
    await model.find("flash");
    let [dim, clear] = [0, 0];
    draw(model).scenes.scrolled.rectangles.each((bucket) => {
      if (bucket.layer !== "slices") return;
      if (bucket.dim) dim += bucket.length;
      else clear += bucket.length;
    });
    expect(dim).toBeGreaterThan(0);
    expect(clear).toBeGreaterThan(0);
    const match = model.match.value;
    const flash = new Set(match?.answer.names.map((name) => name.name));
    expect([...flash].every((name) => name.includes("flash"))).toBe(true);
    expect(match?.answer.count).toBe(match?.answer.hits.length);
    model.close();
  });

  it("finds each slice where it is drawn", async () => {
    const model = new Model(trace);
    model.resize(1400, 700);
    model.show({ start: 2.6e6, end: 3.2e6 }, true);
    await settle(model);
    let found = 0;
    for (const { band, y } of visible(model.layout, model.scroll, model.height)) {
      const picture = band.track === null ? undefined : model.picture(band.track.id);
      if (picture === undefined) continue;
      const { spans, rows } = picture;
      for (let i = 0; i < spans.start_ns.length; i++) {
        const [start, end] = [spans.start_ns[i] ?? 0, spans.end_ns[i] ?? 0];
        const row = rows.row[i] ?? 255;
        if (spans.count[i] !== 1 || row === 255) continue;
        if (start < model.view.start || end > model.view.end) continue;
        const at = y + PAD + row * band.rowHeight + 2;
        if (at > model.height || xOf(model, end) - xOf(model, start) < 6) continue;
        const hit = hitAt(model, xOf(model, (start + end) / 2), at);
        expect(hit?.row).toBe(spans.row[i]);
        expect(hit?.track).toBe(spans.track);
        const event = { track: spans.track, row: spans.row[i] ?? 0, start_ns: start, end_ns: end };
        expect(placeOf(model, event, band.group)?.y).toBe(hit?.y);
        found++;
      }
    }
    expect(found).toBeGreaterThan(40);
    expect(hitAt(model, GUTTER - 5, TOP + 60)).toBeNull();
    expect(hitAt(model, 600, MINIMAP / 2)).toBeNull();
    model.close();
  });

  it("points at the header when the track of an event is folded away", async () => {
    const model = new Model(trace);
    model.resize(1400, 700);
    const event = { track: 0, row: 0, start_ns: 0, end_ns: 10 };
    model.toggleFold("d0.0");
    expect(placeOf(model, event, "d0.0")?.y).toBe(TOP);
    model.close();
  });
});

describe("minimap", () => {
  it("adds up to the busy time of the streams", async () => {
    const trace = makeTrace({ events: 4000, processes: 1 });
    const whole = { start: 0, end: trace.info.end_ns };
    const mini = await askMini(trace, whole, 1000);
    const { columns, shares } = mini;
    const column = whole.end / columns;
    const drawn = shares.reduce((sum, share) => sum + share, 0) * column;
    const range = await trace.range("stream", { start_ns: 0, end_ns: whole.end });
    const busy = range.busy_ns.reduce((sum, one) => sum + one.busy_ns, 0);
    expect(drawn / busy).toBeGreaterThan(0.95);
    expect(drawn / busy).toBeLessThan(1.02);
    for (let i = 0; i < columns; i++) {
      const part = shares.subarray(i * SLOTS.length, (i + 1) * SLOTS.length);
      expect(part.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(1.0001);
    }
  });

  it("is empty without tracks", () => {
    const none = sumUp({ spans: [], names: [] }, new Map(), { start: 0, end: 1 }, 10);
    expect(none.parts).toBe(0);
  });
});

describe("pixels", () => {
  it("fills rectangles within their limits, and never less than a pixel", () => {
    const pixels = new Pixels();
    const [ground, red] = [pixel("#ffffff"), pixel("#ff0000")];
    pixels.begin(10, 4, 2, ground);
    expect(pixels.data.length).toBe(20 * 8);
    pixels.within(2, 1, 4, 2);
    pixels.rect(-5, -5, 100, 100, red);
    const count = (colour: number) => pixels.data.filter((one) => one === colour).length;
    expect(count(red)).toBe(8 * 4);
    pixels.begin(10, 4, 1, ground);
    pixels.rect(3, 1, 0.01, 0.01, red);
    expect(count(red)).toBe(1);
    pixels.rect(-3, 1, 1, 1, red);
    pixels.rect(30, 1, 1, 1, red);
    expect(count(red)).toBe(1);
  });

  it("hatches the same places, wherever a hatched area begins", () => {
    const [ground, line] = [pixel("#ffffff"), pixel("#000000")];
    const one = new Pixels();
    one.begin(60, 20, 1, ground);
    one.hatch(0, 0, 60, 20, line);
    const two = new Pixels();
    two.begin(60, 20, 1, ground);
    two.hatch(0, 0, 23, 20, line);
    two.hatch(23, 0, 37, 20, line);
    expect(two.data).toEqual(one.data);
    const share = one.data.filter((value) => value === line).length / one.data.length;
    expect(share).toBeGreaterThan(0.2);
    expect(share).toBeLessThan(0.4);
  });

  it("mixes colours, and picks the label that contrasts more", () => {
    expect(mix("#000000", "#ffffff", 0.35)).toBe("#a6a6a6");
    expect(contrast("#000000", "#ffffff")).toBeCloseTo(21, 5);
    const made = readPalette((name) => (name === "--d_backward" ? "#274482" : "#d8c568"));
    expect(made.ink.d_backward).toBe("#d8c568");
  });
});

describe("matches of a search", () => {
  it("say of a folded cell only what is known", () => {
    const hit = { track: 3, row: 0, name: "a", start_ns: 50, end_ns: 60 };
    const names = [{ name: "a", count: 2, total_ns: 20 }];
    const part = new Match("a", { count: 2, total_ns: 20, hits: [hit], names });
    expect(part.inCell(3, 40, 55)).toBe(true);
    expect(part.inCell(3, 51, 55)).toBeNull();
    const all = new Match("a", { count: 1, total_ns: 10, hits: [hit], names });
    expect(all.inCell(3, 51, 55)).toBe(false);
    expect([...all.flags(["b", "a"])]).toEqual([0, 1]);
  });
});
