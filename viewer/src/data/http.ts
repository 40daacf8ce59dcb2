// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The source of a server: results and parts of files come by HTTP when they are asked for. Addresses
// are relative to the page's, which holds the token.

import { checkPart, Gone, type Manifest, NoResult, type Source, type TraceFile } from "./source";

/** Bytes of one request. The server allows 64 MiB. */
const PIECE = 32 << 20;
/** A file of at most so many bytes is asked for once, as a whole: its parts would be many requests. */
const SMALL = 1 << 20;
/** Results in flight. A browser has six connections to a server, and the timeline needs some. */
const MOST_RESULTS = 3;

async function ask(address: string, headers: Record<string, string> = {}): Promise<Response> {
  try {
    return await fetch(address, { headers, cache: "no-store" });
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

/** A file of the bundle that lies with the server. */
export class HttpFile implements TraceFile {
  #whole: Promise<Uint8Array> | null = null;

  constructor(
    readonly name: string,
    readonly size: number,
  ) {}

  async read(offset: number, length: number): Promise<Uint8Array> {
    checkPart(this, offset, length);
    if (this.size <= SMALL) return (await this.#all()).subarray(offset, offset + length);
    if (length <= PIECE) return this.#piece(offset, length);
    const bytes = new Uint8Array(length);
    for (let done = 0; done < length; done += PIECE) {
      bytes.set(await this.#piece(offset + done, Math.min(PIECE, length - done)), done);
    }
    return bytes;
  }

  #all(): Promise<Uint8Array> {
    if (this.#whole === null) {
      this.#whole = this.#piece(0, this.size);
      // The next reader tries again.
      this.#whole.catch(() => {
        this.#whole = null;
      });
    }
    return this.#whole;
  }

  async #piece(offset: number, length: number): Promise<Uint8Array> {
    if (length === 0) return new Uint8Array(0);
    const answer = await ask(`files/${encodeURIComponent(this.name)}`, {
      Range: `bytes=${offset}-${offset + length - 1}`,
    });
    if (answer.status === 404) throw new Gone();
    if (answer.status !== 206) {
      throw new Error(`The server answered with ${answer.status}`);
    }
    const bytes = new Uint8Array(await bodyOf(() => answer.arrayBuffer()));
    if (bytes.length !== length) throw new RangeError(`${this.name} is cut`);
    return bytes;
  }
}

/** Lets so many calls run at once. The others wait for their turn. */
function limited<T>(
  most: number,
  call: (name: string) => Promise<T>,
): (name: string) => Promise<T> {
  const waiting: (() => void)[] = [];
  let free = most;
  return async (name) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await call(name);
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

async function resultOf(name: string, passes: readonly string[]): Promise<unknown> {
  const answer = await ask(`results/${encodeURIComponent(name)}`);
  if (answer.status === 404) {
    const [pass = ""] = name.split("@", 1);
    if (passes.includes(pass)) throw new Gone();
    return null;
  }
  if (answer.status === 422) throw new NoResult(reasonIn(await bodyOf(() => answer.json())));
  if (answer.status !== 200) {
    throw new NoResult(`The server answered with ${answer.status}. Start 'gpuprof serve' again.`);
  }
  return bodyOf(() => answer.json());
}

/** Outlines in flight: each takes the server some seconds. */
const MOST_OUTLINES = 2;

async function outlineOf(path: string): Promise<Uint8Array> {
  const answer = await ask(`outlines/${path}`);
  if (answer.status === 404) throw new Gone();
  if (answer.status !== 200) throw new NoResult(`The server answered with ${answer.status}.`);
  return new Uint8Array(await bodyOf(() => answer.arrayBuffer()));
}

/** Returns the source of the server that the page comes from. */
export function openServed(manifest: Manifest): Source {
  return {
    manifest,
    files: (manifest.files ?? []).map(({ name, size }) => new HttpFile(name, size)),
    result: limited(MOST_RESULTS, (name) => resultOf(name, manifest.passes)),
    outline: limited(MOST_OUTLINES, outlineOf),
  };
}
