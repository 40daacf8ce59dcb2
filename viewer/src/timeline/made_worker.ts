// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The made-up trace in a worker, as the real one is: its work takes no time of the page. Only the page
// of development uses it.

import type { Trace } from "../trace/api";
import { makeTrace } from "./made_trace";

interface Call {
  readonly id: number;
  readonly method: keyof Omit<Trace, "info"> | "open";
  readonly args: readonly unknown[];
}

const scope = self as unknown as DedicatedWorkerGlobalScope;
let trace: Trace | null = null;

async function answer({ method, args }: Call): Promise<unknown> {
  if (method === "open") {
    const [events, processes, hostile] = args;
    trace = makeTrace({
      events: Number(events),
      processes: Number(processes),
      hostile: hostile === true,
    });
    return trace.info;
  }
  if (trace === null) throw new Error("There is no trace yet.");
  const call = trace[method] as (...args: readonly unknown[]) => Promise<unknown>;
  return call.apply(trace, [...args]);
}

scope.onmessage = (event: MessageEvent<Call>) => {
  const { id } = event.data;
  answer(event.data).then(
    (value) => scope.postMessage({ id, value }),
    (reason: unknown) => scope.postMessage({ id, reason: String(reason) }),
  );
};
