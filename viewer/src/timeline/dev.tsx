// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The page of development: the timeline with the made-up trace. "?events=N&processes=N&theme=dark&hostile".

import { render } from "preact";
import { Timeline } from "../pages/timeline";
import type { Trace, TraceInfo } from "../trace/api";
import type { FrameFigures } from "./canvas";
import "../app/tokens.css";
import "./dev.css";

declare global {
  interface Window {
    /** Figures of all frames so far, for the script that measures. */
    gpuprofFrames?: FrameFigures[];
  }
}

/** Opens the made-up trace in its worker. */
async function openMade(events: number, processes: number, hostile: boolean): Promise<Trace> {
  const worker = new Worker(new URL("./made_worker.ts", import.meta.url), { type: "module" });
  const waiting = new Map<number, { take(value: unknown): void; fail(reason: Error): void }>();
  let last = 0;
  worker.onmessage = (event: MessageEvent<{ id: number; value?: unknown; reason?: string }>) => {
    const { id, value, reason } = event.data;
    const call = waiting.get(id);
    waiting.delete(id);
    if (reason === undefined) call?.take(value);
    else call?.fail(new Error(reason));
  };
  const ask = <T,>(method: string, ...args: readonly unknown[]): Promise<T> =>
    new Promise<T>((take, fail) => {
      const id = ++last;
      waiting.set(id, { take: (value) => take(value as T), fail });
      worker.postMessage({ id, method, args });
    });
  const info = await ask<TraceInfo>("open", events, processes, hostile);
  return {
    info,
    spans: (...args) => ask("spans", ...args),
    counter: (...args) => ask("counter", ...args),
    range: (...args) => ask("range", ...args),
    gaps: (...args) => ask("gaps", ...args),
    calls: (...args) => ask("calls", ...args),
    event: (...args) => ask("event", ...args),
    search: (...args) => ask("search", ...args),
    at: (...args) => ask("at", ...args),
  };
}

const query = new URLSearchParams(location.search);
const events = Number(query.get("events") ?? 20_000);
const processes = Number(query.get("processes") ?? 2);
const theme = query.get("theme");
if (theme !== null) document.documentElement.dataset.theme = theme;
if (!location.hash.startsWith("#timeline")) location.hash = "#timeline";
const frames: FrameFigures[] = [];
window.gpuprofFrames = frames;
const root = document.getElementById("app");
const trace = await openMade(events, processes, query.has("hostile"));
if (root !== null) {
  render(<Timeline trace={trace} onFrame={(figures) => frames.push(figures)} />, root);
}
