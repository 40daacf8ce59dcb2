// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How a .gpt file is framed: its headers, its indexes, and the walk over block headers if there is
// no index to go by. Nothing is decompressed but indexes. See proto/FORMAT.md, "Container".

import { crc32c } from "./crc32c";
import { TraceFault } from "./fault";
import type { FileBytes } from "./file_bytes";
import { readIndex } from "./index_reader";

export const FILE_HEADER = 0x184d2a50;
export const BLOCK_HEADER = 0x184d2a51;
export const INDEX = 0x184d2a52;
export const END_MARKER = 0x184d2a53;
export const FRAME_BYTES = 8;
export const FIRST_BLOCK = FRAME_BYTES + 48;
export const BLOCK_FRONT = FRAME_BYTES + 64;
export const END_BYTES = FRAME_BYTES + 40;
const MOST_BLOCK_BYTES = 64 << 20;
export const MOST_ROWS = 1 << 20;
const MOST_FAULTS = 100;
/** A file made for it could have the walk return again and again. */
const MOST_TAKEN_BACK = 1000;

export interface Block {
  /** Place of the zstd frame in the file. */
  readonly offset: number;
  readonly compressed: number;
  readonly raw: number;
  readonly kind: number;
  readonly capture: number;
  readonly track: number;
  readonly count: number;
  readonly sequence: number;
  /** In the unit of the kind's clock. */
  readonly first: bigint;
  readonly last: bigint;
  readonly dropped: bigint;
}

export interface FileHeader {
  readonly pid: number;
  readonly startId: bigint;
  readonly realtime: bigint;
  readonly ticksKind: number;
}

export interface Scan {
  readonly header: FileHeader;
  readonly blocks: Block[];
  readonly faults: TraceFault[];
  readonly exitWay: number;
  readonly isByIndex: boolean;
}

