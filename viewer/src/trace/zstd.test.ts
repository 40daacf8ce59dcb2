// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The decoder of zstd frames against fzstd, on the frames of stored traces, and on damaged ones.

import fc from "fast-check";
import { decompress } from "fzstd";
import { describe, expect, it } from "vitest";
import { scanFile } from "./container";
import { TraceFault } from "./fault";
import { FileBytes } from "./file_bytes";
import { FIXTURES, storedFiles, TRACES } from "./test_source";
import { decompressFrame } from "./zstd";

interface Frame {
  readonly bytes: Uint8Array;
  readonly raw: number;
}

async function framesOf(path: string): Promise<Frame[]> {
  const frames: Frame[] = [];
  for (const file of storedFiles(path)) {
    if (!file.name.endsWith(".gpt")) continue;
    const scan = await scanFile(new FileBytes(file));
    for (const { offset, compressed, raw } of scan.blocks)
      frames.push({ bytes: (await file.read(offset, compressed)).slice(), raw });
  }
  return frames;
}

const FOLDERS = [
  `${FIXTURES}kineto`,
  `${TRACES}h200/pytorch/language_model`,
  `${TRACES}h200/pytorch/images`,
  `${TRACES}v1/heap.gpt`,
];

describe("zstd frames", () => {
  it.each(FOLDERS)("of %s are what fzstd makes of them", async (path) => {
    const frames = await framesOf(path);
    expect(frames.length).toBeGreaterThan(5);
    for (const { bytes, raw } of frames)
      expect(decompressFrame(bytes, raw)).toEqual(decompress(bytes, new Uint8Array(raw)));
  });

  it("that are damaged give a fault or something, and never hang", async () => {
    const frames = await framesOf(`${FIXTURES}kineto`);
    const damage = fc.record({
      frame: fc.nat({ max: frames.length - 1 }),
      places: fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 6 }),
      cut: fc.option(fc.nat()),
    });
    fc.assert(
      fc.property(damage, ({ frame, places, cut }) => {
        const { bytes, raw } = frames[frame] as Frame;
        let damaged = bytes.slice();
        for (const [place, value] of places) damaged[6 + (place % (bytes.length - 6))] = value;
        if (cut !== null) damaged = damaged.slice(0, cut % bytes.length);
        try {
          expect(decompressFrame(damaged, raw).length).toBe(raw);
        } catch (error) {
          expect(error).toBeInstanceOf(TraceFault);
        }
      }),
      { numRuns: 3000 },
    );
  });

  it("of any bytes give a fault", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat({ max: 1 << 20 }), (bytes, raw) => {
        const head = [
          0x28,
          0xb5,
          0x2f,
          0xfd,
          0xa0,
          raw & 255,
          (raw >> 8) & 255,
          (raw >> 16) & 255,
          0,
        ];
        const block = [((bytes.length << 3) & 255) | 5, bytes.length >> 5, bytes.length >> 13];
        const frame = Uint8Array.from([...head, ...block, ...bytes]);
        try {
          expect(decompressFrame(frame, raw).length).toBe(raw);
        } catch (error) {
          expect(error).toBeInstanceOf(TraceFault);
        }
      }),
      { numRuns: 3000 },
    );
  });
});
