// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The analysis library of the command, as WebAssembly. It answers what `gpuprof stats --json` prints,
// from the same files. Runs in a worker (worker.ts) and in tests.

import { Ended, type EngineFile, makeSystem } from "./wasi";

interface Exports {
  readonly memory: WebAssembly.Memory;
  _initialize(): void;
  gpuprof_room(bytes: number): number;
  gpuprof_open(): void;
  gpuprof_ask(): number;
  gpuprof_ask_timeline(): number;
  gpuprof_text(): number;
  gpuprof_text_bytes(): number;
}

/** Why the engine cannot go on. Nothing but a new one helps. */
export class Broken extends Error {}

/** Why a question has no answer, in a sentence of the engine. */
export class Refused extends Error {}

export class Engine {
  readonly #exports: Exports;

  private constructor(exports: Exports) {
    this.#exports = exports;
  }

  /** Starts an engine on files of a bundle. `folder`: what results call it. */
  static async start(
    module: WebAssembly.Module,
    files: readonly EngineFile[],
    folder: string,
    log?: (text: string) => void,
  ): Promise<Engine> {
    let exports: Exports | null = null;
    const memory = () => (exports as Exports).memory.buffer;
    const system = makeSystem(files, folder, memory, log);
    const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: system });
    exports = instance.exports as unknown as Exports;
    const engine = new Engine(exports);
    engine.#run(() => {
      engine.#exports._initialize();
      engine.#put(folder);
      engine.#exports.gpuprof_open();
    });
    return engine;
  }

  /** Returns the JSON of a result by its name: PASS, PASS:KEY, PASS@PART. Throws Refused, Broken. */
  ask(name: string): string {
    return new TextDecoder().decode(this.#asked(name, () => this.#exports.gpuprof_ask()));
  }

  /** Returns the answer to a question of the timeline, a copy. Throws Refused, Broken. */
  askTimeline(question: string): Uint8Array {
    return this.#asked(question, () => this.#exports.gpuprof_ask_timeline()).slice();
  }

  /** Returns the answer, in the engine's memory: it is gone at the next question. */
  #asked(question: string, call: () => number): Uint8Array {
    const { status, text } = this.#run(() => {
      this.#put(question);
      return { status: call(), text: this.#text() };
    });
    if (status !== 0) throw new Refused(new TextDecoder().decode(text));
    return text;
  }

  /** Memory of the engine, which never shrinks. */
  get bytes(): number {
    return this.#exports.memory.buffer.byteLength;
  }

  #put(text: string): void {
    const bytes = new TextEncoder().encode(text);
    const at = this.#exports.gpuprof_room(bytes.length);
    new Uint8Array(this.#exports.memory.buffer, at, bytes.length).set(bytes);
  }

  #text(): Uint8Array {
    const { memory, gpuprof_text, gpuprof_text_bytes } = this.#exports;
    return new Uint8Array(memory.buffer, gpuprof_text(), gpuprof_text_bytes());
  }

  #run<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError || error instanceof Ended)
        throw new Broken(error.message);
      // The stack of the browser is full: the engine's state is unknown.
      if (error instanceof RangeError) throw new Broken(error.message);
      throw error;
    }
  }
}
