// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The source inside a report: blocks of text in the page, decoded when they are asked for. The page
// holds a few large text nodes, so a block that is never asked for costs no decoding. The engine
// reads the files, which may be with a web server.

import { EngineClient } from "../engine/client";
import type { BundleFile, Stretch } from "../engine/protocol";
import type { Manifest, Source } from "./source";

/** Bytes of a result: more than a browser makes objects of. */
const MOST_TEXT = 1 << 30;

/** Decodes base64. Throws on a digit that base64 does not have. */
export function fromBase64(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Reads "OFFSET:BYTES,OFFSET:BYTES": the stretches of a file that a text carries, joined. */
export function readStretches(parts: string | null, joined: Uint8Array): Stretch[] {
  if (parts === null) return [{ offset: 0, bytes: joined }];
  let place = 0;
  return parts.split(",").map((each) => {
    const [offset = 0, length = 0] = each.split(":").map(Number);
    // A copy: what goes to the worker must own its bytes.
    const bytes = joined.slice(place, place + length);
    place += length;
    return { offset, bytes };
  });
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

/** Unpacks gzip. Throws if the text is longer than a browser makes objects of. */
export async function unpackText(packed: Uint8Array, most = MOST_TEXT): Promise<string> {
  const reader = new Blob([packed as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new DecompressionStream("gzip"))
    .getReader();
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new RangeError("a result is too long");
    }
    pieces.push(value);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return new TextDecoder().decode(bytes);
}

async function textOf(element: Element): Promise<string> {
  const text = element.textContent ?? "";
  const isPacked = element.getAttribute("data-encoding") === "gzip+base64";
  return isPacked ? unpackText(fromBase64(text)) : text;
}

/** Reads the JSON of an element; null: there is no such element. */
async function read(element: Element | undefined): Promise<unknown> {
  return element === undefined ? null : JSON.parse(await textOf(element));
}

/** Returns the text of the element with this name; empty: there is none. */
export async function textIn(page: Document, name: string): Promise<string> {
  const element = page.getElementById(name);
  return element === null ? "" : textOf(element);
}

/** Returns the files inside a document, decoded. */
function filesIn(page: Document): BundleFile[] {
  return [...page.querySelectorAll("script.gpuprof-file")].map((each) => ({
    path: each.getAttribute("data-name") ?? "",
    size: Number(each.getAttribute("data-size")),
    at: readStretches(each.getAttribute("data-parts"), fromBase64(each.textContent ?? "")),
  }));
}

/** Returns the files of a report whose events stayed in the bundle. */
export function linkedFiles({ files = [], files_at = "" }: Manifest, base: string): BundleFile[] {
  // The files of a rank lie in a folder.
  const addressOf = (name: string) => name.split("/").map(encodeURIComponent).join("/");
  return files.map(({ name, size }) => {
    return { path: name, size, at: new URL(files_at + addressOf(name), base).href };
  });
}

const FROM_DISK =
  "The events are in the files of the bundle, and a page from disk may not read them. Open this page from a web server that has both";

/** Returns the engine that a document carries; null: none, or it cannot read the files. */
function engineIn(page: Document, manifest: Manifest): EngineClient | null {
  const block = page.getElementById("gpuprof-engine");
  if (block === null) return null;
  const more = ["names.pb.zst", "parts.pb"].flatMap((path): BundleFile[] => {
    const text = page.getElementById(`gpuprof-${path.split(".", 1)[0]}`)?.textContent;
    if (text == null) return [];
    const bytes = fromBase64(text);
    return [{ path, size: bytes.length, at: [{ offset: 0, bytes }] }];
  });
  return new EngineClient({
    folder: manifest.title,
    packed: () => fromBase64(block.textContent ?? ""),
    files: () => [
      ...more,
      ...(manifest.files_at === undefined ? filesIn(page) : linkedFiles(manifest, page.baseURI)),
    ],
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
  let resultsOfPart: Promise<unknown> = Promise.resolve(null);
  // Browsers keep pages from disk away from files.
  const isReadable = manifest.files_at === undefined || /^https?:/.test(page.baseURI);
  const engine = isReadable ? engineIn(page, manifest) : null;
  const computes = engine !== null && manifest.lacks_events !== true;
  return {
    manifest,
    ...(computes && { computes }),
    ...(!isReadable && { unreadable: FROM_DISK }),
    ...(engine !== null && { askTimeline: (question: string) => engine.askTimeline(question) }),
    async result(name: string): Promise<unknown> {
      const [pass = "", part] = name.split("@", 2);
      if (part === undefined) return read(results.get(pass));
      const element = parts.get(part);
      if (element === undefined && computes) return JSON.parse(await engine.ask(name));
      // One element has all results of a part, and pages ask for several.
      if (part !== lastPart) {
        resultsOfPart = read(element);
        lastPart = part;
      }
      return ((await resultsOfPart) as Record<string, unknown> | null)?.[pass] ?? null;
    },
  };
}
