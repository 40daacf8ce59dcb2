// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Decodes one zstd frame (RFC 8878) into memory of a known size. Why not a library: those for the
// page trust the frame, and work for hours on some bytes that a stranger wrote. Here each step makes
// output, and output is bounded. The frame's checksum is not checked.

import {
  BackBits,
  bad,
  type Fse,
  fseOf,
  fseOfOne,
  type Huffman,
  readFse,
  readHuffman,
} from "./zstd_entropy";

const MOST_BLOCK = 128 << 10;

const LITERAL_DEFAULT = [
  4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1,
  -1, -1, -1, -1,
];
const OFFSET_DEFAULT = [
  1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1,
];
const MATCH_DEFAULT = [
  1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
];
const LITERAL_BITS = Uint8Array.of(
  ...[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  ...[1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
);
const MATCH_BITS = Uint8Array.of(
  ...new Array<number>(32).fill(0),
  ...[1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
);

/** Returns the least value of each code: each begins where the one before ends. */
function basesOf(bits: Uint8Array, first: number): Uint32Array {
  let base = first;
  return Uint32Array.from(bits, (count) => {
    const own = base;
    base += 1 << count;
    return own;
  });
}

const LITERAL_BASE = basesOf(LITERAL_BITS, 0);
const MATCH_BASE = basesOf(MATCH_BITS, 3);
/** Longer offsets than the largest content do not exist. */
const MOST_OFFSET_CODE = 27;

const PREDEFINED: readonly Fse[] = [
  fseOf(LITERAL_DEFAULT, LITERAL_DEFAULT.length, 6),
  fseOf(OFFSET_DEFAULT, OFFSET_DEFAULT.length, 5),
  fseOf(MATCH_DEFAULT, MATCH_DEFAULT.length, 6),
];
const MOST_LOG = [9, 8, 9];
const SYMBOLS = [LITERAL_BITS.length, 32, MATCH_BITS.length];

/** Decoders are made once: their memory serves frame after frame. */
export class FrameDecoder {
  private readonly stream = new BackBits();
  private readonly literals = new Uint8Array(MOST_BLOCK);
  private literalCount = 0;
  private huffman: Huffman | null = null;
  private tables: (Fse | null)[] = [null, null, null];
  private offsets = [1, 4, 8];
  private bytes: Uint8Array = new Uint8Array(0);
  private out: Uint8Array = new Uint8Array(0);
  private filled = 0;

  /** Decodes the blocks of a frame, which begin at `from`, until `out` is full. */
  decode(frame: Uint8Array, from: number, out: Uint8Array): void {
    this.bytes = frame;
    this.stream.setBytes(frame);
    this.out = out;
    this.filled = 0;
    this.huffman = null;
    this.tables = [null, null, null];
    this.offsets = [1, 4, 8];
    for (let at = from; ; ) {
      if (at + 3 > frame.length) throw bad();
      const head = this.number(at, 3);
      const type = (head >> 1) & 3;
      const size = head >> 3;
      at += 3;
      const end = at + (type === 1 ? 1 : size);
      if (end > frame.length) throw bad();
      if (type === 2) this.compressed(at, end);
      else this.plain(type, size, at);
      at = end;
      if ((head & 1) === 1) break;
    }
    if (this.filled !== out.length) throw bad();
  }

  private number(at: number, bytes: number): number {
    let value = 0;
    for (let i = bytes - 1; i >= 0; i--) value = value * 256 + (this.bytes[at + i] ?? 0);
    return value;
  }

  private plain(type: number, size: number, at: number): void {
    if (type === 3 || size > this.out.length - this.filled) throw bad();
    if (type === 0) this.out.set(this.bytes.subarray(at, at + size), this.filled);
    else this.out.fill(this.bytes[at] as number, this.filled, this.filled + size);
    this.filled += size;
  }

  private compressed(from: number, end: number): void {
    const at = this.readLiterals(from, end);
    this.readSequences(at, end);
  }

  /** Reads the literals of a block. Returns where its sequences begin. */
  private readLiterals(from: number, end: number): number {
    if (end - from < 2) throw bad();
    const first = this.bytes[from] as number;
    const type = first & 3;
    const format = (first >> 2) & 3;
    if (type < 2) {
      const headBytes = format === 1 ? 2 : format === 3 ? 3 : 1;
      const head = this.number(from, headBytes);
      const size = head >> (headBytes === 1 ? 3 : 4);
      const at = from + headBytes;
      const bytes = type === 0 ? size : 1;
      if (size > MOST_BLOCK || bytes > end - at) throw bad();
      if (type === 0) this.literals.set(this.bytes.subarray(at, at + size));
      else this.literals.fill(this.bytes[at] as number, 0, size);
      this.literalCount = size;
      return at + bytes;
    }
    return this.readHuffmanLiterals(type, format, from, end);
  }

  private readHuffmanLiterals(type: number, format: number, from: number, end: number): number {
    const sizeBits = format < 2 ? 10 : format === 2 ? 14 : 18;
    const headBytes = (4 + 2 * sizeBits) / 8;
    const head = Math.floor(this.number(from, headBytes) / 16);
    const size = head % 2 ** sizeBits;
    const packed = Math.floor(head / 2 ** sizeBits);
    let at = from + headBytes;
    const stop = at + packed;
    if (size > MOST_BLOCK || stop > end) throw bad();
    if (type === 2) {
      const read = readHuffman(this.bytes, this.stream, at, stop);
      this.huffman = read.table;
      at = read.at;
    }
    const table = this.huffman;
    if (table === null) throw bad();
    this.literalCount = size;
    if (format === 0) {
      this.symbols(table, at, stop, 0, size);
      return stop;
    }
    const part = (size + 3) >> 2;
    let begin = at + 6;
    if (begin > stop || part * 3 > size) throw bad();
    for (let i = 0; i < 4; i++) {
      const until = i === 3 ? stop : begin + this.number(at + 2 * i, 2);
      if (until > stop) throw bad();
      this.symbols(table, begin, until, i * part, i === 3 ? size : (i + 1) * part);
      begin = until;
    }
    return stop;
  }

  private symbols(table: Huffman, begin: number, end: number, from: number, to: number): void {
    this.stream.open(begin, end);
    this.stream.readSymbols(table, this.literals, from, to);
  }

  private readSequences(from: number, end: number): void {
    if (from >= end) throw bad();
    let at = from;
    let count = this.bytes[at++] as number;
    if (count >= 128) {
      if (at + (count === 255 ? 2 : 1) > end) throw bad();
      if (count === 255) {
        count = this.number(at, 2) + 0x7f00;
        at += 2;
      } else {
        count = ((count - 128) << 8) | (this.bytes[at++] as number);
      }
    }
    if (count === 0) {
      if (at !== end) throw bad();
      this.copyLiterals(0);
      return;
    }
    if (at >= end) throw bad();
    const modes = this.bytes[at++] as number;
    if ((modes & 3) !== 0) throw bad();
    for (let i = 0; i < 3; i++) at = this.readTable(i, (modes >> (6 - 2 * i)) & 3, at, end);
    this.stream.open(at, end);
    this.copyLiterals(this.runSequences(count));
  }

  private readTable(which: number, mode: number, at: number, end: number): number {
    const symbols = SYMBOLS[which] as number;
    if (mode === 0) {
      this.tables[which] = PREDEFINED[which] as Fse;
    } else if (mode === 1) {
      const symbol = at < end ? (this.bytes[at] as number) : symbols;
      if (symbol >= symbols) throw bad();
      this.tables[which] = fseOfOne(symbol);
      return at + 1;
    } else if (mode === 2) {
      const read = readFse(this.bytes, at, end, MOST_LOG[which] as number, symbols);
      this.tables[which] = read.table;
      return read.at;
    } else if (this.tables[which] === null) {
      throw bad();
    }
    return at;
  }

  /** Copies the literals that no sequence took. */
  private copyLiterals(from: number): void {
    const count = this.literalCount - from;
    if (count > this.out.length - this.filled) throw bad();
    this.out.set(this.literals.subarray(from, this.literalCount), this.filled);
    this.filled += count;
  }

  /** Runs the sequences of a block. Returns how many literals they took. */
  private runSequences(count: number): number {
    const { stream, literals, out, literalCount } = this;
    const [literalTable, offsetTable, matchTable] = this.tables;
    if (literalTable == null || offsetTable == null || matchTable == null) throw bad();
    let literalState = stream.read(literalTable.log);
    let offsetState = stream.read(offsetTable.log);
    let matchState = stream.read(matchTable.log);
    let [recent, second, third] = this.offsets as [number, number, number];
    let filled = this.filled;
    let taken = 0;
    for (let i = 0; i < count; i++) {
      const offsetCode = offsetTable.symbol[offsetState] as number;
      const matchCode = matchTable.symbol[matchState] as number;
      const literalCode = literalTable.symbol[literalState] as number;
      if (offsetCode > MOST_OFFSET_CODE) throw bad();
      let value = 2 ** offsetCode;
      if (offsetCode > 24) {
        const high = stream.read(offsetCode - 16);
        value += high * 65_536 + stream.read(16);
      } else {
        value += stream.read(offsetCode);
      }
      const match =
        (MATCH_BASE[matchCode] as number) + stream.read(MATCH_BITS[matchCode] as number);
      const literal =
        (LITERAL_BASE[literalCode] as number) + stream.read(LITERAL_BITS[literalCode] as number);
      if (i + 1 < count) {
        literalState =
          (literalTable.base[literalState] as number) +
          stream.read(literalTable.bits[literalState] as number);
        matchState =
          (matchTable.base[matchState] as number) +
          stream.read(matchTable.bits[matchState] as number);
        offsetState =
          (offsetTable.base[offsetState] as number) +
          stream.read(offsetTable.bits[offsetState] as number);
      }
      let offset: number;
      if (value > 3) {
        offset = value - 3;
        third = second;
        second = recent;
        recent = offset;
      } else {
        const place = value - (literal === 0 ? 0 : 1);
        offset = place === 0 ? recent : place === 1 ? second : place === 2 ? third : recent - 1;
        if (place > 1) third = second;
        if (place > 0) second = recent;
        recent = offset;
      }
      if (stream.left < 0 || literal > literalCount - taken) throw bad();
      if (literal + match > out.length - filled) throw bad();
      if (literal > 64) {
        out.set(literals.subarray(taken, taken + literal), filled);
      } else {
        for (let k = 0; k < literal; k++) out[filled + k] = literals[taken + k] as number;
      }
      filled += literal;
      taken += literal;
      if (offset <= 0 || offset > filled) throw bad();
      const source = filled - offset;
      if (match > 64 && offset >= match) {
        out.copyWithin(filled, source, source + match);
      } else {
        for (let k = 0; k < match; k++) out[filled + k] = out[source + k] as number;
      }
      filled += match;
    }
    if (stream.left !== 0) throw bad();
    this.offsets = [recent, second, third];
    this.filled = filled;
    return taken;
  }
}
