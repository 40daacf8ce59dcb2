// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The words between the page and the worker that has the trace. The worker asks the page for bytes
// and for results of passes; the page asks the worker what api.ts promises.

import type { Manifest, Source, TraceFile } from "../data/source";
import type { Trace, TraceInfo } from "./api";
import { openInPage } from "./engine";

export type Method = "spans" | "counter" | "range" | "gaps" | "calls" | "event" | "search" | "at";

export type ToWorker =
  | {
      readonly type: "open";
      readonly manifest: Manifest;
      readonly files: readonly Pick<TraceFile, "name" | "size" | "parts">[];
      readonly hasOutlines: boolean;
    }
  | {
      readonly type: "call";
      readonly id: number;
      readonly method: Method;
      readonly args: unknown[];
    }
  | { readonly type: "told"; readonly id: number; readonly value: unknown }
  | { readonly type: "refused"; readonly id: number; readonly why: string };

export type ToPage =
  | {
      readonly type: "read";
      readonly id: number;
      readonly file: number;
      readonly offset: number;
      readonly length: number;
    }
  | { readonly type: "result"; readonly id: number; readonly pass: string }
  | { readonly type: "outline"; readonly id: number; readonly path: string }
  | { readonly type: "progress"; readonly done: number; readonly all: number }
  | { readonly type: "opened"; readonly info: TraceInfo }
  | { readonly type: "failed"; readonly why: string }
  | { readonly type: "answer"; readonly id: number; readonly value: unknown }
  | { readonly type: "error"; readonly id: number; readonly why: string };

/** A worker, its own scope, or a port of tests. */
export interface Port<Out> {
  postMessage(message: Out, transfer: Transferable[]): void;
  addEventListener(type: "message", listener: (event: MessageEvent) => void): void;
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Finds the buffers of an answer's arrays, so that they move and are not copied. */
export function buffersOf(value: unknown): Transferable[] {
  const found = new Set<ArrayBuffer>();
  const visit = (each: unknown, depth: number) => {
    if (ArrayBuffer.isView(each)) {
      const { buffer } = each;
      if (buffer instanceof ArrayBuffer && buffer.byteLength === each.byteLength) found.add(buffer);
    } else if (typeof each === "object" && each !== null && depth < 3) {
      for (const inner of Object.values(each)) visit(inner, depth + 1);
    }
  };
  visit(value, 0);
  return [...found];
}

/** Waits for answers by number. */
export class Pending {
  private readonly waiting = new Map<
    number,
    { resolve: (value: unknown) => void; reject: (error: Error) => void }
  >();
  private next = 0;

  /** Returns the answer to what `send` asks. */
  ask(send: (id: number) => void): Promise<unknown> {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      send(id);
    });
  }
  resolve(id: number, value: unknown): void {
    this.waiting.get(id)?.resolve(value);
    this.waiting.delete(id);
  }
  reject(id: number, why: string): void {
    this.waiting.get(id)?.reject(new Error(why));
    this.waiting.delete(id);
  }
  rejectAll(why: string): void {
    for (const id of [...this.waiting.keys()]) this.reject(id, why);
  }
}

/** Answers the page. Runs in the worker. */
export function serve(port: Port<ToPage>): void {
  const pending = new Pending();
  let trace: Trace | null = null;
  const send = (message: ToPage) => port.postMessage(message, buffersOf(message));

  const outline = async (path: string): Promise<Uint8Array> => {
    const bytes = await pending.ask((id) => send({ type: "outline", id, path }));
    if (!(bytes instanceof Uint8Array)) throw new Error("the page sent no bytes");
    return bytes;
  };

  const sourceOf = (message: ToWorker & { type: "open" }): Source => ({
    manifest: message.manifest,
    files: message.files.map(
      (each, file): TraceFile => ({
        ...each,
        async read(offset, length) {
          const bytes = await pending.ask((id) => send({ type: "read", id, file, offset, length }));
          if (!(bytes instanceof Uint8Array)) throw new Error("the page sent no bytes");
          return bytes;
        },
      }),
    ),
    result: (pass) => pending.ask((id) => send({ type: "result", id, pass })),
    ...(message.hasOutlines ? { outline } : {}),
  });

  const open = async (message: ToWorker & { type: "open" }) => {
    try {
      const progress = (done: number, all: number) => send({ type: "progress", done, all });
      trace = await openInPage(sourceOf(message), progress);
      send({ type: "opened", info: trace.info });
    } catch (error) {
      send({ type: "failed", why: reasonOf(error) });
    }
  };

  const call = async (message: ToWorker & { type: "call" }) => {
    const { id, method, args } = message;
    try {
      if (trace === null) throw new Error("the trace is not open");
      const ask = trace[method] as (...args: unknown[]) => Promise<unknown>;
      send({ type: "answer", id, value: await ask.apply(trace, args) });
    } catch (error) {
      send({ type: "error", id, why: reasonOf(error) });
    }
  };

  port.addEventListener("message", ({ data }) => {
    const message = data as ToWorker;
    if (message.type === "open") void open(message);
    else if (message.type === "call") void call(message);
    else if (message.type === "told") pending.resolve(message.id, message.value);
    else if (message.type === "refused") pending.reject(message.id, message.why);
  });
}
