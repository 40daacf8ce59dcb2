// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One file of a bundle: its blocks, its tables and its clocks. Rows are decoded by rows.ts. The
// conversion of times follows analysis/read/trace_file.cc.

import { isThere, type TraceFile } from "../data/source";
import { openChunk } from "./chunk";
import { ClockMap, cuptiPoints, type Point } from "./clock";
import { BLOCK_FRONT, type Block, type FileHeader, readBlockFront, scanFile } from "./container";
import { scalarOf } from "./exact";
import { TraceFault } from "./fault";
import { FileBytes, release } from "./file_bytes";
import { entryOf, kindOf, type TableName, tableOf } from "./layout";
import { Tables } from "./tables";
import { decompressFrame } from "./zstd";

/** The tick of time 0 in a trace that was made of another tool's file. */
const IMPORTED_ZERO = 1n << 50n;
const LONGEST_LINE = 1n << 50n;
const MOST_SHIFT = 32;
const MOST_TABLE_BYTES = 32 << 20;
/** No writer packs more rows into a byte. Keeps a small file that lies from taking hours. */
const MOST_ROWS_PER_BYTE = 1024;
const ROWS_OF_ANY_FILE = 1 << 20;
/** A row has so many bytes in each column at most, and in its rounding errors. */
const MOST_COLUMN_BYTES = 10;
const MOST_ERROR_BYTES = 20;
const CHUNK_BYTES = 4096;

export class ProcessFile {
  readonly tables = new Tables();
  readonly faults: string[] = [];
  /** Blocks of rows of kinds that this page knows. */
  readonly rowBlocks: Block[] = [];
  header: FileHeader = { pid: 0, startId: 0n, realtime: 0n, ticksKind: 0 };
  exitWay = 0;
  clock = new ClockMap();
  cuptiClock = new ClockMap();
  private readonly bytes: FileBytes;
  private mask = 0n;
  private isByIndex = false;

  constructor(readonly file: TraceFile) {
    this.bytes = new FileBytes(file);
  }

  /** Returns whether the rows of a block are left out of the page. */
  isAbsent(block: Block): boolean {
    return !isThere(this.file, block.offset - BLOCK_FRONT, BLOCK_FRONT + block.compressed);
  }
  /** Returns whether rows of some tables are left out. */
  hasAbsent(...tables: readonly TableName[]): boolean {
    const kinds = tables.map(kindOf);
    return this.rowBlocks.some((block) => kinds.includes(block.kind) && this.isAbsent(block));
  }
  /** Blocks of rows that can be decoded. */
  get presentBlocks(): Block[] {
    return this.rowBlocks.filter((block) => !this.isAbsent(block));
  }

  get isImported(): boolean {
    return this.tables.importedFrom !== "";
  }
  get isSampler(): boolean {
    return this.tables.isSampler || this.file.name.startsWith("gpu-");
  }
  get pid(): number {
    return this.tables.pid || this.header.pid;
  }

  addFault(error: unknown): void {
    if (!(error instanceof TraceFault)) throw error;
    if (this.faults.length < 100)
      this.faults.push(`${this.file.name}, byte ${error.offset}: ${error.what}`);
  }

  /** Reads all but rows. Throws a TraceFault if the file is no trace. */
  async open(): Promise<void> {
    const scan = await scanFile(this.bytes);
    this.header = scan.header;
    this.exitWay = scan.exitWay;
    this.isByIndex = scan.isByIndex;
    for (const fault of scan.faults) this.addFault(fault);
    for (const block of scan.blocks)
      if (entryOf(block.kind) !== undefined) await this.readTable(block);
    this.takeRows(scan.blocks);
    await this.findQuantum();
    this.buildClocks();
  }

  /** Takes the blocks of rows that a file of this size can have. */
  private takeRows(blocks: readonly Block[]): void {
    let left = ROWS_OF_ANY_FILE + MOST_ROWS_PER_BYTE * this.file.size;
    for (const block of blocks) {
      const table = tableOf(block.kind);
      if (table === undefined || block.count === 0) continue;
      left -= block.count;
      const most = MOST_COLUMN_BYTES * table.columns.length + MOST_ERROR_BYTES;
      // Columns that are younger than this page take bytes, too.
      const isLie = block.raw > 2 * most * block.count + CHUNK_BYTES;
      if (left >= 0 && !isLie) this.rowBlocks.push(block);
      else this.addFault(new TraceFault("more rows or bytes than there can be", block.offset));
    }
  }

  private async readTable(block: Block): Promise<void> {
    try {
      if (block.raw > MOST_TABLE_BYTES) throw new TraceFault("too large for a table");
      this.tables.add(block, await this.decompress(block));
    } catch (error) {
      this.addFault(error instanceof TraceFault ? new TraceFault(error.what, block.offset) : error);
    }
  }

