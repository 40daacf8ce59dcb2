// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the pictures of an input pipeline draw: waits of steps, and the life of batches as lanes.

import type { DataIterator, DataPipeline, InputBatch } from "../data/results";

/** Returns the batches in the order in which the program took them. */
export function inOrder(batches: readonly InputBatch[]): InputBatch[] {
  return [...batches].sort((a, b) => a.asked_ns - b.asked_ns || a.number - b.number);
}

/** Returns whether a batch is the first of its epoch: the workers begin with it. */
export function isFirst(batches: readonly InputBatch[], index: number): boolean {
  return index === 0 || batches[index]?.epoch !== batches[index - 1]?.epoch;
}

/** Returns the longest wait that is not the first of an epoch; of all, if there are no others. */
export function longestAt(batches: readonly InputBatch[]): number {
  let longest = -1;
  batches.forEach((batch, index) => {
    if (isFirst(batches, index)) return;
    if (longest < 0 || batch.wait_ns > (batches[longest]?.wait_ns ?? 0)) longest = index;
  });
  return Math.max(0, longest);
}

/** Returns the batch of each column: of those that share one, that with the longest wait. */
export function columnsOfWaits(batches: readonly InputBatch[], most: number): number[] {
  const columns = Math.min(batches.length, Math.max(1, Math.floor(most)));
  const found: number[] = [];
  for (let column = 0; column < columns; column++) {
    let greatest = Math.floor((column * batches.length) / columns);
    const end = Math.floor(((column + 1) * batches.length) / columns);
    for (let at = greatest + 1; at < end; at++) {
      if ((batches[at]?.wait_ns ?? 0) > (batches[greatest]?.wait_ns ?? 0)) greatest = at;
    }
    found.push(greatest);
  }
  return found;
}

/** A piece of a lane. */
export interface Piece {
  /** The batch's place among all. */
  readonly at: number;
  readonly from_ns: number;
  readonly to_ns: number;
}

export interface Life {
  readonly start_ns: number;
  readonly end_ns: number;
  /** A lane for each worker, by its pid. */
  readonly workers: readonly { readonly pid: number; readonly pieces: readonly Piece[] }[];
  /** More workers than there are lanes. */
  readonly left_out: number;
  readonly waits: readonly Piece[];
  /** From a batch that was taken to the call for the next one. */
  readonly steps: readonly Piece[];
}

const MOST_LANES = 8;

/** Returns the life of some batches, and of those that workers made meanwhile. */
export function lifeOf(batches: readonly InputBatch[], first: number, count: number): Life {
  const shown = batches.slice(first, first + count);
  const start_ns = shown[0]?.asked_ns ?? 0;
  const last = shown[shown.length - 1];
  const end_ns = Math.max(start_ns + 1, last === undefined ? 0 : last.asked_ns + last.wait_ns);
  const waits: Piece[] = [];
  const steps: Piece[] = [];
  shown.forEach((batch, index) => {
    const taken = batch.asked_ns + batch.wait_ns;
    const at = first + index;
    waits.push({ at, from_ns: batch.asked_ns, to_ns: taken });
    const next = shown[index + 1];
    if (next !== undefined && !isFirst(batches, at + 1)) {
      steps.push({ at, from_ns: taken, to_ns: next.asked_ns });
    }
  });
  const lanes = new Map<number, Piece[]>();
  batches.forEach((batch, at) => {
    const { worker_pid: pid, begin_ns, ready_ns } = batch;
    if (pid === 0 || begin_ns === 0 || begin_ns >= end_ns || ready_ns <= start_ns) return;
    const pieces = lanes.get(pid) ?? [];
    pieces.push({ at, from_ns: begin_ns, to_ns: ready_ns });
    lanes.set(pid, pieces);
  });
  const workers = [...lanes].sort(([a], [b]) => a - b).map(([pid, pieces]) => ({ pid, pieces }));
  const left_out = Math.max(0, workers.length - MOST_LANES);
  return { start_ns, end_ns, workers: workers.slice(0, MOST_LANES), left_out, waits, steps };
}

/** An iterator of a chain, with what asks it. */
export interface ChainNode {
  readonly iterator: DataIterator;
  /** The program waited for it, or for one that it asks. */
  readonly isBlocking: boolean;
}

/** Returns the iterators of a pipeline by depth: those that give the data first. */
export function chainOf(pipeline: DataPipeline, iterators: readonly DataIterator[]): ChainNode[][] {
  const levels: ChainNode[][] = [];
  for (const iterator of iterators) {
    const { path, depth } = iterator;
    const isOf =
      iterator.pid === pipeline.pid &&
      iterator.host === pipeline.host &&
      (path === pipeline.name || path.startsWith(`${pipeline.name}::`));
    if (!isOf) continue;
    const blamed = pipeline.blamed_path;
    const isBlocking = blamed === path || blamed.startsWith(`${path}::`);
    levels[depth] = [...(levels[depth] ?? []), { iterator, isBlocking }];
  }
  return levels.filter((level) => level !== undefined).reverse();
}
