// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Entropy codes of zstd (RFC 8878): FSE tables and Huffman tables, and the streams that are read
// from their end. All of it checks where it reads: bytes are hostile.

import { TraceFault } from "./fault";

const BAD = "block does not decompress";

export function bad(): TraceFault {
  return new TraceFault(BAD);
}

/** Returns the place of the highest bit that is set; of 0: -1. */
export function highestBit(value: number): number {
  return 31 - Math.clz32(value);
}

/** The bits of a stream that is read from its end. Behind the beginning are zeros. */
export class BackBits {
  /** Bits that are left. Below 0: more was read than there is. */
  left = 0;
  private bytes: Uint8Array = new Uint8Array(0);
  private view: DataView = new DataView(new ArrayBuffer(0));
  private begin = 0;
  /** The last byte from which four can be read. */
  private lastWord = 0;

  setBytes(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.lastWord = bytes.length - 4;
  }

  /** Begins a stream. Its last byte has the mark of its end. */
  open(begin: number, end: number): void {
    const last = end > begin ? (this.bytes[end - 1] as number) : 0;
    if (last === 0) throw bad();
    this.begin = begin;
    this.left = (end - begin - 1) * 8 + highestBit(last);
  }

  /** Reads up to 25 bits. */
  read(count: number): number {
    this.left -= count;
    return this.peekAt(this.left, count);
  }

  /** Returns `count` bits, up to 25, from a place on. */
  peekAt(place: number, count: number): number {
    if (place < 0) {
      const there = count + place;
      return there <= 0 ? 0 : this.peekAt(0, there) << -place;
    }
    const at = this.begin + (place >> 3);
    const word = at <= this.lastWord ? this.view.getUint32(at, true) : this.slowWord(at);
    return (word >>> (place & 7)) & ((1 << count) - 1);
  }

  private slowWord(at: number): number {
    let word = 0;
    for (let i = 0; i < 4; i++) word |= (this.bytes[at + i] ?? 0) << (8 * i);
    return word >>> 0;
  }

  /** Decodes symbols of a Huffman code until `out` is full from `from` to `to`. */
  readSymbols(table: Huffman, out: Uint8Array, from: number, to: number): void {
    const { entries, bits } = table;
    const mask = (1 << bits) - 1;
    const { view, begin, lastWord } = this;
    let left = this.left;
    let at = from;
    // Two symbols of one word: each has 11 bits at most.
    while (at + 1 < to && left >= 22) {
      const place = left - 22;
      const byte = begin + (place >> 3);
      if (byte > lastWord) break;
      const word = view.getUint32(byte, true) >>> (place & 7);
      const first = entries[(word >>> (22 - bits)) & mask] as number;
      const used = first >>> 8;
      const second = entries[(word >>> (22 - used - bits)) & mask] as number;
      out[at] = first;
      out[at + 1] = second;
      at += 2;
      left -= used + (second >>> 8);
    }
    for (; at < to; at++) {
      const entry = entries[this.peekAt(left - bits, bits)] as number;
      out[at] = entry;
      left -= entry >>> 8;
      if (left < 0) throw bad();
    }
    if (left !== 0) throw bad();
  }
}

/** A table of finite state entropy: a symbol, and how to get to the next state. */
export interface Fse {
  readonly log: number;
  readonly symbol: Uint8Array;
  readonly bits: Uint8Array;
  readonly base: Uint16Array;
}

/** Makes a table of the probabilities of symbols, which add up to 2^log. -1: less than one. */
export function fseOf(probabilities: ArrayLike<number>, count: number, log: number): Fse {
  const size = 1 << log;
  const symbol = new Uint8Array(size);
  const bits = new Uint8Array(size);
  const base = new Uint16Array(size);
  const next = new Uint16Array(count);
  let high = size;
  for (let i = 0; i < count; i++) {
    if (probabilities[i] !== -1) continue;
    symbol[--high] = i;
    next[i] = 1;
  }
  const step = (size >> 1) + (size >> 3) + 3;
  let place = 0;
  for (let i = 0; i < count; i++) {
    const many = probabilities[i] as number;
    if (many <= 0) continue;
    next[i] = many;
    for (let k = 0; k < many; k++) {
      symbol[place] = i;
      do place = (place + step) & (size - 1);
      while (place >= high);
    }
  }
  for (let i = 0; i < size; i++) {
    const which = symbol[i] as number;
    const state = next[which] as number;
    next[which] = state + 1;
    const needed = log - highestBit(state);
    bits[i] = needed;
    base[i] = (state << needed) - size;
  }
  return { log, symbol, bits, base };
}

/** Makes a table in which all is one symbol. */
export function fseOfOne(symbol: number): Fse {
  return {
    log: 0,
    symbol: Uint8Array.of(symbol),
    bits: new Uint8Array(1),
    base: new Uint16Array(1),
  };
}

