// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The page's end: starts the engine in a worker at the first question. An engine that ends is
// replaced at the next question.

import { NoResult } from "../data/source";
import type { BundleFile, FromEngine, ToEngine } from "./protocol";
import { startWorker } from "./worker";

/** What the engine needs. It is decoded at the first question, and for each new engine. */
export interface EngineParts {
  packed(): Uint8Array;
  files(): BundleFile[];
  readonly folder: string;
}

type Asked = Exclude<ToEngine, { type: "engine" }>;

interface Question {
  resolve(text: string | Uint8Array): void;
  reject(error: Error): void;
}

/** A worker, or a double of tests. */
export interface EngineWorker {
  postMessage(message: ToEngine, transfer: Transferable[]): void;
  addEventListener(type: string, listener: (event: MessageEvent & ErrorEvent) => void): void;
  terminate(): void;
}

function wordsOf(why: string): string {
  return `The page could not compute it (${why}). It may need more memory than a page has; 'gpuprof serve' shows the same page without this limit.`;
}

export class EngineClient {
  #worker: Promise<EngineWorker> | null = null;
  #questions = new Map<number, Question>();
  #next = 0;

  constructor(
    private readonly parts: EngineParts,
    private readonly start: () => EngineWorker = () => startWorker() as unknown as EngineWorker,
  ) {}

  /** Returns the JSON of a result by its name. Rejects with NoResult if there is none. */
  async ask(name: string): Promise<string> {
    return (await this.#send((id) => ({ type: "ask", id, name }))) as string;
  }

  /** Returns the answer to a question of the timeline. Rejects with NoResult if there is none. */
  async askTimeline(question: string): Promise<Uint8Array> {
    return (await this.#send((id) => ({ type: "ask_timeline", id, question }))) as Uint8Array;
  }

  async #send(message: (id: number) => Asked): Promise<string | Uint8Array> {
    this.#worker ??= this.#started();
    const worker = await this.#worker;
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      this.#questions.set(id, { resolve, reject });
      worker.postMessage(message(id), []);
    });
  }

  async #started(): Promise<EngineWorker> {
    try {
      const files = this.parts.files();
      const packed = this.parts.packed();
      const { folder } = this.parts;
      const worker = this.start();
      worker.addEventListener("message", ({ data }) => this.#hear(worker, data as FromEngine));
      worker.addEventListener("error", ({ message }) =>
        this.#end(worker, wordsOf(message || "the worker failed")),
      );
      const stretches = files.flatMap(({ at }) => (typeof at === "string" ? [] : at));
      const moved = [packed, ...stretches.map(({ bytes }) => bytes)].map(
        ({ buffer }) => buffer as ArrayBuffer,
      );
      worker.postMessage({ type: "engine", packed, files, folder }, moved);
      return worker;
    } catch (error) {
      this.#worker = null;
      throw error instanceof NoResult ? error : new NoResult(wordsOf(String(error)));
    }
  }

  #hear(worker: EngineWorker, message: FromEngine): void {
    if (message.type === "broken") {
      this.#end(worker, message.isTold ? message.why : wordsOf(message.why));
      return;
    }
    const question = this.#questions.get(message.id);
    this.#questions.delete(message.id);
    if (message.type === "answer") question?.resolve(message.text);
    else question?.reject(new NoResult(message.why));
  }

  /** Gives the worker up: its memory is lost, or its state unknown. */
  #end(worker: EngineWorker, why: string): void {
    worker.terminate();
    this.#worker = null;
    const questions = [...this.#questions.values()];
    this.#questions.clear();
    for (const question of questions) question.reject(new NoResult(why));
  }
}
