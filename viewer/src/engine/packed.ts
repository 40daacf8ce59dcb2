// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The engine as a report carries it: the module by zstd, which makes it a quarter smaller than gzip.
// Browsers do not unpack zstd.

import { decompress } from "fzstd";

/** Unpacks and compiles the module. */
export async function compilePacked(packed: Uint8Array): Promise<WebAssembly.Module> {
  return WebAssembly.compile(decompress(packed) as Uint8Array<ArrayBuffer>);
}
