// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The folded picture is true: it looks like one in which every event was drawn by itself. Both are
// compared by SSIM. As its authors advise, pictures of this size are first made four times smaller.

import { describe, expect, it } from "vitest";
import css from "../app/tokens.css?raw";
import { engineFile, openStored, STORED } from "../engine/stored";
import { drawAll } from "./full_picture";
import { Widths } from "./labels";
import { GUTTER, isCounter, TOP, visible } from "./layout";
import { Model } from "./model";
import { paint } from "./paint";
import { readPalette } from "./palette";
import { Pixels } from "./pixels";
import { emptyScene } from "./scene";
import { Exact, ssim } from "./ssim";
import { levelOf, misfit, type Store } from "./store";

const light = css.slice(0, css.indexOf("@media"));
const palette = readPalette((name) => new RegExp(`${name}: ([^;]+);`).exec(light)?.[1] ?? "");
const widths = new Widths(() => 3);
const WIDTH = 1280;
const HEIGHT = 1000;
const SMALLER = 4;
const LEAST_MEAN = 0.99;
const LEAST_OF_EACH = 0.98;
/** Windows are chosen at random, so often. */
const SEEDS = [2, 3, 7];

/** Draws what users see, without texts. */
function painted(model: Model, store: Store): Exact {
  const { whole, view, width, height, scroll, layout, mini } = model;
  const shown = { whole, view, width, height, scroll, layout, mini, palette, widths, store };
  const frame = { ...shown, info: model.trace.info, match: null, selection: null };
  const pixels = new Pixels();
  paint(pixels, frame, { pinned: emptyScene(), scrolled: emptyScene() }, 1);
  return Exact.of(pixels.width, pixels.height, new Uint8Array(pixels.data.buffer));
}

/** Draws what users see before the first answer. */
function bare(model: Model): Exact {
  const store = Object.create(model.store);
  store.picture = () => undefined;
  return painted(model, store);
}

/** Waits until all tracks that are seen have the picture of the view. */
async function settle(model: Model): Promise<void> {
  const { view } = model;
  const level = levelOf((view.end - view.start) / (WIDTH - GUTTER));
  const isThere = () =>
    visible(model.layout, model.scroll, HEIGHT).every(({ band: { track } }) => {
      if (track === null || isCounter(track.kind)) return true;
      const picture = model.picture(track.id);
      return picture !== undefined && misfit(picture, view, level) === 0;
    });
  do {
    model.request();
    await new Promise((next) => setTimeout(next, 1));
  } while (!isThere());
}

function likeness(one: Exact, two: Exact, height: number): number {
  const of = (k: number) => {
    const [x, y] = [one, two].map((each) =>
      each.channel(k, GUTTER, TOP, WIDTH - GUTTER, height - TOP, SMALLER),
    );
    return x === undefined || y === undefined ? 0 : ssim(x, y);
  };
  return (of(0) + of(1) + of(2)) / 3;
}

/** Returns numbers from 0 to 1, the same in each run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

// A build without the engine has nothing to draw.
describe.skipIf(engineFile() === null)("the folded picture looks like all events of", () => {
  it.each([
    ["a training", `${STORED}golden/traces/h200/pytorch/language_model`],
    ["a text that is made", `${STORED}golden/traces/h200/pytorch/generate`],
    ["an import", `${STORED}viewer/traces/kineto`],
    ["many kernels", `${STORED}golden/traces/v1/sums.gpt`],
  ])("%s", async (_, path) => {
    const trace = await openStored(path);
    const model = new Model(trace);
    model.resize(WIDTH, HEIGHT);
    const found: [number, number, number][] = [];
    const { start, end } = model.whole;
    // A moment with work: windows are around it.
    const busy = trace.info.tracks.filter(({ kind }) => kind === "stream" || kind === "op");
    for (const seed of SEEDS) {
      const next = random(seed);
      for (const share of [1, 0.3, 0.1, 0.03, 0.003]) {
        // The whole is the same each time.
        if (share === 1 && seed !== SEEDS[0]) continue;
        const length = (end - start) * share;
        const track = busy[Math.floor(next() * busy.length)];
        const event = await trace.event(track?.id ?? 0, Math.floor(next() * (track?.rows ?? 0)));
        const from = event.start_ns - length * next();
        model.show({ start: from, end: from + length }, true);
        await settle(model);
        const seen = painted(model, model.store);
        const full = bare(model);
        await drawAll(model, palette, full);
        const height = Math.min(HEIGHT, TOP + model.layout.height);
        found.push([seed, share, likeness(seen, full, height)]);
      }
    }
    model.close();
    expect(found.filter(([, , alike]) => alike < LEAST_OF_EACH)).toEqual([]);
    const mean = found.reduce((sum, [, , alike]) => sum + alike, 0) / found.length;
    expect(mean).toBeGreaterThan(LEAST_MEAN);
  });
});