  /** Returns the content of a block. Throws a TraceFault. */
  async decompress(block: Block): Promise<Uint8Array> {
    const from = block.offset - BLOCK_FRONT;
    let bytes: Uint8Array;
    try {
      bytes = await this.file.read(from, BLOCK_FRONT + block.compressed);
    } catch (error) {
      const why = error instanceof Error ? error.message : "failed";
      throw new TraceFault(`block cannot be read: ${why}`, block.offset);
    }
    if (bytes.length !== BLOCK_FRONT + block.compressed)
      throw new TraceFault("block cut while it was read", block.offset);
    if (this.isByIndex) checkIndexed(bytes, block, from);
    try {
      const message = decompressFrame(bytes.subarray(BLOCK_FRONT), block.raw);
      release(bytes);
      return message;
    } catch (error) {
      throw error instanceof TraceFault ? new TraceFault(error.what, block.offset) : error;
    }
  }

  /** Finds the bits that times of rows lack: all chunks of a file share their time shift. */
  private async findQuantum(): Promise<void> {
    for (const block of this.presentBlocks) {
      if (tableOf(block.kind)?.isCupti === true) continue;
      try {
        const shift = scalarOf(openChunk(await this.decompress(block)), 5) ?? 0;
        this.mask = (1n << BigInt(Math.min(shift, MOST_SHIFT))) - 1n;
        return;
      } catch (error) {
        if (!(error instanceof TraceFault)) throw error;
      }
    }
  }

  private asInRows(block: Block, ticks: bigint): bigint {
    return tableOf(block.kind)?.isCupti === true ? ticks : ticks & ~this.mask;
  }

  clockOf(kind: number): ClockMap {
    return tableOf(kind)?.isCupti === true ? this.cuptiClock : this.clock;
  }

  private buildClocks(): void {
    if (this.isImported) {
      this.buildImported();
      return;
    }
    let first = (1n << 64n) - 1n;
    for (const block of this.rowBlocks) {
      const time = this.asInRows(block, block.first);
      if (tableOf(block.kind)?.isCupti !== true && time < first) first = time;
    }
    const { tables, header } = this;
    const kind = tables.clockKind || header.ticksKind;
    const rate = tables.ticksPerSecond;
    this.clock = ClockMap.ofSnapshots(tables.snapshots, kind === 1, rate, first, header.realtime);
    if (this.clock.isGuess && this.rowBlocks.length !== 0)
      this.addFault(new TraceFault("no usable clock snapshot: times are right only within it"));
    const readings = tables.cuptiSnapshots.map((each) => ({
      cupti: each.cupti,
      ns: this.clock.convert(each.ticks),
    }));
    const snapshot = tables.snapshots[0];
    if (readings.length === 0) {
      readings.push(
        snapshot === undefined
          ? { cupti: header.realtime, ns: BigInt.asIntN(64, header.realtime) }
          : { cupti: snapshot.realtime, ns: this.clock.convert(snapshot.ticks) },
      );
    }
    this.cuptiClock = ClockMap.ofPoints(cuptiPoints(readings));
  }

  /** An imported file has one clock. Its times may lie years apart. */
  private buildImported(): void {
    let last = 0n;
    for (const block of this.rowBlocks) if (block.last > last) last = block.last;
    const until = last < 1n << 62n ? last : 1n << 62n;
    const points: Point[] = [];
    let at = IMPORTED_ZERO;
    do {
      points.push({ ticks: at, ns: at, nsPerTick: 1 });
      at += LONGEST_LINE;
    } while (at <= until);
    this.clock = ClockMap.ofPoints(points);
    this.cuptiClock = this.clock;
  }

  /** Returns the range of a block on its clock. After place(): in the bundle's time. */
  rangeOf(block: Block): [bigint, bigint] {
    const clock = this.clockOf(block.kind);
    const first = clock.convert(this.asInRows(block, block.first));
    const last = clock.convert(this.asInRows(block, block.last));
    return [first, later(first, last)];
  }

  /** Returns the earliest moment of the process; null: there is none. */
  earliest(): bigint | null {
    let earliest: bigint | null = null;
    const note = (time: bigint) => {
      if (earliest === null || time < earliest) earliest = time;
    };
    for (const block of this.rowBlocks) note(this.rangeOf(block)[0]);
    const { marks, keptFrom } = this.tables;
    for (const mark of marks)
      if (mark.isStart) note(this.clock.convert(later(mark.ticks, keptFrom)));
    return earliest;
  }

  place(shift: bigint): void {
    this.clock.setShift(shift);
    this.cuptiClock.setShift(shift);
  }
  placeImported(): void {
    this.place(-IMPORTED_ZERO);
  }
}

function later(x: bigint, y: bigint): bigint {
  if (x > y) return x;
  return y;
}

/** A block that was found by an index must have the header that the index tells of. */
function checkIndexed(bytes: Uint8Array, told: Block, at: number): void {
  const found = readBlockFront(bytes, at);
  if (found === null) throw new TraceFault("header checksum differs", told.offset);
  const keys = Object.keys(found) as (keyof Block)[];
  if (keys.some((key) => found[key] !== told[key]))
    throw new TraceFault("the index says something else of this block", told.offset);
}
