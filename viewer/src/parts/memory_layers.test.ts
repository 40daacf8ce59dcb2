// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { expect, it } from "vitest";
import { hueOf, MEMORY_CATEGORIES } from "../base/vocabulary";
import type {
  MemoryProfileCategory,
  MemoryProfileFailure,
  MemoryProfilePoint,
} from "../data/results";
import { categoryLayers, categoryParts, failureParts, framesOfPlace } from "./memory_layers";

const point = (more: Partial<MemoryProfilePoint>) =>
  ({
    unknown_bytes: 0,
    parameters_bytes: 10,
    gradients_bytes: 0,
    optimizer_state_bytes: 20,
    activations_bytes: 0,
    temporary_bytes: 0,
    communication_bytes: 0,
    kv_cache_bytes: 0,
    graphs_bytes: 0,
    ...more,
  }) as MemoryProfilePoint;

it("has an area for each category with bytes, which add up to all", () => {
  const layers = categoryLayers([point({}), point({ activations_bytes: 5, unknown_bytes: 1 })]);
  expect(layers.map(({ name }) => name)).toEqual([
    "Parameters",
    "Optimizer state",
    "Activations",
    "Not known",
  ]);
  const sums = [0, 1].map((at) =>
    layers.reduce((sum, layer) => sum + (layer.live_bytes[at] ?? 0), 0),
  );
  expect(sums).toEqual([30, 36]);
});

it("has a colour of its own for each category", () => {
  const hues = Object.values(MEMORY_CATEGORIES).map(({ look }) => hueOf(look));
  expect(new Set(hues).size).toBe(hues.length);
});

it("has the parts of the peak and of a failed request", () => {
  const row = { category: "kv_cache", bytes: 7 } as MemoryProfileCategory;
  expect(categoryParts([row])).toEqual([{ name: "KV cache", look: "d_reduce", value: 7 }]);
  const failure = {
    allocated_bytes: 5,
    pending_bytes: 0,
    pool_free_bytes: 3,
    device_free_bytes: 2,
  };
  const parts = failureParts(failure as MemoryProfileFailure);
  expect(parts.map(({ value }) => value)).toEqual([5, 3, 2]);
});

it("reads the frames of a place", () => {
  expect(framesOfPlace("model.py:55:attention < train.py:40:main")).toEqual([
    "model.py:55:attention",
    "train.py:40:main",
  ]);
  expect(framesOfPlace("")).toEqual([]);
});
