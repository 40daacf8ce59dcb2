// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The calls of threads in a range as one tree: the time that each function ran itself, by what
// called it. Calls are cut at the edges of the range, and a call ends with its caller at the latest.

import { type CallTree, isSelected, type Selection } from "./api";
import { Floats, Words } from "./growing";
import type { TrackEntry } from "./tracks";

/** Functions of more callers are of no use to a person, and the tree must end. */
const MOST_NODES = 1_000_000;

export async function makeCallTree(
  tracks: readonly TrackEntry[],
  selection: Selection,
  nameOf: (name: number) => string,
): Promise<CallTree> {
  const { start_ns, end_ns } = selection;
  const [name, caller, self] = [new Words(), new Words(), new Floats()];
  const nodes = new Map<number, Map<number, number>>();
  const nodeOf = (parent: number, of: number): number => {
    let children = nodes.get(parent);
    if (children === undefined) {
      children = new Map();
      nodes.set(parent, children);
    }
    let node = children.get(of);
    if (node === undefined && name.length >= MOST_NODES) return parent;
    if (node === undefined) {
      node = name.length;
      children.set(of, node);
      name.push(of);
      caller.push(parent);
      self.push(0);
    }
    return node;
  };
  // The root has no name, and what belongs to nobody.
  name.push(0);
  caller.push(0);
  self.push(0);
  let left_out = 0;
  for (const { info, spans } of tracks) {
    if (info.kind !== "python" || spans === null || !isSelected(info, selection)) continue;
    left_out += spans.absentRows(start_ns, end_ns);
    const open: { node: number; end: number }[] = [];
    await spans.within(start_ns, end_ns, (start, end, of) => {
      let top = open[open.length - 1];
      while (top !== undefined && top.end <= start) {
        open.pop();
        top = open[open.length - 1];
      }
      const until = Math.min(end, top?.end ?? end_ns, end_ns);
      const time = until - Math.max(start, start_ns);
      const parent = top?.node ?? 0;
      const node = nodeOf(parent, of);
      self.set(node, self.at(node) + time);
      if (parent !== 0) self.set(parent, self.at(parent) - time);
      open.push({ node, end: until });
    });
  }
  const names = [...name.taken()].map((each, i) => (i === 0 ? "" : nameOf(each)));
  return { names, caller: caller.taken(), self_ns: self.taken(), left_out };
}
