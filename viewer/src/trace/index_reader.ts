// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The indexes of a file, which name its blocks. They only save time: null means that there is none
// to go by, and the caller walks.

import {
  BLOCK_FRONT,
  type Block,
  END_BYTES,
  type End,
  FIRST_BLOCK,
  FRAME_BYTES,
  INDEX,
  isSteppedOver,
  isWithinLimits,
  readEnd,
  viewOf,
} from "./container";
import { crc32c } from "./crc32c";
import { TraceFault } from "./fault";
import type { FileBytes } from "./file_bytes";
import { PbReader, unzigzag } from "./protobuf";
import { decompressFrame } from "./zstd";

const MOST_BLOCKS = 4096;
const MOST_RAW_INDEX = 1 << 20;
const HEADER = 24;
const COLUMNS = 12;

interface Place {
  readonly begin: number;
  readonly end: number;
  readonly previous: number;
  readonly blocks: number;
  readonly raw: number;
}

async function readPlace(file: FileBytes, at: number, limit: number): Promise<Place> {
  if (at < FIRST_BLOCK || at + FRAME_BYTES + HEADER > limit) throw new TraceFault("index outside");
  const bytes = await file.at(at, FRAME_BYTES + HEADER);
  if (bytes === null) throw new TraceFault("index outside");
  const view = viewOf(bytes);
  const size = view.getUint32(4, true);
  if (view.getUint32(0, true) !== INDEX || size < HEADER || size > limit - at - FRAME_BYTES)
    throw new TraceFault("the index is damaged");
  if (crc32c(bytes, 8, 28) !== view.getUint32(28, true))
    throw new TraceFault("the index is damaged");
  const blocks = view.getUint32(16, true);
  const raw = view.getUint32(20, true);
  if (blocks === 0 || blocks > MOST_BLOCKS || raw > MOST_RAW_INDEX)
    throw new TraceFault("the index is beyond the format's limits");
  const end = at + FRAME_BYTES + size;
  return { begin: at, end, previous: Number(view.getBigUint64(8, true)), blocks, raw };
}

/** Follows the indexes back from the last one. Each lies before the one that names it. */
async function findPlaces(file: FileBytes, end: End): Promise<Place[]> {
  if (end.blocks > file.size / BLOCK_FRONT) throw new TraceFault("too many blocks");
  const places: Place[] = [];
  let limit = file.size - END_BYTES;
  let blocks = 0;
  for (let at = end.index; at !== 0; ) {
    const place = await readPlace(file, at, limit);
    blocks += place.blocks;
    if (blocks > end.blocks) throw new TraceFault("too many blocks");
    places.push(place);
    limit = at;
    at = place.previous;
  }
  if (blocks !== end.blocks) throw new TraceFault("too few blocks");
  return places.reverse();
}

async function readColumns(file: FileBytes, place: Place): Promise<bigint[][]> {
  const from = place.begin + FRAME_BYTES + HEADER;
  const frame = await file.at(from, place.end - from);
  if (frame === null) throw new TraceFault("index outside");
  const columns: bigint[][] = Array.from({ length: COLUMNS }, () => []);
  const reader = new PbReader(decompressFrame(frame, place.raw));
  while (reader.next()) {
    const column = columns[reader.number];
    if (column === undefined) continue;
    if (column.length !== 0) throw new TraceFault("a column is there twice");
    reader.bigs(column, place.blocks);
    if (column.length !== place.blocks) throw new TraceFault("a column of another length");
  }
  return columns;
}

async function isAllSteppedOver(file: FileBytes, from: number, until: number): Promise<boolean> {
  let at = from;
  while (at < until) {
    const frame = await file.at(at, FRAME_BYTES);
    if (frame === null) return false;
    const view = viewOf(frame);
    if (!isSteppedOver(view.getUint32(0, true))) return false;
    at += FRAME_BYTES + view.getUint32(4, true);
  }
  return at === until;
}

class IndexWalk {
  readonly blocks: Block[] = [];
  at = FIRST_BLOCK;
  constructor(private readonly file: FileBytes) {}

  async add(place: Place, columns: bigint[][]): Promise<void> {
    const value = (column: number, i: number) => columns[column]?.[i] ?? 0n;
    const signed = (column: number, i: number) => unzigzag(value(column, i));
    let capture = 0n;
    let track = 0n;
    let sequence = 0n;
    let first = 0n;
    for (let i = 0; i < place.blocks; i++) {
      const skipped = Number(value(1, i));
      capture += signed(5, i);
      track += signed(6, i);
      sequence += 1n + signed(8, i);
      first += signed(9, i);
      const block: Block = {
        offset: this.at + skipped + BLOCK_FRONT,
        compressed: Number(BigInt.asUintN(32, value(2, i))),
        raw: Number(BigInt.asUintN(32, value(3, i))),
        kind: Number(BigInt.asUintN(16, value(4, i))),
        capture: Number(BigInt.asUintN(16, capture)),
        track: Number(BigInt.asUintN(32, track)),
        count: Number(BigInt.asUintN(32, value(7, i))),
        sequence: Number(BigInt.asUintN(32, sequence)),
        first: BigInt.asUintN(64, first),
        last: BigInt.asUintN(64, first + value(10, i)),
        dropped: value(11, i),
      };
      if (!isWithinLimits(block)) throw new TraceFault("the index is beyond the format's limits");
      if (block.offset + block.compressed > place.begin)
        throw new TraceFault("the index names blocks outside of the file");
      if (!(await isAllSteppedOver(this.file, this.at, this.at + skipped)))
        throw new TraceFault("the index leaves out bytes of the file");
      this.at = block.offset + block.compressed;
      this.blocks.push(block);
      // As they are stored: differences from a damaged entry must not grow without end.
      capture = BigInt(block.capture);
      track = BigInt(block.track);
      sequence = BigInt(block.sequence);
      first = block.first;
    }
  }
}

/** Reads the blocks from the indexes. Null: there is none, or it is wrong. */
export async function readIndex(
  file: FileBytes,
): Promise<{ blocks: Block[]; exitWay: number } | null> {
  const at = file.size - END_BYTES;
  if (at < FIRST_BLOCK) return null;
  const bytes = await file.at(at, END_BYTES);
  const end = bytes === null ? null : readEnd(bytes);
  if (end === null || end.index === 0) return null;
  try {
    const walk = new IndexWalk(file);
    for (const place of await findPlaces(file, end))
      await walk.add(place, await readColumns(file, place));
    if (!(await isAllSteppedOver(file, walk.at, at))) return null;
    return { blocks: walk.blocks, exitWay: end.exitWay };
  } catch (error) {
    if (error instanceof TraceFault) return null;
    throw error;
  }
}
