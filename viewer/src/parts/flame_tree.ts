// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The tree of a flame graph from folded stacks, and where its boxes lie. Widths are exact sums.

import { shortPath } from "../base/names";
import type { CallStacks, Frame, Stacks } from "../data/results";

export interface FlameNode {
  readonly name: string;
  readonly frame: Frame | null;
  readonly depth: number;
  readonly parent: FlameNode | null;
  value: number;
  /** What ends in this frame itself. */
  self: number;
  readonly children: Map<string, FlameNode>;
}

/** A Python function as torch.profiler names it: "torch/nn/modules/module.py(1743): _call_impl". */
const PYTHON = /^(.*\.py|<string>)\((\d+)\): (.*)$/;
/** A Python function of a sample: "Server.handle (app/server.py)". */
const SAMPLED = /^(.*) \((.*\.py|<\w+>)\)$/;
/** A module with its number: "nn.Module: Qwen2DecoderLayer_12". Layers of one class are one box. */
const MODULE = /^nn\.Module: (.*?)(_\d+)?$/;

export type FrameKind = "python" | "module" | "native";

/** Returns what a frame is: its ground follows from this. */
export function frameKind(frame: Frame): FrameKind {
  if (MODULE.test(frame.name)) return "module";
  const isPython =
    frame.file.endsWith(".py") || PYTHON.test(frame.name) || SAMPLED.test(frame.name);
  return isPython || frame.name.startsWith("<built-in ") ? "python" : "native";
}

/** Returns the name of a frame for people; without a symbol the module and the place in it. */
export function frameName(frame: Frame): string {
  const python = PYTHON.exec(frame.name);
  if (python !== null) return `${python[3]}  ${shortPath(python[1] ?? "")}:${python[2]}`;
  const sampled = SAMPLED.exec(frame.name);
  if (sampled !== null) return `${sampled[1]}  ${shortPath(sampled[2] ?? "")}`;
  const module = MODULE.exec(frame.name);
  if (module !== null) return module[1] ?? frame.name;
  const name = frame.short_name || frame.name;
  return name === "" ? frame.module || "unknown" : name;
}

/** Returns the frames of a stack from the outermost to the innermost. */
export function framesOf(stacks: CallStacks, stack: number): Frame[] {
  const frames: Frame[] = [];
  let at = stack;
  // A caller's number is smaller than its callee's: a damaged result cannot make this endless.
  while (at > 0) {
    const frame = stacks.frames[stacks.frame[at] ?? -1];
    if (frame !== undefined) frames.push(frame);
    const caller = stacks.caller[at] ?? 0;
    if (caller >= at) break;
    at = caller;
  }
  return frames.reverse();
}

function makeNode(name: string, frame: Frame | null, parent: FlameNode | null): FlameNode {
  const depth = parent === null ? 0 : parent.depth + 1;
  return { name, frame, depth, parent, value: 0, self: 0, children: new Map() };
}

/** Joins stacks into one tree. `isInverted`: the innermost frame lies next to the root. */
export function buildFlame(
  result: Pick<Stacks, "stacks" | "call_stacks">,
  isInverted: boolean,
): FlameNode {
  const root = makeNode("all", null, null);
  const stacks = result.call_stacks;
  if (stacks === null) return root;
  for (const row of result.stacks) {
    const frames = framesOf(stacks, row.call_stack);
    if (isInverted) frames.reverse();
    root.value += row.value;
    let node = root;
    for (const frame of frames) {
      const name = frameName(frame);
      let child = node.children.get(name);
      if (child === undefined) {
        child = makeNode(name, frame, node);
        node.children.set(name, child);
      }
      child.value += row.value;
      node = child;
    }
    node.self += row.value;
  }
  return root;
}

export interface FlameBox {
  /** Null: siblings that are too narrow, together. */
  readonly node: FlameNode | null;
  readonly parent: FlameNode;
  readonly count: number;
  /** Frames of equal width that lie in one row, outermost first. */
  readonly chain: readonly FlameNode[];
  readonly x: number;
  readonly width: number;
  readonly row: number;
  readonly value: number;
}

export interface FlameLayout {
  readonly boxes: readonly FlameBox[];
  readonly rows: number;
}

/** Boxes narrower than this many pixels are joined: "n narrower". */
const LEAST_PX = 2;

/**
 * Places the boxes below a node, ordered by width. `isFolded`: chains of equal width take one row.
 * All in one pass without recursion: stacks may be thousands of frames deep.
 */
export function layOut(root: FlameNode, width: number, isFolded: boolean): FlameLayout {
  const boxes: FlameBox[] = [];
  let rows = 0;
  const open: { node: FlameNode; x: number; row: number }[] = [{ node: root, x: 0, row: 0 }];
  const scale = root.value === 0 ? 0 : width / root.value;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { x, row } = next;
    let node = next.node;
    const chain = [node];
    while (isFolded && node !== root && node.children.size === 1 && node.self === 0) {
      const only: FlameNode = [...node.children.values()][0] ?? node;
      if (only === node || only.value !== node.value) break;
      chain.push(only);
      node = only;
    }
    rows = Math.max(rows, row + 1);
    boxes.push({
      node: next.node,
      parent: next.node.parent ?? next.node,
      count: 1,
      chain,
      x,
      width: next.node.value * scale,
      row,
      value: next.node.value,
    });
    const children = [...node.children.values()].sort(
      (a, b) => b.value - a.value || (a.name < b.name ? -1 : 1),
    );
    let at = x;
    let narrow = 0;
    let narrowCount = 0;
    for (const child of children) {
      if (child.value * scale < LEAST_PX) {
        narrow += child.value;
        narrowCount += 1;
        continue;
      }
      open.push({ node: child, x: at, row: row + 1 });
      at += child.value * scale;
    }
    if (narrow * scale >= 0.5) {
      rows = Math.max(rows, row + 2);
      boxes.push({
        node: null,
        parent: node,
        count: narrowCount,
        chain: [],
        x: at,
        width: narrow * scale,
        row: row + 1,
        value: narrow,
      });
    }
  }
  return { boxes, rows };
}

/** Returns the sum of all boxes whose name fits; a hit inside a hit counts once. */
export function sumOfHits(root: FlameNode, fits: (name: string) => boolean): number {
  let sum = 0;
  const open: FlameNode[] = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node !== root && fits(node.name)) sum += node.value;
    else open.push(...node.children.values());
  }
  return sum;
}
