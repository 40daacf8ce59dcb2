// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A tree that comes as rows: each is followed by those below it.

export interface Node<Row> {
  readonly row: Row;
  readonly depth: number;
  /** The number of the node above it; -1: it stands at the top. */
  readonly above: number;
  readonly hasParts: boolean;
}

/** Returns the nodes of rows, of which each has a depth. */
export function nodesOf<Row>(rows: readonly Row[], depthOf: (row: Row) => number): Node<Row>[] {
  const path: number[] = [];
  return rows.map((row, index) => {
    const depth = depthOf(row);
    path.length = Math.min(path.length, depth);
    const above = path[path.length - 1] ?? -1;
    path.push(index);
    const next = rows[index + 1];
    return { row, depth, above, hasParts: next !== undefined && depthOf(next) > depth };
  });
}

/** Returns whether all nodes above a node are open. */
export function isShown<Row>(
  nodes: readonly Node<Row>[],
  index: number,
  isClosed: (index: number) => boolean,
): boolean {
  for (let at = nodes[index]?.above ?? -1; at >= 0; at = nodes[at]?.above ?? -1) {
    if (isClosed(at)) return false;
  }
  return true;
}
