// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The worker's end: has the engine, and answers one question after the other.

import { Engine, Refused } from "./engine";
import { compilePacked } from "./packed";
import type { FromEngine, ToEngine } from "./protocol";
import type { EngineFile } from "./wasi";

/** Where messages come from and go to: a worker's own scope, or a port of tests. */
export interface EnginePort {
  postMessage(message: FromEngine, transfer?: Transferable[]): void;
  addEventListener(type: "message", listener: (event: MessageEvent) => void): void;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function start({ packed, files, folder }: ToEngine & { type: "engine" }): Promise<Engine> {
  const opened = files.map(
    ({ path, bytes }): EngineFile => ({
      path,
      size: bytes.length,
      read: (offset, length) => bytes.subarray(offset, offset + length),
    }),
  );
  return Engine.start(await compilePacked(packed), opened, folder);
}

/** Answers questions for the page. Other messages are somebody else's. */
export function serveEngine(port: EnginePort): void {
  let engine: Promise<Engine> | null = null;

  const answer = async (message: Exclude<ToEngine, { type: "engine" }>) => {
    const { id } = message;
    try {
      const started = await engine;
      if (started === null) throw new Error("no engine was started");
      if (message.type === "ask") {
        port.postMessage({ type: "answer", id, text: started.ask(message.name) });
      } else {
        const bytes = started.askTimeline(message.question);
        port.postMessage({ type: "answer", id, text: bytes }, [bytes.buffer as ArrayBuffer]);
      }
    } catch (error) {
      if (error instanceof Refused) port.postMessage({ type: "refused", id, why: reasonOf(error) });
      else port.postMessage({ type: "broken", why: reasonOf(error) });
    }
  };

  port.addEventListener("message", ({ data }) => {
    const message = data as ToEngine;
    if (message.type === "engine") {
      engine = start(message);
      engine.catch(() => {}); // The first question tells it.
    } else if (message.type === "ask" || message.type === "ask_timeline") void answer(message);
  });
}
