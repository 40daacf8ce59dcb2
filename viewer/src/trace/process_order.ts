// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Puts all processes of a bundle on one axis, as analysis/open.cc and analysis/read/process_order.cc
// do: its zero is the earliest event of a process. Files of several hosts may be together.

import type { ProcessFile } from "./process_file";
import type { BundleFacts } from "./tables";

const EXIT_BY_EXEC = 5;
const TIME_LIMIT = 1n << 61n;

function compare(x: ProcessFile, y: ProcessFile): number {
  const { startId: a } = x.header;
  const { startId: b } = y.header;
  if (a !== b) return a < b ? -1 : 1;
  if (x.pid !== y.pid) return x.pid - y.pid;
  return x.file.name < y.file.name ? -1 : x.file.name > y.file.name ? 1 : 0;
}

/**
 * Names a process number of one host and one rank. Ranks in containers may use the same numbers; a
 * rank's files lie in a folder of its own.
 */
function keyOf(pid: number, file: ProcessFile): string {
  const { name } = file.file;
  return `${pid} ${file.tables.host} ${name.slice(0, name.indexOf("/") + 1)}`;
}

/** Finds for each file the one it came from: the same process before exec, else its parent. */
function predecessors(files: readonly ProcessFile[]): number[] {
  const byPid = new Map<string, number[]>();
  files.forEach((file, i) => {
    const key = keyOf(file.pid, file);
    const list = byPid.get(key);
    if (list === undefined) byPid.set(key, [i]);
    else list.push(i);
  });
  const latest = (pid: number, i: number): number => {
    const own = files[i] as ProcessFile;
    let best = -1;
    for (const other of byPid.get(keyOf(pid, own)) ?? []) {
      if (other === i) continue;
      if ((files[other] as ProcessFile).header.startId <= own.header.startId) best = other;
    }
    return best;
  };
  return files.map((file, i) => {
    const same = latest(file.pid, i);
    const wentOn = same >= 0 && files[same]?.exitWay === EXIT_BY_EXEC;
    return wentOn ? same : latest(file.tables.ppid, i);
  });
}

/** Orders processes by their start, children after parents. */
export function orderProcesses(files: ProcessFile[]): ProcessFile[] {
  const sorted = [...files].sort(compare);
  const from = predecessors(sorted);
  const placed = new Set<number>();
  const ordered: ProcessFile[] = [];
  sorted.forEach((_, i) => {
    const chain: number[] = [];
    for (let at = i; at >= 0 && !placed.has(at); at = from[at] ?? -1) {
      placed.add(at);
      chain.push(at);
    }
    for (const at of chain.reverse()) ordered.push(sorted[at] as ProcessFile);
  });
  return ordered;
}

function offsetsOf(files: readonly ProcessFile[]): bigint[] {
  const from = predecessors(files);
  const offsets: bigint[] = [];
  files.forEach((file, i) => {
    const parent = from[i] ?? -1;
    const own = file.clock.realtimeOffset;
    const isOwn = parent < 0 || parent >= i || file.clock.isGuess;
    const other = files[parent];
    offsets.push(
      isOwn || other === undefined || other.clock.isGuess ? own : (offsets[parent] ?? own),
    );
  });
  return offsets;
}

function earliest(files: readonly ProcessFile[], offsets: readonly bigint[]): bigint | null {
  let found: bigint | null = null;
  files.forEach((file, i) => {
    const time = file.earliest();
    if (time === null) return;
    const placed = time + (offsets[i] ?? 0n);
    if (found === null || placed < found) found = placed;
  });
  return found;
}

/** Places all files. `files` are in the order of orderProcesses(). */
export function placeAll(
  files: readonly ProcessFile[],
  samplers: readonly ProcessFile[],
  bundle: BundleFacts | null,
): void {
  const offsets = offsetsOf(files);
  const samplerOffsets = samplers.map((sampler) => {
    const i = files.findIndex(
      (file) => file.tables.host === sampler.tables.host && !file.clock.isGuess,
    );
    return i < 0 ? sampler.clock.realtimeOffset : (offsets[i] ?? 0n);
  });
  const importOrigin = bundle?.importOrigin ?? null;
  let origin = importOrigin ?? earliest(files, offsets) ?? earliest(samplers, samplerOffsets) ?? 0n;
  if (origin > TIME_LIMIT) origin = TIME_LIMIT;
  if (origin < -TIME_LIMIT) origin = -TIME_LIMIT;
  // Without bundle.pb nothing tells what time 0 is; the importer puts it at the first event.
  files.forEach((file, i) => {
    if ((bundle === null || importOrigin !== null) && file.isImported) file.placeImported();
    else file.place((offsets[i] ?? 0n) - origin);
  });
  samplers.forEach((file, i) => {
    file.place((samplerOffsets[i] ?? 0n) - origin);
  });
}