/** Reads the description of a table. Returns it, and where the next byte is. */
export function readFse(
  bytes: Uint8Array,
  from: number,
  end: number,
  mostLog: number,
  mostSymbols: number,
): { table: Fse; at: number } {
  if (from >= end) throw bad();
  const log = ((bytes[from] as number) & 15) + 5;
  if (log > mostLog) throw bad();
  let bit = from * 8 + 4;
  const read = (count: number) => {
    const at = bit >> 3;
    const word = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
    bit += count;
    if (bit > end * 8) throw bad();
    return (word >> ((bit - count) & 7)) & ((1 << count) - 1);
  };
  const probabilities: number[] = [];
  let remaining = 1 << log;
  while (remaining > 0) {
    if (probabilities.length >= mostSymbols) throw bad();
    const count = highestBit(remaining + 1) + 1;
    // The last bit is there only if the value needs it.
    const isAtEnd = bit + count > end * 8;
    let value = read(isAtEnd ? count - 1 : count);
    const low = (1 << (count - 1)) - 1;
    const few = (1 << count) - 2 - remaining;
    if ((value & low) < few) {
      value &= low;
      if (!isAtEnd) bit--;
    } else {
      if (isAtEnd) throw bad();
      if (value > low) value -= few;
    }
    const probability = value - 1;
    remaining -= Math.abs(probability);
    probabilities.push(probability);
    if (probability !== 0) continue;
    for (let repeat = 3; repeat === 3; ) {
      repeat = read(2);
      if (probabilities.length + repeat > mostSymbols) throw bad();
      for (let i = 0; i < repeat; i++) probabilities.push(0);
    }
  }
  if (remaining !== 0) throw bad();
  return { table: fseOf(probabilities, probabilities.length, log), at: (bit + 7) >> 3 };
}

/** By the next bits: a symbol, and << 8 the bits of its code. */
export interface Huffman {
  readonly bits: number;
  readonly entries: Uint16Array;
}

const MOST_HUFFMAN_BITS = 11;

function huffmanOf(weights: Uint8Array, told: number): Huffman {
  let sum = 0;
  for (let i = 0; i < told; i++) {
    const weight = weights[i] as number;
    if (weight > MOST_HUFFMAN_BITS) throw bad();
    if (weight !== 0) sum += 1 << (weight - 1);
  }
  const bits = highestBit(sum) + 1;
  const left = (1 << bits) - sum;
  if (sum === 0 || bits > MOST_HUFFMAN_BITS || (left & (left - 1)) !== 0) throw bad();
  weights[told] = highestBit(left) + 1;
  const entries = new Uint16Array(1 << bits);
  let place = 0;
  // The longest codes stand first.
  for (let weight = 1; weight <= bits; weight++) {
    const many = 1 << (weight - 1);
    for (let symbol = 0; symbol <= told; symbol++) {
      if (weights[symbol] !== weight) continue;
      if (place + many > entries.length) throw bad();
      entries.fill(symbol | ((bits + 1 - weight) << 8), place, place + many);
      place += many;
    }
  }
  if (place !== entries.length) throw bad();
  return { bits, entries };
}

/** Reads the description of a Huffman code. */
export function readHuffman(
  bytes: Uint8Array,
  stream: BackBits,
  from: number,
  end: number,
): { table: Huffman; at: number } {
  if (from >= end) throw bad();
  const head = bytes[from] as number;
  const weights = new Uint8Array(257);
  let told = 0;
  if (head >= 128) {
    told = head - 127;
    const at = from + 1 + ((told + 1) >> 1);
    if (at > end) throw bad();
    for (let i = 0; i < told; i++) {
      const byte = bytes[from + 1 + (i >> 1)] as number;
      weights[i] = (i & 1) === 0 ? byte >> 4 : byte & 15;
    }
    return { table: huffmanOf(weights, told), at };
  }
  const at = from + 1 + head;
  if (at > end) throw bad();
  const fse = readFse(bytes, from + 1, at, 6, 16);
  stream.open(fse.at, at);
  const { log, symbol, bits, base } = fse.table;
  const states = [stream.read(log), stream.read(log)];
  if (stream.left < 0) throw bad();
  for (let which = 0; ; which ^= 1) {
    const state = states[which] as number;
    if (told >= 255) throw bad();
    weights[told++] = symbol[state] as number;
    states[which] = (base[state] as number) + stream.read(bits[state] as number);
    if (stream.left >= 0) continue;
    if (told >= 255) throw bad();
    weights[told++] = symbol[states[which ^ 1] as number] as number;
    break;
  }
  return { table: huffmanOf(weights, told), at };
}
