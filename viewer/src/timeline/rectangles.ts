// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A list of rectangles, gathered by layer and colour: the painter changes its colour a few dozen
// times a frame and not thousands of times.

import { SLOTS, type Slot } from "./palette";

/** From below. Folded cells stand below single slices. */
export const LAYERS = ["ground", "bars", "edges", "slices", "hatch", "marks"] as const;
export type Layer = (typeof LAYERS)[number];

/** Colours of rectangles: slots, and what the canvas adds. */
export const INKS = [...SLOTS, "line3", "hatch", "text"] as const;
export type Ink = Slot | "line3" | "hatch" | "text";

export interface Bucket {
  readonly layer: Layer;
  readonly ink: Ink;
  readonly dim: boolean;
  /** x, y, width, height of each rectangle. */
  data: Float32Array;
  length: number;
}

const KEYS = INKS.length * 2;
const INK_INDEX = new Map<Ink, number>(INKS.map((ink, index) => [ink, index]));

export class Rectangles {
  private readonly buckets: (Bucket | undefined)[] = [];
  count = 0;

  /** Empties the list and keeps its memory. */
  clear(): void {
    for (const bucket of this.buckets) if (bucket !== undefined) bucket.length = 0;
    this.count = 0;
  }

  add(
    layer: number,
    ink: Ink,
    dim: boolean,
    x: number,
    y: number,
    width: number,
    height: number,
  ): void {
    const key = layer * KEYS + (INK_INDEX.get(ink) ?? 0) * 2 + (dim ? 1 : 0);
    let bucket = this.buckets[key];
    if (bucket === undefined) {
      const name = LAYERS[layer] ?? "slices";
      bucket = { layer: name, ink, dim, data: new Float32Array(256), length: 0 };
      this.buckets[key] = bucket;
    }
    if (bucket.length + 4 > bucket.data.length) {
      const grown = new Float32Array(bucket.data.length * 2);
      grown.set(bucket.data);
      bucket.data = grown;
    }
    bucket.data[bucket.length] = x;
    bucket.data[bucket.length + 1] = y;
    bucket.data[bucket.length + 2] = width;
    bucket.data[bucket.length + 3] = height;
    bucket.length += 4;
    this.count++;
  }

  /** Calls for each bucket that is not empty, from the lowest layer. */
  each(use: (bucket: Bucket) => void): void {
    for (const bucket of this.buckets) {
      if (bucket !== undefined && bucket.length > 0) use(bucket);
    }
  }
}

/** Index of a layer, for add(). */
export const LAYER: Readonly<Record<Layer, number>> = {
  ground: 0,
  bars: 1,
  edges: 2,
  slices: 3,
  hatch: 4,
  marks: 5,
};
