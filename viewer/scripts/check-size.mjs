// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Checks that the page without data is small: it is in every report, and reports are mailed. The limit has room for
// the engine as WebAssembly, and for well-kept libraries as they are.
//
//   node scripts/check-size.mjs [PAGE]      # default: dist/index.html; exit status 1: too large

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const MOST_BYTES = 1_800_000;

const page = process.argv[2] ?? "dist/index.html";
const plain = readFileSync(page);
const packed = gzipSync(plain).length;
console.log(`${page}: ${plain.length} bytes, ${packed} by gzip, of ${MOST_BYTES}`);
if (packed > MOST_BYTES) {
  console.error("The page is too large. esbuild --metafile shows what is in it.");
  process.exit(1);
}
