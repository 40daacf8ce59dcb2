// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// For tests: sources of bytes in memory and of stored bundles.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { Manifest, Source, TraceFile } from "../data/source";

const MANIFEST: Manifest = { version: 1, title: "test", gpuprof: "test", passes: [], failed: [] };

export function memoryFile(name: string, bytes: Uint8Array): TraceFile {
  return {
    name,
    size: bytes.length,
    async read(offset, length) {
      if (offset < 0 || offset + length > bytes.length) throw new RangeError("outside of the file");
      return new Uint8Array(bytes.subarray(offset, offset + length));
    },
  };
}

export function sourceOf(
  files: readonly TraceFile[],
  results: Readonly<Record<string, unknown>> = {},
): Source {
  return { manifest: MANIFEST, files, result: async (pass) => results[pass] ?? null };
}

const HERE = new URL(".", import.meta.url).pathname;
export const FIXTURES = `${HERE}fixtures/`;
export const TRACES = `${HERE}../../../tests/golden/traces/`;

/** Returns the files of a stored bundle: a folder, or one file. */
export function storedFiles(path: string): TraceFile[] {
  if (path.endsWith(".gpt"))
    return [memoryFile(path.slice(path.lastIndexOf("/") + 1), readFileSync(path))];
  const names = readdirSync(path).filter((name) => /\.(gpt|pb)$/.test(name));
  return names.sort().map((name) => memoryFile(name, readFileSync(`${path}/${name}`)));
}

export function readText(path: string): string | null {
  return existsSync(path) ? readFileSync(path, "utf8") : null;
}
