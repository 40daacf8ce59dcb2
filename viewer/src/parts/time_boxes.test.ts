// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { expect, it } from "vitest";
import type { SpansAnswer } from "../trace/api";
import { boxBeside, extent, timeBoxes } from "./time_boxes";

/** Spans as [start, end, depth, name, count]. */
function answer(rows: readonly (readonly [number, number, number, number, number])[]): SpansAnswer {
  return {
    names: ["main", "load", "read"],
    spans: [
      {
        track: 3,
        start_ns: Float64Array.from(rows, (row) => row[0]),
        end_ns: Float64Array.from(rows, (row) => row[1]),
        depth: Uint8Array.from(rows, (row) => row[2]),
        name: Uint32Array.from(rows, (row) => row[3]),
        cls: new Uint8Array(rows.length),
        row: new Uint32Array(rows.length),
        count: Uint32Array.from(rows, (row) => row[4]),
        busy_ns: Float64Array.from(rows, (row) => row[1] - row[0]),
      },
    ],
  };
}

const CALLS = answer([
  [0, 1000, 0, 0, 1],
  [100, 300, 1, 1, 1],
  [110, 290, 2, 0xffffffff, 12],
  [400, 900, 1, 1, 1],
  [500, 600, 2, 2, 1],
]);

it("places calls by their time, and cuts them at the edges", () => {
  const boxes = timeBoxes(CALLS, { start_ns: 200, end_ns: 700 }, 500);
  expect(boxes.map((box) => [box.name, box.depth, box.x, box.width, box.count])).toEqual([
    ["main", 0, 0, 500, 1],
    ["load", 1, 0, 100, 1],
    ["load", 1, 200, 300, 1],
    [null, 2, 0, 90, 12],
    ["read", 2, 300, 100, 1],
  ]);
  expect(timeBoxes(CALLS, { start_ns: 950, end_ns: 2000 }, 500).map((box) => box.name)).toEqual([
    "main",
  ]);
});

it("knows where calls begin and end", () => {
  expect(extent(CALLS)).toEqual({ start_ns: 0, end_ns: 1000 });
  expect(extent(answer([]))).toBeNull();
  expect(extent({ spans: [], names: [] })).toBeNull();
});

it("moves by arrow keys to the caller, to what was called, and to its neighbours", () => {
  const boxes = timeBoxes(CALLS, { start_ns: 0, end_ns: 1000 }, 1000);
  const name = (index: number | undefined) =>
    index === undefined ? undefined : `${boxes[index]?.name} ${boxes[index]?.start_ns}`;
  expect(name(boxBeside(boxes, 0, "ArrowDown"))).toBe("load 100");
  expect(name(boxBeside(boxes, 1, "ArrowRight"))).toBe("load 400");
  expect(name(boxBeside(boxes, 2, "ArrowDown"))).toBe("read 500");
  expect(name(boxBeside(boxes, 2, "ArrowLeft"))).toBe("load 100");
  expect(name(boxBeside(boxes, 4, "ArrowUp"))).toBe("load 400");
  for (const [index, key] of [
    [0, "ArrowUp"],
    [0, "ArrowLeft"],
    [0, "ArrowRight"],
    [2, "ArrowRight"],
    [4, "ArrowDown"],
    [9, "ArrowUp"],
  ] as const) {
    expect(boxBeside(boxes, index, key)).toBeUndefined();
  }
});
