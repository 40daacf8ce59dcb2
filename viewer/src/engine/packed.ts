// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The engine as a report carries it: the module by gzip.

/** Unpacks and compiles the module. */
export async function compilePacked(packed: Uint8Array): Promise<WebAssembly.Module> {
  const bytes = new Blob([packed as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(bytes).arrayBuffer());
}
