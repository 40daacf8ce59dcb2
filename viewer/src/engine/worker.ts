// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The worker that has the engine runs the page's own script. The script sees by itself where it runs
// (isWorker), and begins as the one or the other.

import { type EnginePort, serveEngine } from "./serve";

/** Returns whether this code runs in a worker. */
export function isWorker(): boolean {
  return typeof document === "undefined";
}

/** Serves the page that started this worker. */
export function beWorker(): void {
  serveEngine(globalThis as unknown as EnginePort);
}

/** Starts a worker. Throws if the page's script is not inside the page, or no worker may start. */
export function startWorker(): Worker {
  const own = [...document.scripts].find(
    (script) => script.type === "module" && script.textContent !== "",
  );
  if (own === undefined) throw new Error("the script of the page is not inside the page");
  const address = URL.createObjectURL(
    new Blob([own.textContent ?? ""], { type: "text/javascript" }),
  );
  // Not a module: browsers refuse those to a page that was opened from disk. The script imports nothing.
  const worker = new Worker(address);
  // The first answer, or the fault, says that the script was read.
  const forget = () => URL.revokeObjectURL(address);
  worker.addEventListener("message", forget, { once: true });
  worker.addEventListener("error", forget, { once: true });
  return worker;
}
