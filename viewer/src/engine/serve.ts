// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The worker's end: has the engine, and answers one question after the other.

import { reasonOf } from "../base/reason";
import { Engine, Refused } from "./engine";
import { openFiles, Unreachable } from "./files";
import { compilePacked } from "./packed";
import type { FromEngine, ToEngine } from "./protocol";

/** Where messages come from and go to: a worker's own scope, or a port of tests. */
export interface EnginePort {
  postMessage(message: FromEngine, transfer?: Transferable[]): void;
  addEventListener(type: "message", listener: (event: MessageEvent) => void): void;
}

async function start({ packed, files, folder }: ToEngine & { type: "engine" }): Promise<Engine> {
  return Engine.start(await compilePacked(packed), openFiles(files), folder);
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
      else {
        const isTold = error instanceof Unreachable;
        port.postMessage({ type: "broken", why: reasonOf(error), isTold });
      }
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
