// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// For tests: the engine on a stored bundle, in Node.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { Trace } from "../trace/api";
import { openAsked } from "../trace/asked";
import { Engine } from "./engine";
import { fileOfStretches } from "./files";
import { compilePacked } from "./packed";

/** The folder of the tests. */
export const STORED = `${new URL(".", import.meta.url).pathname}../../../tests/`;

/** Returns where the engine of the build is; null: the build has none. */
export function engineFile(): string | null {
  const path = process.env.GPUPROF_ENGINE;
  return path !== undefined && existsSync(path) ? path : null;
}

/** Opens a stored bundle: a folder, or one file. */
export async function openStored(path: string): Promise<Trace> {
  const isFile = path.endsWith(".gpt");
  const folder = isFile ? path.slice(0, path.lastIndexOf("/")) : path;
  const names = isFile
    ? [path.slice(path.lastIndexOf("/") + 1)]
    : readdirSync(path).filter((name) => /\.(gpt|pb)$/.test(name));
  const files = names.map((name) => {
    const bytes = readFileSync(`${folder}/${name}`);
    return fileOfStretches(name, bytes.length, [{ offset: 0, bytes }]);
  });
  const module = await compilePacked(readFileSync(engineFile() ?? ""));
  const engine = await Engine.start(module, files, "stored");
  return openAsked(async (question) => engine.askTimeline(question));
}
