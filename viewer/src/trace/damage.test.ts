// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Damaged files are read as far as that goes. Nothing hangs, and nothing is thrown but a RangeError
// for a row that is not there.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Trace } from "./api";
import { BLOCK_FRONT, scanFile } from "./container";
import { crc32c } from "./crc32c";
import { openInPage } from "./engine";
import { FileBytes } from "./file_bytes";
import { kindOf } from "./layout";
import { ENTRIES } from "./schema.gen";
import { FIXTURES, memoryFile, sourceOf, storedFiles, TRACES } from "./test_source";

const PATHS = [
  `${FIXTURES}kineto/p3464-1.gpt`,
  `${TRACES}v1/gpu.gpt`,
  `${TRACES}v1/ops.gpt`,
  `${TRACES}v1/graphs.gpt`,
  `${TRACES}v1/nvtx.gpt`,
  `${TRACES}h200/pytorch/images/gpu-3345-6612c9ef66d79.gpt`,
];

async function bytesOf(path: string): Promise<Uint8Array> {
  const file = storedFiles(path)[0];
  if (file === undefined) throw new Error(`no file ${path}`);
  return file.read(0, file.size);
}

/** Asks everything of a trace. */
async function useAll(trace: Trace): Promise<void> {
  const { start_ns: start, end_ns: end, tracks } = trace.info;
  const ids = tracks.map((track) => track.id);
  await trace.spans(ids, start, end, (end - start) / 500 + 1);
  await trace.spans(ids, start, end, 1);
  for (const { id, kind } of tracks) {
    const isCurve = ["counter", "memory", "queue"].includes(kind);
    if (isCurve) await trace.counter(id, start, end, 1000);
    else await trace.range(kind, { start_ns: start + 1, end_ns: end - 1 });
    await trace.at(id, (start + end) / 2);
    if (isCurve) continue;
    for (const row of [0, 3])
      await trace.event(id, row).catch((error) => expect(error).toBeInstanceOf(Error));
  }
  await trace.search("a", 5);
}

async function open(bytes: Uint8Array): Promise<Trace> {
  return openInPage(sourceOf([memoryFile("p1-1.gpt", bytes)]));
}

/** Puts right the checksums of headers, so that what is behind them is read. */
function sealHeaders(bytes: Uint8Array, offsets: readonly number[]): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const offset of offsets)
    view.setUint32(offset - 4, crc32c(bytes, offset - BLOCK_FRONT + 8, offset - 4), true);
}

const changes = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 8 });

