// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The files of the bundle as the engine reads them: from memory, or by ranges from a web server. The
// engine waits for each read. A worker may do that; the page may not.

import type { BundleFile, Stretch } from "./protocol";
import type { EngineFile } from "./wasi";

/** Bytes of one request at least: the engine reads on from block to block. */
const PIECE = 4 << 20;
/** Bytes of pieces that a file keeps: the blocks of one table lie among those of others. */
const MOST_PIECES = 64 << 20;
/** Bytes of files that are kept as a whole, because their server does not send ranges. */
const MOST_KEPT = 256 << 20;

/** Why a file cannot be read, in a sentence for people. */
export class Unreachable extends Error {}

/** A file that the page has, whole or in stretches. What is not there reads as zeros. */
export function fileOfStretches(
  path: string,
  size: number,
  stretches: readonly Stretch[],
): EngineFile {
  return {
    path,
    size,
    read(offset, length) {
      const [first] = stretches;
      if (stretches.length === 1 && first?.bytes.length === size)
        return first.bytes.subarray(offset, offset + length);
      const bytes = new Uint8Array(length);
      let low = 0;
      let high = stretches.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        const at = stretches[middle] as Stretch;
        if (at.offset + at.bytes.length <= offset) low = middle + 1;
        else high = middle;
      }
      for (; low < stretches.length; low++) {
        const at = stretches[low] as Stretch;
        if (at.offset >= offset + length) break;
        const from = Math.max(at.offset, offset);
        const to = Math.min(at.offset + at.bytes.length, offset + length);
        bytes.set(at.bytes.subarray(from - at.offset, to - at.offset), from - offset);
      }
      return bytes;
    },
  };
}

/** What a server sent: a range, or the whole file. */
export interface Sent {
  readonly status: number;
  readonly bytes: Uint8Array;
  /** The size of the whole file; null: the server did not say. */
  readonly size: number | null;
}
/** Asks a server for a range of a file, and waits. */
export type AskRange = (address: string, offset: number, length: number) => Sent;

/** Asks by a request that the worker waits for. */
export function askRange(address: string, offset: number, length: number): Sent {
  const request = new XMLHttpRequest();
  request.open("GET", address, false);
  request.responseType = "arraybuffer";
  request.setRequestHeader("Range", `bytes=${offset}-${offset + length - 1}`);
  try {
    request.send();
  } catch {
    throw new Unreachable("The server does not answer.");
  }
  const size = /\d+$/.exec(request.getResponseHeader("Content-Range") ?? "")?.[0];
  return {
    status: request.status,
    bytes: new Uint8Array(request.response as ArrayBuffer),
    size: size === undefined ? null : Number(size),
  };
}

/** The files of one bundle that lie with a web server. */
export class LinkedFiles {
  #kept = 0;

  constructor(private readonly ask: AskRange = askRange) {}

  file({ path, size, at }: BundleFile & { readonly at: string }): EngineFile {
    const pieces: Stretch[] = []; // the latest first
    let kept = 0;
    return {
      path,
      size,
      read: (offset, length) => {
        const place = pieces.findIndex(
          (each) => each.offset <= offset && offset + length <= each.offset + each.bytes.length,
        );
        const [known] = place < 0 ? [] : pieces.splice(place, 1);
        const piece = known ?? this.#fetch(path, at, size, offset, Math.max(length, PIECE));
        if (known === undefined) kept += piece.bytes.length;
        pieces.unshift(piece);
        while (kept > MOST_PIECES && pieces.length > 1) kept -= pieces.pop()?.bytes.length ?? 0;
        return piece.bytes.subarray(offset - piece.offset, offset - piece.offset + length);
      },
    };
  }

  #fetch(path: string, address: string, size: number, offset: number, wanted: number): Stretch {
    const length = Math.min(wanted, size - offset);
    if (length <= 0) return { offset, bytes: new Uint8Array(0) };
    const { status, bytes, size: told } = this.ask(address, offset, length);
    const changed = () =>
      new Unreachable(`${path} is cut, or has changed since this page was made.`);
    if (status === 404) throw new Unreachable(`Nothing is at ${address}.`);
    if (status === 206) {
      if (bytes.length !== length || (told ?? size) !== size) throw changed();
      return { offset, bytes };
    }
    if (status !== 200) throw new Unreachable(`The server answered with ${status}.`);
    if (bytes.length !== size) throw changed();
    this.#kept += size;
    if (this.#kept > MOST_KEPT)
      throw new Unreachable(
        "The web server sends no parts of files, and the files are too large to be read whole. Use a server that answers range requests, or 'gpuprof serve'.",
      );
    return { offset: 0, bytes };
  }
}

/** Opens the files of a bundle. */
export function openFiles(files: readonly BundleFile[], ask?: AskRange): EngineFile[] {
  const linked = new LinkedFiles(ask);
  return files.map((file) => {
    const { path, size, at } = file;
    return typeof at === "string"
      ? linked.file({ path, size, at })
      : fileOfStretches(path, size, at);
  });
}
