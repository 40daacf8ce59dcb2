// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The source of a server: results and parts of files come by HTTP when they are asked for. Addresses
// are relative to the page's, which holds the token. The files of a report may be with any web server.

import { checkPart, Gone, type Manifest, NoResult, type Source, type TraceFile } from "./source";

/** Bytes of one request. The server allows 64 MiB. */
const PIECE = 32 << 20;
/** A file of at most so many bytes is asked for once, as a whole: its parts would be many requests. */
const SMALL = 1 << 20;
/** Results in flight. A browser has six connections to a server, and the timeline needs some. */
const MOST_RESULTS = 3;

/** Bytes of files that are kept as a whole, because their server does not send parts. */
const MOST_KEPT = 256 << 20;

async function ask(
  address: string,
  headers: Record<string, string> = {},
  again = " Start 'gpuprof serve' again.",
): Promise<Response> {
  try {
    return await fetch(address, { headers, cache: "no-store" });
  } catch {
    throw new NoResult(`The server does not answer.${again}`);
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

/** What a web server does not send in parts, all files of a page together. */
interface Kept {
  bytes: number;
}

/** A file of the bundle that lies with the server. */
export class HttpFile implements TraceFile {
  #whole: Promise<Uint8Array> | null = null;
  #first: Promise<unknown> | null = null;

  /** `address`: with a web server that knows nothing of gpuprof. */
  constructor(
    readonly name: string,
    readonly size: number,
    private readonly address = "",
    private readonly kept: Kept = { bytes: 0 },
  ) {}

  async read(offset: number, length: number): Promise<Uint8Array> {
    checkPart(this, offset, length);
    if (this.size <= SMALL) return this.#part(this.#all(), offset, length);
    if (length <= PIECE) return this.#piece(offset, length);
    const bytes = new Uint8Array(length);
    for (let done = 0; done < length; done += PIECE) {
      bytes.set(await this.#piece(offset + done, Math.min(PIECE, length - done)), done);
    }
    return bytes;
  }

  #all(): Promise<Uint8Array> {
    return this.#whole ?? this.#keep(this.#ask(0, this.size));
  }

  #keep(whole: Promise<Uint8Array>): Promise<Uint8Array> {
    this.#whole = whole;
    // The next reader tries again.
    whole.catch(() => {
      this.#whole = null;
    });
    return whole;
  }

  async #part(whole: Promise<Uint8Array>, offset: number, length: number): Promise<Uint8Array> {
    return (await whole).slice(offset, offset + length);
  }

  async #piece(offset: number, length: number): Promise<Uint8Array> {
    // The first answer says whether the server sends parts. Until then nobody else asks.
    if (this.#first !== null) await this.#first;
    if (this.#whole !== null) return this.#part(this.#whole, offset, length);
    const asked = this.#ask(offset, length);
    this.#first ??= asked.catch(() => {
      this.#first = null;
    });
    return asked;
  }

  async #ask(offset: number, length: number): Promise<Uint8Array> {
    if (length === 0) return new Uint8Array(0);
    const range = { Range: `bytes=${offset}-${offset + length - 1}` };
    const isLinked = this.address !== "";
    const answer = isLinked
      ? await ask(this.address, range, "")
      : await ask(`files/${encodeURIComponent(this.name)}`, range);
    if (answer.status === 404)
      throw isLinked ? new NoResult(`nothing is at ${this.address}`) : new Gone();
    if (answer.status === 200 && isLinked) {
      const whole = this.#allOf(answer);
      return length === this.size ? whole : this.#part(this.#keep(whole), offset, length);
    }
    if (answer.status !== 206) {
      throw new Error(`The server answered with ${answer.status}`);
    }
    const bytes = new Uint8Array(await bodyOf(() => answer.arrayBuffer()));
    const size = /\d+$/.exec(answer.headers.get("Content-Range") ?? "")?.[0] ?? this.size;
    if (bytes.length !== length || Number(size) !== this.size) throw this.#changed();
    return bytes;
  }

  /** Reads an answer with the whole file. */
  async #allOf(answer: Response): Promise<Uint8Array> {
    const { kept, size } = this;
    if (kept.bytes + size > MOST_KEPT) {
      void answer.body?.cancel();
      throw new NoResult(
        "the web server sends no parts of files, and the files are too large to be read whole. Use a server that answers range requests, or 'gpuprof serve'",
      );
    }
    kept.bytes += size;
    try {
      const bytes = new Uint8Array(await bodyOf(() => answer.arrayBuffer()));
      if (bytes.length !== size) throw this.#changed();
      return bytes;
    } catch (error) {
      kept.bytes -= size;
      throw error;
    }
  }

  #changed(): RangeError {
    return new RangeError(`${this.name} is cut, or has changed since this page was made`);
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

/** Returns the address of a file below the bundle. The files of a rank lie in a folder. */
function addressOf(name: string): string {
  return name.split("/").map(encodeURIComponent).join("/");
}

/** Returns the files of a report whose events stayed in the bundle. */
export function linkedFiles({ files = [], files_at = "" }: Manifest): Partial<Source> {
  const kept: Kept = { bytes: 0 };
  const linked = files.map(
    ({ name, size }) => new HttpFile(name, size, files_at + addressOf(name), kept),
  );
  // Browsers keep pages from disk away from files.
  if (!location.protocol.startsWith("http"))
    return {
      files: linked,
      unreadable:
        "The events are in the files of the bundle, and a page from disk may not read them. Open this page from a web server that has both",
    };
  return { files: linked };
}
