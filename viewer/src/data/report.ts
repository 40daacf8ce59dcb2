// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The source inside a report: blocks of text in the page, decoded when they are asked for. The page
// holds a few large text nodes, so a block that is never asked for costs no decoding. The files may
// be elsewhere: then http.ts reads them.

import { EngineClient } from "../engine/client";
import { decompressText } from "../trace/zstd";
import { linkedFiles } from "./http";
import { checkPart, type Manifest, type Part, type Source, type TraceFile } from "./source";

/** Bytes of a result: more than a browser makes objects of. */
const MOST_TEXT = 1 << 30;

/** Decodes base64. Throws on a digit that base64 does not have. */
export function fromBase64(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** A stretch of a file that a report carries. */
interface Carried extends Part {
  /** Its place among the bytes that are carried. */
  readonly place: number;
}

/** Reads "OFFSET:BYTES,OFFSET:BYTES". */
function readParts(text: string): Carried[] {
  let place = 0;
  return text.split(",").map((each) => {
    const [offset = 0, bytes = 0] = each.split(":").map(Number);
    const part = { offset, bytes, place };
    place += bytes;
    return part;
  });
}

/** A file as base64 text. A part is decoded from the digits that hold it, not from all. */
export class Base64File implements TraceFile {
  readonly name: string;
  readonly size: number;
  readonly #text: () => string;
  readonly parts?: readonly Carried[];

  /** `parts`: what the text has of the file; null: all. */
  constructor(name: string, size: number, text: () => string, parts: string | null = null) {
    this.name = name;
    this.size = size;
    this.#text = text;
    if (parts !== null) this.parts = readParts(parts);
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    checkPart(this, offset, length);
    if (this.parts === undefined) return this.#carried(offset, length);
    const bytes = new Uint8Array(length);
    for (const part of this.parts) {
      const from = Math.max(part.offset, offset);
      const to = Math.min(part.offset + part.bytes, offset + length);
      if (from < to)
        bytes.set(this.#carried(part.place + from - part.offset, to - from), from - offset);
    }
    return bytes;
  }

  #carried(place: number, length: number): Uint8Array {
    const first = Math.floor(place / 3);
    const last = Math.ceil((place + length) / 3);
    const bytes = fromBase64(this.#text().slice(first * 4, last * 4));
    const begin = place - first * 3;
    if (bytes.length < begin + length) throw new RangeError(`${this.name} is cut`);
    return bytes.subarray(begin, begin + length);
  }
}

function isManifest(value: unknown): value is Manifest {
  if (typeof value !== "object" || value === null) return false;
  const manifest = value as Record<string, unknown>;
  return (
    manifest.version === 1 &&
    typeof manifest.title === "string" &&
    Array.isArray(manifest.passes) &&
    Array.isArray(manifest.failed)
  );
}

/** Reads what a document says of its data; null: it carries none. Throws on another version. */
export function readManifest(page: Document): Manifest | null {
  const block = page.getElementById("gpuprof-manifest");
  if (block === null) return null;
  const manifest: unknown = JSON.parse(block.textContent ?? "");
  if (!isManifest(manifest)) {
    throw new Error("This page reads data of version 1. Write the report again with this gpuprof.");
  }
  return manifest;
}

function textOf(element: Element): string {
  const text = element.textContent ?? "";
  const isPacked = element.getAttribute("data-encoding") === "zstd+base64";
  return isPacked ? decompressText(fromBase64(text), MOST_TEXT) : text;
}

/** Reads the JSON of an element; null: there is no such element. */
function read(element: Element | undefined): unknown {
  return element === undefined ? null : JSON.parse(textOf(element));
}

/** Returns the text of the element with this name; empty: there is none. */
export function textIn(page: Document, name: string): string {
  const element = page.getElementById(name);
  return element === null ? "" : textOf(element);
}

/** Returns the engine that a document carries; null: none. */
function engineIn(
  page: Document,
  { title }: Manifest,
  files: readonly TraceFile[],
): EngineClient | null {
  const block = page.getElementById("gpuprof-engine");
  if (block === null) return null;
  return new EngineClient({
    folder: title,
    packed: () => fromBase64(block.textContent ?? ""),
    files: async () => {
      const names = page.getElementById("gpuprof-names")?.textContent ?? "";
      const whole = files.map(async (file) => ({
        path: file.name,
        bytes: await file.read(0, file.size),
      }));
      return [{ path: "names.pb.zst", bytes: fromBase64(names) }, ...(await Promise.all(whole))];
    },
  });
}

/** Returns the source of the blocks in a document; null: the document carries no data. */
export function openReport(page: Document): Source | null {
  const manifest = readManifest(page);
  if (manifest === null) return null;
  const results = new Map<string, Element>();
  const parts = new Map<string, Element>();
  for (const each of page.querySelectorAll("script.gpuprof-result")) {
    const part = each.getAttribute("data-part");
    if (part === null) results.set(each.getAttribute("data-pass") ?? "", each);
    else parts.set(part, each);
  }
  let lastPart = "";
  let resultsOfPart: Readonly<Record<string, unknown>> = {};
  const files: TraceFile[] = [];
  for (const each of page.querySelectorAll("script.gpuprof-file")) {
    const name = each.getAttribute("data-name") ?? "";
    const size = Number(each.getAttribute("data-size"));
    const text = () => each.textContent ?? "";
    files.push(new Base64File(name, size, text, each.getAttribute("data-parts")));
  }
  const linked = manifest.files_at === undefined ? {} : linkedFiles(manifest);
  const engine = engineIn(page, manifest, linked.files ?? files);
  return {
    manifest,
    files,
    ...linked,
    ...(engine !== null && { askTimeline: (question: string) => engine.askTimeline(question) }),
    async result(name: string): Promise<unknown> {
      const [pass = "", part] = name.split("@", 2);
      if (part === undefined) return read(results.get(pass));
      if (engine !== null) return JSON.parse(await engine.ask(name));
      // One element has all results of a part, and pages ask for several.
      if (part !== lastPart) {
        resultsOfPart = (read(parts.get(part)) ?? {}) as Record<string, unknown>;
        lastPart = part;
      }
      return resultsOfPart[pass] ?? null;
    },
  };
}
