// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The page of bench/opening.mjs. It opens a bundle in the engine some times, each time in a new engine,
// and sends what it took. The first opening runs code that the browser has not optimised yet.

import { Engine } from "../src/engine/engine";
import { fileOfStretches } from "../src/engine/files";
import { compilePacked } from "../src/engine/packed";

const ROUNDS = 6;
const FIRST = '{"ask":"info"}';

async function bytesOf(address: string): Promise<Uint8Array> {
  return new Uint8Array(await (await fetch(address)).arrayBuffer());
}

/** Does some work, and tells its time. */
async function timed(work: () => void): Promise<{ ms: number; processor_ms: number }> {
  const processor = async () => Number(await (await fetch("/processor")).text());
  const before = await processor();
  const begin = performance.now();
  work();
  const ms = performance.now() - begin;
  return { ms, processor_ms: (await processor()) - before };
}

async function main(): Promise<void> {
  const names = (await (await fetch("/files")).json()) as string[];
  const files = await Promise.all(
    names.map(async (name) => {
      const bytes = await bytesOf(`/file/${name}`);
      return fileOfStretches(name, bytes.length, [{ offset: 0, bytes }]);
    }),
  );
  const packed = await bytesOf("/engine");
  const rounds = [];
  const began = performance.now();
  const module = await compilePacked(packed);
  const compile_ms = performance.now() - began;
  for (let i = 0; i < ROUNDS; i++) {
    const engine = await Engine.start(module, files, "bench");
    let rows = 0;
    const opened = await timed(() => {
      rows = JSON.parse(new TextDecoder().decode(engine.askTimeline(FIRST))).rows;
    });
    const table = await timed(() => engine.ask("kernels"));
    rounds.push({ rows, opened, table, bytes: engine.bytes });
  }
  await fetch("/done", { method: "POST", body: JSON.stringify({ compile_ms, rounds }) });
}

main().catch((error) => fetch("/done", { method: "POST", body: JSON.stringify(String(error)) }));
