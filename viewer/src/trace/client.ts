// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Opens a trace in a worker, and hands the page's questions to it. Where a worker cannot start, the
// same code runs in the page.

import type { Source } from "../data/source";
import type { OpenTrace, Trace, TraceInfo } from "./api";
import { openAsked } from "./asked";
import { openInPage } from "./engine";
import {
  buffersOf,
  type Method,
  Pending,
  type Port,
  reasonOf,
  type ToPage,
  type ToWorker,
} from "./protocol";
import { startWorker } from "./worker";

type Progress = (done: number, all: number) => void;

/** Why a worker did not start. */
class NoWorker extends Error {}

class RemoteTrace implements Trace {
  constructor(
    readonly info: TraceInfo,
    private readonly call: (method: Method, args: unknown[]) => Promise<unknown>,
  ) {}
  spans(...args: Parameters<Trace["spans"]>) {
    return this.call("spans", args) as ReturnType<Trace["spans"]>;
  }
  counter(...args: Parameters<Trace["counter"]>) {
    return this.call("counter", args) as ReturnType<Trace["counter"]>;
  }
  range(...args: Parameters<Trace["range"]>) {
    return this.call("range", args) as ReturnType<Trace["range"]>;
  }
  gaps(...args: Parameters<Trace["gaps"]>) {
    return this.call("gaps", args) as ReturnType<Trace["gaps"]>;
  }
  calls(...args: Parameters<Trace["calls"]>) {
    return this.call("calls", args) as ReturnType<Trace["calls"]>;
  }
  event(...args: Parameters<Trace["event"]>) {
    return this.call("event", args) as ReturnType<Trace["event"]>;
  }
  search(...args: Parameters<Trace["search"]>) {
    return this.call("search", args) as ReturnType<Trace["search"]>;
  }
  at(...args: Parameters<Trace["at"]>) {
    return this.call("at", args) as ReturnType<Trace["at"]>;
  }
}

/** Opens the trace at the other end of a port. `failed`: calls back if that end breaks. */
export function openAt(
  port: Port<ToWorker>,
  source: Source,
  progress: Progress = () => {},
  failed: (listener: (why: string) => void) => void = () => {},
): Promise<Trace> {
  const pending = new Pending();
  const send = (message: ToWorker) => port.postMessage(message, buffersOf(message));
  const answer = async (id: number, value: Promise<unknown>) => {
    try {
      send({ type: "told", id, value: await value });
    } catch (error) {
      send({ type: "refused", id, why: reasonOf(error) });
    }
  };
  const read = async (file: number, offset: number, length: number) =>
    source.files[file]?.read(offset, length);
  const call = (method: Method, args: unknown[]) =>
    pending.ask((id) => send({ type: "call", id, method, args }));
  return new Promise((resolve, reject) => {
    failed((why) => {
      reject(new NoWorker(why));
      pending.rejectAll(why);
    });
    port.addEventListener("message", ({ data }) => {
      const message = data as ToPage;
      switch (message.type) {
        case "read":
          void answer(message.id, read(message.file, message.offset, message.length));
          break;
        case "result":
          void answer(message.id, source.result(message.pass));
          break;
        case "outline":
          void answer(message.id, source.outline?.(message.path) ?? Promise.resolve(undefined));
          break;
        case "progress":
          progress(message.done, message.all);
          break;
        case "opened":
          resolve(new RemoteTrace(message.info, call));
          break;
        case "failed":
          reject(new Error(message.why));
          break;
        case "answer":
          pending.resolve(message.id, message.value);
          break;
        case "error":
          pending.reject(message.id, message.why);
          break;
      }
    });
    const files = source.files.map(({ name, size, parts }) =>
      parts === undefined ? { name, size } : { name, size, parts },
    );
    const hasOutlines = source.outline !== undefined;
    send({ type: "open", manifest: source.manifest, files, hasOutlines });
  });
}

/** Opens the trace of a source: by who answers about it, in a worker, or else in the page. */
export const openTrace: OpenTrace = async (source, progress) => {
  if (source.askTimeline !== undefined) {
    try {
      return await openAsked(source.askTimeline.bind(source));
    } catch {
      // The engine has no memory for it, or the browser no engine. The page reads the files by itself.
    }
  }
  let worker: Worker;
  try {
    worker = startWorker();
  } catch {
    return openInPage(source, progress);
  }
  try {
    return await openAt(worker, source, progress, (listener) => {
      worker.addEventListener("error", (event) => listener(event.message || "the worker failed"));
    });
  } catch (error) {
    worker.terminate();
    if (error instanceof NoWorker) return openInPage(source, progress);
    throw error;
  }
};
