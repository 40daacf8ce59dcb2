// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AskRange, fileOfStretches, LinkedFiles, openFiles, Unreachable } from "./files";

const ADDRESS = "https://host/run1/p1-1.gpt";

describe("a file that the page has", () => {
  it("reads its stretches, and 0 between them", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 80 }),
        fc.array(fc.nat(80), { maxLength: 8 }),
        fc.nat(),
        fc.nat(),
        (all, cuts, a, b) => {
          const borders = [...new Set(cuts.map((cut) => cut % (all.length + 1)))].sort(
            (x, y) => x - y,
          );
          const parts = borders.flatMap((from, i) => {
            const to = borders[i + 1];
            return i % 2 === 0 && to !== undefined ? [{ from, to }] : [];
          });
          const stretches = parts.map(({ from, to }) => ({
            offset: from,
            bytes: all.slice(from, to),
          }));
          const begin = a % (all.length + 1);
          const length = b % (all.length - begin + 1);
          const isIn = (place: number) => parts.some(({ from, to }) => from <= place && place < to);
          const expected = all.map((byte, place) => (isIn(place) ? byte : 0));
          const file = fileOfStretches("p1-1.gpt", all.length, stretches);
          expect(file.read(begin, length)).toEqual(expected.slice(begin, begin + length));
        },
      ),
    );
  });
});

describe("a file with a web server", () => {
  const SIZE = 9 << 20;
  const ALL = new Uint8Array(SIZE).map((_, i) => i % 251);

  /** A server with the file. It notes what was asked. */
  function ranged() {
    const asked: number[][] = [];
    const ask: AskRange = (_, offset, length) => {
      asked.push([offset, length]);
      return { status: 206, bytes: ALL.slice(offset, offset + length), size: SIZE };
    };
    return { ask, asked };
  }
  /** Compares bytes. `toEqual` takes 20 s for 5 MiB, and vitest waits no longer than 60 for a worker. */
  const areSame = (one: Uint8Array, other: Uint8Array) =>
    one.length === other.length && one.every((byte, place) => byte === other[place]);
  const open = (ask: AskRange, size = SIZE) =>
    new LinkedFiles(ask).file({ path: "p1-1.gpt", size, at: ADDRESS });

  it("is asked for in large pieces", () => {
    const { ask, asked } = ranged();
    const file = open(ask);
    for (const [offset = 0, length = 0] of [
      [0, 9],
      [7, 100],
      [4 << 20, 1],
      [SIZE - 1, 1],
      [0, 5 << 20],
    ])
      expect(areSame(file.read(offset, length), ALL.subarray(offset, offset + length))).toBe(true);
    expect(asked).toEqual([
      [0, 4 << 20],
      [4 << 20, 4 << 20],
      [SIZE - 1, 1],
      [0, 5 << 20],
    ]);
  });

  it("keeps pieces, up to a limit", () => {
    const size = 80 << 20;
    const asked: number[] = [];
    const file = open((_, offset, length) => {
      asked.push(offset >> 20);
      return { status: 206, bytes: new Uint8Array(length), size };
    }, size);
    const read = (mebibytes: number[]) => {
      asked.length = 0;
      for (const place of mebibytes) file.read(place << 20, 9);
      return asked;
    };
    const all = Array.from({ length: 16 }, (_, i) => 4 * i);
    expect(read(all)).toEqual(all);
    expect(read(all)).toEqual([]);
    expect(read([64, 60, 4, 0])).toEqual([64, 0]);
  });

  it("is read once as a whole if the server sends no ranges", () => {
    let asked = 0;
    const file = open(() => {
      asked++;
      return { status: 200, bytes: ALL, size: null };
    });
    for (const offset of [5, SIZE - 3])
      expect(file.read(offset, 2)).toEqual(ALL.slice(offset, offset + 2));
    expect(asked).toBe(1);
  });

  it("is not read whole if the files are large together", () => {
    const size = 129 << 20;
    const bytes = new Uint8Array(size);
    const files = [1, 2].map((i) => ({ path: `p${i}`, size, at: ADDRESS }));
    const [first, second] = openFiles(files, () => ({ status: 200, bytes, size: null }));
    expect(first?.read(3, 1)).toEqual(new Uint8Array(1));
    expect(() => second?.read(3, 1)).toThrow("sends no parts of files");
  });

  it("is refused if it changed, or is not there", () => {
    const { ask } = ranged();
    expect(() => open(ask, SIZE + 1).read(0, 9)).toThrow("has changed");
    const answer = (status: number, bytes: Uint8Array) => () => ({ status, bytes, size: null });
    expect(() => open(answer(200, ALL), SIZE + 1).read(0, 9)).toThrow("has changed");
    expect(() => open(answer(206, new Uint8Array(3))).read(0, 9)).toThrow("is cut");
    expect(() => open(answer(404, ALL)).read(0, 9)).toThrow(`Nothing is at ${ADDRESS}.`);
    expect(() => open(answer(500, ALL)).read(0, 9)).toThrow(Unreachable);
  });
});
