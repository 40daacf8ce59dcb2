// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The source of a server: results and answers of the timeline come by HTTP when they are asked for.
// Addresses are relative to the page's, which holds the token.

import { Gone, type Manifest, NoResult, type QueryAnswer, type Source } from "./source";

/** Results in flight. A browser has six connections to a server, and the timeline needs some. */
const MOST_RESULTS = 3;

async function ask(address: string, signal?: AbortSignal): Promise<Response> {
  try {
    return await fetch(address, { cache: "no-store", ...(signal !== undefined && { signal }) });
  } catch {
    throw new NoResult("The server does not answer. Start 'gpuprof serve' again.");
  }
}

/** Reads the body. The connection may end before the body does. */
async function bodyOf<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch {
    throw new NoResult("The server's answer is cut. Load the page again.");
  }
}

/** Lets so many calls run at once. The others wait for their turn. */
function limited<T>(
  most: number,
  call: (name: string, signal?: AbortSignal) => Promise<T>,
): (name: string, signal?: AbortSignal) => Promise<T> {
  const waiting: (() => void)[] = [];
  let free = most;
  return async (name, signal) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await call(name, signal);
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

function reasonIn(body: unknown): string {
  const reason = (body as { reason?: unknown } | null)?.reason;
  return typeof reason === "string" ? reason : "The pass failed.";
}

async function resultOf(
  name: string,
  passes: readonly string[],
  signal?: AbortSignal,
): Promise<unknown> {
  if (signal?.aborted === true) throw new NoResult("Nobody waits for this result any more.");
  const answer = await ask(`results/${encodeURIComponent(name)}`, signal);
  if (answer.status === 404) {
    const [pass = "", part] = name.split("@", 2);
    if (part !== undefined && (await ask("")).status === 200)
      throw new NoResult("The server knows no such part of the recording.");
    if (passes.includes(pass)) throw new Gone();
    return null;
  }
  if (answer.status === 422) throw new NoResult(reasonIn(await bodyOf(() => answer.json())));
  if (answer.status !== 200) {
    throw new NoResult(`The server answered with ${answer.status}. Start 'gpuprof serve' again.`);
  }
  return bodyOf(() => answer.json());
}

/** What the server says of a result that is not there yet. */
interface Wait {
  readonly words?: unknown;
  readonly is_large?: unknown;
  readonly has_large?: unknown;
}

async function askWait(name: string): Promise<Wait> {
  try {
    const answer = await ask(`waits/${encodeURIComponent(name)}`);
    return answer.status === 200 ? (((await answer.json()) as Wait | null) ?? {}) : {};
  } catch {
    // The result itself will say what is wrong.
    return {};
  }
}

/** Returns what says whether a result is large. Of most recordings none is. */
function largeOnes(waitOf: (name: string) => Promise<Wait>): (name: string) => Promise<boolean> {
  let first: Promise<Wait> | null = null;
  return async (name) => {
    first ??= waitOf("overview");
    return (await first).has_large === true && (await waitOf(name)).is_large === true;
  };
}

async function timelineAnswer(question: string): Promise<Uint8Array> {
  const answer = await ask(`timeline/${encodeURIComponent(question)}`);
  if (answer.status === 404) throw new Gone();
  if (answer.status === 422) throw new NoResult(reasonIn(await bodyOf(() => answer.json())));
  if (answer.status !== 200) throw new NoResult(`The server answered with ${answer.status}.`);
  return new Uint8Array(await bodyOf(() => answer.arrayBuffer()));
}

async function queryAnswer(sql: string, signal?: AbortSignal): Promise<QueryAnswer> {
  const answer = await ask(`query/${encodeURIComponent(sql)}`, signal);
  if (answer.status === 404) throw new Gone();
  if (answer.status === 422) throw new NoResult(reasonIn(await bodyOf(() => answer.json())));
  if (answer.status === 400 || answer.status === 414)
    throw new NoResult("The query is too long for an address.");
  if (answer.status !== 200) throw new NoResult(`The server answered with ${answer.status}.`);
  return bodyOf(() => answer.json() as Promise<QueryAnswer>);
}

/** Returns the source of the server that the page comes from. */
export function openServed(manifest: Manifest): Source {
  // Only results of a recording can be large: not those of a comparison or of a folder.
  const isRecording = manifest.passes.includes("overview");
  const look = async (name: string): Promise<Wait> => (isRecording ? askWait(name) : {});
  return {
    manifest,
    computes: true,
    result: limited(MOST_RESULTS, (name, signal) => resultOf(name, manifest.passes, signal)),
    async waitOf(name) {
      const { words } = await look(name);
      return typeof words === "string" ? words : "";
    },
    isLarge: largeOnes(look),
    ...((manifest.files ?? []).length !== 0 && { askTimeline: timelineAnswer, query: queryAnswer }),
  };
}
