// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Checks that the page without data is small: it is in every report, and reports are mailed. The engine counts, which
// the page carries as WebAssembly.
//
//   node scripts/check-size.mjs [PAGE]      # default: dist/index.html; exit status 1: too large
//
// GPUPROF_ENGINE names the engine, packed by zstd.

import { existsSync, readFileSync, statSync } from "node:fs";
import { gzipSync } from "node:zlib";

const MOST_BYTES = 1_800_000;

const page = process.argv[2] ?? "dist/index.html";
const plain = readFileSync(page);
const packed = gzipSync(plain, { level: 9 }).length;
const path = process.env.GPUPROF_ENGINE ?? "";
const engine = existsSync(path) ? statSync(path).size : 0;
console.log(`${page}: ${packed} bytes by gzip, and the engine ${engine} by zstd, of ${MOST_BYTES}`);
if (packed + engine > MOST_BYTES) {
  console.error("The page is too large. esbuild --metafile shows what is in it.");
  process.exit(1);
}