describe("damaged files", () => {
  it.each(PATHS)("with other bytes: %s", async (path) => {
    const bytes = await bytesOf(path);
    const scan = await scanFile(new FileBytes(memoryFile("p1-1.gpt", bytes)));
    const offsets = scan.blocks.map((block) => block.offset);
    await fc.assert(
      fc.asyncProperty(changes, fc.boolean(), async (places, isSealed) => {
        const damaged = bytes.slice();
        for (const [place, value] of places) damaged[place % bytes.length] = value;
        if (isSealed) sealHeaders(damaged, offsets);
        await useAll(await open(damaged));
      }),
      { numRuns: 40 },
    );
  });

  it.each(PATHS)("cut anywhere: %s", async (path) => {
    const bytes = await bytesOf(path);
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: bytes.length }), async (length) => {
        await useAll(await open(bytes.slice(0, length)));
      }),
      { numRuns: 25 },
    );
  });

  it("cut inside its last block: all that comes before is there", async () => {
    const bytes = await bytesOf(`${TRACES}v1/gpu.gpt`);
    const scan = await scanFile(new FileBytes(memoryFile("p1-1.gpt", bytes)));
    const last = scan.blocks[scan.blocks.length - 1];
    const cut = bytes.slice(0, (last?.offset ?? 0) + 5);
    const found = await scanFile(new FileBytes(memoryFile("p1-1.gpt", cut)));
    expect(found.isByIndex).toBe(false);
    expect(found.blocks).toEqual(scan.blocks.slice(0, -1));
    expect(found.faults.map((fault) => fault.what)).toEqual([expect.stringMatching(/^block cut/)]);
  });

  it("without its index: the walk finds the same blocks", async () => {
    for (const path of PATHS) {
      const bytes = (await bytesOf(path)).slice();
      const scan = await scanFile(new FileBytes(memoryFile("p1-1.gpt", bytes)));
      bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1;
      const walked = await scanFile(new FileBytes(memoryFile("p1-1.gpt", bytes)));
      expect(walked.isByIndex).toBe(false);
      expect(walked.blocks).toEqual(scan.blocks);
    }
  });

  it("with a damaged header: the blocks behind it are found", async () => {
    const bytes = (await bytesOf(`${TRACES}v1/gpu.gpt`)).slice();
    const scan = await scanFile(new FileBytes(memoryFile("p1-1.gpt", bytes)));
    bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1;
    const third = scan.blocks[2]?.offset ?? 0;
    bytes[third - 20] = (bytes[third - 20] ?? 0) ^ 1;
    const walked = await scanFile(new FileBytes(memoryFile("p1-1.gpt", bytes)));
    expect(walked.blocks).toEqual(scan.blocks.filter((_, i) => i !== 2));
    expect(walked.faults.length).toBeGreaterThan(1);
  });

  it("that lie about the size of a block take no memory for it", async () => {
    const path = `${TRACES}v1/gpu.gpt`;
    const bytes = (await bytesOf(path)).slice();
    const { blocks } = await scanFile(new FileBytes(memoryFile("p1-1.gpt", bytes)));
    const kernels = blocks.find((block) => block.kind === kindOf("kernel"));
    const table = blocks.find((block) => block.kind === ENTRIES.threads.kind);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const offsets = [kernels?.offset ?? 0, table?.offset ?? 0];
    for (const offset of offsets) view.setUint32(offset - BLOCK_FRONT + 12, 60 << 20, true);
    sealHeaders(bytes, offsets);
    // Without its end the file has no index that says something else.
    const trace = await open(bytes.slice(0, -1));
    const faults = trace.info.faults.join(" ");
    expect(faults).toMatch(/more rows or bytes than there can be/);
    expect(faults).toMatch(/too large for a table/);
    expect(trace.info.tracks.map((track) => track.kind)).toEqual([
      "sync",
      "api",
      "range",
      "overhead",
    ]);
  });

  it("are reported with the answer that met the damage, if it is behind the tables", async () => {
    const path = `${TRACES}h200/pytorch/language_model/p3281-6612c9db8d671.gpt`;
    const bytes = (await bytesOf(path)).slice();
    const { blocks } = await scanFile(new FileBytes(memoryFile("p1-1.gpt", bytes)));
    const last = blocks.filter((block) => block.kind === kindOf("op")).pop();
    bytes.fill(0xff, (last?.offset ?? 0) + 4, (last?.offset ?? 0) + 40);
    const source = sourceOf([memoryFile("p1-1.gpt", bytes)]);
    const trace = await openInPage(source, undefined, { eagerRows: 0 });
    expect(trace.info.faults).toEqual([]);
    const { start_ns, end_ns, tracks } = trace.info;
    const ops = tracks.filter(({ kind }) => kind === "op").map(({ id }) => id);
    const { faults } = await trace.spans(ops, start_ns, end_ns, 1000);
    expect(faults?.count).toBe(1);
    expect(faults?.first).toMatch(/^p1-1\.gpt, byte \d+: /);
    const range = await trace.range("op", { start_ns, end_ns });
    expect(range.faults).toEqual(faults);
  });

  it("that are no traces at all", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        const trace = await open(bytes);
        expect(trace.info.tracks).toEqual([]);
        expect(trace.info.faults.length).toBe(1);
      }),
    );
  });
});