export function isWithinLimits(block: Block): boolean {
  return (
    block.compressed <= MOST_BLOCK_BYTES &&
    block.raw <= MOST_BLOCK_BYTES &&
    block.count <= MOST_ROWS &&
    block.first <= block.last
  );
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Returns whether a reader steps over a skippable frame with this magic. */
export function isSteppedOver(magic: number): boolean {
  return (
    magic >>> 4 === FILE_HEADER >>> 4 &&
    magic !== FILE_HEADER &&
    magic !== BLOCK_HEADER &&
    magic !== END_MARKER
  );
}

/** Reads a block header with its frame. Null: it is damaged. */
export function readBlockFront(bytes: Uint8Array, at: number): Block | null {
  const view = viewOf(bytes);
  if (view.getUint32(0, true) !== BLOCK_HEADER) return null;
  if (crc32c(bytes, 8, 68) !== view.getUint32(68, true)) return null;
  return {
    offset: at + BLOCK_FRONT,
    compressed: view.getUint32(8, true),
    raw: view.getUint32(12, true),
    kind: view.getUint16(16, true),
    capture: view.getUint16(18, true),
    track: view.getUint32(20, true),
    count: view.getUint32(24, true),
    sequence: view.getUint32(28, true),
    first: view.getBigUint64(32, true),
    last: view.getBigUint64(40, true),
    dropped: view.getBigUint64(48, true),
  };
}

const MAGIC = [0x67, 0x70, 0x75, 0x70, 0x72, 0x6f, 0x66, 0x0a];

async function readHeader(file: FileBytes): Promise<FileHeader> {
  const bytes = await file.at(0, FIRST_BLOCK);
  if (bytes === null) throw new TraceFault("not a gpuprof trace: shorter than its header");
  if (MAGIC.some((byte, i) => bytes[FRAME_BYTES + i] !== byte))
    throw new TraceFault("not a gpuprof trace: its first bytes are others");
  const view = viewOf(bytes);
  if (crc32c(bytes, 8, 52) !== view.getUint32(52, true))
    throw new TraceFault("the file's header is damaged");
  const major = view.getUint16(16, true);
  const minor = view.getUint16(18, true);
  if (major !== 1) throw new TraceFault(`written in format ${major}.${minor}; this page reads 1.x`);
  if (view.getBigUint64(24, true) !== 0n)
    throw new TraceFault("uses features that this page does not know: use a newer gpuprof");
  return {
    pid: view.getInt32(20, true),
    startId: view.getBigUint64(32, true),
    realtime: view.getBigUint64(40, true),
    ticksKind: view.getUint32(48, true),
  };
}

/** Walks from header to header. What is damaged is stepped over. */
class Walk {
  readonly blocks: Block[] = [];
  readonly faults: TraceFault[] = [];
  exitWay = 0;
  private at = FIRST_BLOCK;
  private takenBack = 0;

  constructor(private readonly file: FileBytes) {}

  async run(): Promise<void> {
    for (;;) {
      while (this.at < this.file.size && (await this.element()));
      if (await this.takeBack()) continue;
      if (this.at >= this.file.size) return;
      const next = await this.findWhole(this.at + 1);
      if (next < 0) return;
      this.at = next;
    }
  }

  private fault(what: string): false {
    if (this.faults.length < MOST_FAULTS) this.faults.push(new TraceFault(what, this.at));
    return false;
  }

  private async element(): Promise<boolean> {
    const frame = await this.file.at(this.at, FRAME_BYTES);
    if (frame === null) return this.fault("cut inside a header");
    const magic = viewOf(frame).getUint32(0, true);
    const size = viewOf(frame).getUint32(4, true);
    if (magic === BLOCK_HEADER) return this.block();
    if (magic === END_MARKER) return this.end();
    if (!isSteppedOver(magic)) return this.fault("no block header where one should be");
    if (size > this.file.size - this.at - FRAME_BYTES) return this.fault("cut inside a header");
    this.at += FRAME_BYTES + size;
    return true;
  }

  private async block(): Promise<boolean> {
    const bytes = await this.file.at(this.at, BLOCK_FRONT);
    if (bytes === null) return this.fault("cut inside a header");
    const block = readBlockFront(bytes, this.at);
    if (block === null) return this.fault("header checksum differs");
    const there = this.file.size - block.offset;
    if (block.compressed > there)
      return this.fault(`block cut: ${there} of its ${block.compressed} bytes are there`);
    if (!isWithinLimits(block)) return this.fault("block header beyond the format's limits");
    const last = this.blocks[this.blocks.length - 1];
    const expected = last === undefined ? 0 : last.sequence + 1;
    if (block.sequence !== expected)
      this.fault(`block ${expected} was expected, block ${block.sequence} found: bytes were lost`);
    this.blocks.push(block);
    this.at = block.offset + block.compressed;
    return true;
  }

  private async end(): Promise<boolean> {
    const bytes = await this.file.at(this.at, END_BYTES);
    if (bytes === null) return this.fault("cut inside a header");
    const end = readEnd(bytes);
    if (end === null) return this.fault("header checksum differs");
    if (end.blocks !== this.blocks.length)
      this.fault(`the end marker counts ${end.blocks} blocks, ${this.blocks.length} are there`);
    this.exitWay = end.exitWay;
    this.at += END_BYTES;
    if (this.at !== this.file.size) this.fault("bytes behind the end marker");
    return true;
  }

  /** Goes back before a last block that lost bytes: the next block begins inside its body. */
  private async takeBack(): Promise<boolean> {
    const last = this.blocks[this.blocks.length - 1];
    if (last === undefined || this.takenBack >= MOST_TAKEN_BACK) return false;
    const end = last.offset + last.compressed;
    if (end !== this.at) return false;
    const inside = await this.findWhole(last.offset, end);
    if (inside < 0) return false;
    this.takenBack++;
    this.blocks.pop();
    this.at = last.offset - BLOCK_FRONT;
    this.fault("block cut: the next one begins inside it");
    this.at = inside;
    return true;
  }

  /** Returns the place of the next block or end marker; -1: there is none. */
  private async findWhole(from: number, limit = this.file.size): Promise<number> {
    const step = 64 << 10;
    for (let begin = from; begin < limit; begin += step) {
      const length = Math.min(step + BLOCK_FRONT, this.file.size - begin);
      const read = await this.file.at(begin, length);
      if (read === null) return -1;
      const bytes = new Uint8Array(read);
      const stop = Math.min(step, bytes.length - FRAME_BYTES, limit - begin);
      for (let i = bytes.indexOf(0x2a, 1); i > 0 && i - 1 < stop; i = bytes.indexOf(0x2a, i + 1)) {
        if (isWhole(bytes, i - 1, begin, this.file.size)) return begin + i - 1;
      }
    }
    return -1;
  }
}

function isWhole(bytes: Uint8Array, i: number, begin: number, size: number): boolean {
  if (bytes[i + 2] !== 0x4d || bytes[i + 3] !== 0x18) return false;
  if (bytes[i] === (BLOCK_HEADER & 0xff) && i + BLOCK_FRONT <= bytes.length) {
    const block = readBlockFront(bytes.subarray(i, i + BLOCK_FRONT), begin + i);
    return block !== null && isWithinLimits(block) && block.offset + block.compressed <= size;
  }
  if (bytes[i] === (END_MARKER & 0xff) && i + END_BYTES <= bytes.length)
    return readEnd(bytes.subarray(i, i + END_BYTES)) !== null;
  return false;
}

export interface End {
  readonly blocks: number;
  readonly index: number;
  readonly exitWay: number;
}

/** Reads an end marker with its frame. Null: it is damaged. */
export function readEnd(bytes: Uint8Array): End | null {
  const view = viewOf(bytes);
  if (view.getUint32(0, true) !== END_MARKER || view.getUint32(4, true) !== 40) return null;
  if (crc32c(bytes, 8, 44) !== view.getUint32(44, true)) return null;
  return {
    blocks: Number(view.getBigUint64(8, true)),
    index: Number(view.getBigUint64(24, true)),
    exitWay: view.getUint32(32, true),
  };
}

/** Finds the blocks of a file: by its index, or by a walk. */
export async function scanFile(file: FileBytes): Promise<Scan> {
  const header = await readHeader(file);
  const indexed = await readIndex(file);
  if (indexed !== null) {
    const faults: TraceFault[] = [];
    indexed.blocks.forEach((block, i) => {
      const before = indexed.blocks[i - 1];
      if (block.sequence !== (before === undefined ? 0 : before.sequence + 1))
        faults.push(new TraceFault("bytes were lost before this block", block.offset));
    });
    return { header, faults: faults.slice(0, MOST_FAULTS), isByIndex: true, ...indexed };
  }
  const walk = new Walk(file);
  await walk.run();
  const { blocks, faults, exitWay } = walk;
  return { header, blocks, faults, exitWay, isByIndex: false };
}
