// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { expect, it } from "vitest";
import type { TensorHistory } from "../data/results";
import { drawnMoments, edgesOf, layersOf, shownTime } from "./owners_chart";

function historyOf(names: readonly string[], by: TensorHistory["by"] = "operation"): TensorHistory {
  const owners = names.map((name, index) => ({
    name,
    is_others: false,
    live_bytes: [index, 2 * index + 1],
  }));
  const others = { name: "", is_others: true, live_bytes: [5, 7] };
  const all = [...owners, others];
  const live_bytes = [0, 1].map((at) =>
    all.reduce((sum, owner) => sum + (owner.live_bytes[at] ?? 0), 0),
  );
  return { pid: 1, host: "", device: "cuda:0", by, time_ns: [10, 20], live_bytes, owners: all };
}

it("stacks layers that add up to what is live, with a colour for each", () => {
  const history = historyOf(["a", "b", "c", "d", "e", "f", "g", "h"]);
  const layers = layersOf(history);
  expect(layers.map((layer) => layer.name)).toEqual(["a", "b", "c", "d", "e", "f", "Others"]);
  expect(new Set(layers.map((layer) => layer.look)).size).toBe(layers.length);
  expect(layers.at(-1)?.live_bytes).toEqual([6 + 7 + 5, 13 + 15 + 7]);
  expect(edgesOf(layers, 2).at(-1)).toEqual(history.live_bytes);
});

it("names what no module or operation allocated", () => {
  expect(layersOf(historyOf([""]))[0]?.name).toBe("No operation");
  expect(layersOf(historyOf([""], "module"))[0]?.name).toBe("No module");
});

it("shows the whole run, unless all changes lie close together", () => {
  expect(shownTime([10, 900], 1000)).toEqual([0, 1000]);
  expect(shownTime([800, 900], 1000)).toEqual([797, 903]);
  expect(shownTime([800], 1000)).toEqual([0, 1000]);
});

it("draws the greatest of the moments that share a column", () => {
  const history = {
    ...historyOf([]),
    time_ns: [0, 100, 101, 102, 900],
    live_bytes: [1, 2, 9, 3, 4],
  };
  expect(drawnMoments(history, 0, 5000)).toEqual([
    { time_ns: 0, at: 0 },
    { time_ns: 100, at: 2 },
    { time_ns: 110, at: 3 },
    { time_ns: 900, at: 4 },
  ]);
});
