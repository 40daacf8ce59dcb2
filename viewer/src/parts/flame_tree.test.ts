// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Frame, Stacks } from "../data/results";
import { buildFlame, type FlameNode, frameKind, framesOf, layOut, sumOfHits } from "./flame_tree";

function frame(name: string): Frame {
  return { name, short_name: name, module: "", offset: 0, file: "", line: 0, pc: 0 };
}

/** Stacks as names from the outermost frame on, with values. */
function stacksOf(rows: readonly (readonly [readonly string[], number])[]): Stacks {
  const frames: Frame[] = [];
  const frameNumbers = [0];
  const callers = [0];
  const known = new Map<string, number>();
  const stacks = rows.map(([names, value]) => {
    let stack = 0;
    for (const name of names) {
      const key = `${stack} ${name}`;
      let next = known.get(key);
      if (next === undefined) {
        next = frameNumbers.length;
        known.set(key, next);
        frameNumbers.push(frames.push(frame(name)) - 1);
        callers.push(stack);
      }
      stack = next;
    }
    return { pid: 1, call_stack: stack, value };
  });
  return {
    stacks,
    call_stacks: { frames, frame: frameNumbers, caller: callers },
  } as unknown as Stacks;
}

const ROWS = stacksOf([
  [["main", "train", "mm"], 60],
  [["main", "train", "add"], 30],
  [["main", "load"], 10],
]);

describe("a flame graph", () => {
  it("joins stacks and keeps sums", () => {
    const root = buildFlame(ROWS, false);
    expect(root.value).toBe(100);
    const train = root.children.get("main")?.children.get("train");
    expect(train?.value).toBe(90);
    expect(train?.children.get("mm")?.self).toBe(60);
  });

  it("can begin at the innermost frame", () => {
    const root = buildFlame(ROWS, true);
    expect([...root.children.keys()].sort()).toEqual(["add", "load", "mm"]);
    expect(root.children.get("mm")?.children.get("train")?.value).toBe(60);
  });

  it("lies heaviest first, each below its parent", () => {
    const { boxes, rows } = layOut(buildFlame(ROWS, false), 1000, false);
    const place = (name: string) => boxes.find((box) => box.node?.name === name);
    expect([place("mm")?.x, place("mm")?.width, place("mm")?.row]).toEqual([0, 600, 3]);
    expect(place("add")?.x).toBe(600);
    expect(place("load")?.x).toBe(900);
    expect(rows).toBe(4);
  });

  it("folds chains of equal width", () => {
    const chain = stacksOf([[["a", "b", "c", "d"], 5]]);
    const { boxes, rows } = layOut(buildFlame(chain, false), 100, true);
    expect(rows).toBe(2);
    expect(boxes.find((box) => box.row === 1)?.chain.map((node) => node.name)).toEqual([
      "a",
      "b",
      "c",
      "d",
    ]);
  });

  it("joins what is too narrow to draw", () => {
    const rows = Array.from({ length: 50 }, (_, i) => [[`f${i}`], 1] as const);
    const { boxes } = layOut(buildFlame(stacksOf([[["big"], 9950], ...rows]), false), 1000, false);
    const joined = boxes.find((box) => box.node === null);
    expect([joined?.count, joined?.value]).toEqual([50, 50]);
  });

  it("counts a hit inside a hit once", () => {
    const nested = stacksOf([[["mm", "mm", "x"], 7]]);
    expect(sumOfHits(buildFlame(nested, false), (name) => name === "mm")).toBe(7);
  });

  it("names Python functions and merges layers of a class", () => {
    const rows = stacksOf([
      [["torch/nn/modules/module.py(1743): _call_impl", "nn.Module: Layer_0"], 2],
      [["torch/nn/modules/module.py(1743): _call_impl", "nn.Module: Layer_1"], 3],
    ]);
    const call = buildFlame(rows, false).children.get("_call_impl  modules/module.py:1743");
    expect(call?.children.get("Layer")?.value).toBe(5);
    expect(frameKind(frame("nn.Module: Layer_0"))).toBe("module");
    expect(frameKind(frame("a.py(1): f"))).toBe("python");
    expect(frameKind(frame("malloc"))).toBe("native");
  });

  it("ends at a damaged caller", () => {
    const damaged = { frames: [frame("a")], frame: [0, 0], caller: [0, 1] };
    expect(framesOf(damaged, 1).map((each) => each.name)).toEqual(["a"]);
  });

  it("has children within their parents for any stacks", () => {
    const names = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 6 });
    const rows = fc.array(fc.tuple(names, fc.integer({ min: 1, max: 50 })), { minLength: 1 });
    fc.assert(
      fc.property(rows, fc.boolean(), (some, isInverted) => {
        const root = buildFlame(stacksOf(some), isInverted);
        const total = some.reduce((sum, [, value]) => sum + value, 0);
        expect(root.value).toBe(total);
        const check = (node: FlameNode) => {
          const children = [...node.children.values()];
          const below = children.reduce((sum, child) => sum + child.value, 0);
          expect(below + node.self).toBe(node.value);
          children.forEach(check);
        };
        check(root);
        const byRow = new Map<number, number>();
        for (const box of layOut(root, 800, false).boxes) {
          byRow.set(box.row, (byRow.get(box.row) ?? 0) + box.width);
        }
        for (const width of byRow.values()) expect(width).toBeLessThanOrEqual(800.001);
      }),
    );
  });
});
