// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Base64File, fromBase64, openReport } from "./report";
import { isThere } from "./source";

function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** A document that has what the source asks for. */
function page(manifest: string | null, blocks: Record<string, string>[] = []): Document {
  const elements = blocks.map((block) => ({
    textContent: block.text,
    getAttribute: (name: string) => block[name] ?? null,
    kind: block.kind,
  }));
  return {
    getElementById: () => (manifest === null ? null : { textContent: manifest }),
    querySelectorAll: (selector: string) => elements.filter((e) => selector.endsWith(`-${e.kind}`)),
  } as unknown as Document;
}

const MANIFEST = JSON.stringify({
  version: 1,
  title: "run1",
  gpuprof: "0.1.0",
  passes: ["ops"],
  failed: [],
});

describe("Base64File", () => {
  it("reads every part of every file", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 80 }), fc.nat(), fc.nat(), async (all, a, b) => {
        const begin = a % (all.length + 1);
        const length = b % (all.length - begin + 1);
        const file = new Base64File("p1-1.gpt", all.length, () => toBase64(all));
        expect(await file.read(begin, length)).toEqual(all.slice(begin, begin + length));
      }),
    );
  });

  it("refuses a part that is not within the file", async () => {
    const file = new Base64File("p1-1.gpt", 3, () => "AAAA");
    await expect(file.read(1, 3)).rejects.toThrow("3 bytes");
    await expect(file.read(-1, 1)).rejects.toThrow(RangeError);
    await expect(file.read(0.5, 1)).rejects.toThrow(RangeError);
  });

  it("reads the parts that it carries, and 0 between them", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 80 }),
        fc.array(fc.nat(79), { maxLength: 8 }),
        fc.nat(),
        fc.nat(),
        async (all, cuts, a, b) => {
          const borders = [...new Set(cuts.map((cut) => cut % all.length))].sort((x, y) => x - y);
          const parts = borders.flatMap((from, i) => {
            const to = borders[i + 1];
            return i % 2 === 0 && to !== undefined ? [{ from, to }] : [];
          });
          const carried = parts.flatMap(({ from, to }) => [...all.slice(from, to)]);
          const text = parts.map(({ from, to }) => `${from}:${to - from}`).join();
          const base64 = toBase64(Uint8Array.from(carried));
          const file = new Base64File("p1-1.gpt", all.length, () => base64, text || "0:0");
          const begin = a % all.length;
          const length = 1 + (b % (all.length - begin));
          const isIn = (place: number) => parts.some(({ from, to }) => from <= place && place < to);
          const expected = all.map((byte, place) => (isIn(place) ? byte : 0));
          expect(await file.read(begin, length)).toEqual(expected.slice(begin, begin + length));
          const whole = parts.some(({ from, to }) => from <= begin && begin + length <= to);
          expect(isThere(file, begin, length)).toBe(whole);
        },
      ),
    );
  });

  it("says that a file is cut", async () => {
    const file = new Base64File("p1-1.gpt", 6, () => "AAAA");
    await expect(file.read(0, 6)).rejects.toThrow("cut");
  });
});

describe("openReport", () => {
  it("is null if the page carries no data", () => {
    expect(openReport(page(null))).toBeNull();
  });

  it("refuses another version", () => {
    expect(() => openReport(page('{"version": 2}'))).toThrow("version 1");
  });

  it("reads packed results, plain ones and none", async () => {
    // The frame is that of `echo '{"count":3}' | zstd --stream-size=12`.
    const packed = "KLUv/SQMYQAAeyJjb3VudCI6M30KV7kteQ==";
    const source = openReport(
      page(MANIFEST, [
        { kind: "result", "data-pass": "ops", "data-encoding": "zstd+base64", text: packed },
        { kind: "result", "data-pass": "steps", text: '{"steps":[]}' },
        { kind: "file", "data-name": "p1-1.gpt", "data-size": "3", text: "AQID" },
      ]),
    );
    expect(await source?.result("ops")).toEqual({ count: 3 });
    expect(await source?.result("steps")).toEqual({ steps: [] });
    expect(await source?.result("kernels")).toBeNull();
    expect(source?.files.map((file) => [file.name, file.size])).toEqual([["p1-1.gpt", 3]]);
    expect(await source?.files[0]?.read(0, 3)).toEqual(new Uint8Array([1, 2, 3]));
  });
});

it("fromBase64 throws on foreign digits", () => {
  expect(() => fromBase64("<b>")).toThrow();
});
