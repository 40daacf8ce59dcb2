// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What tests need of Node: to read files, and the environment. The page has nothing of Node, so Node's own types stay out.

declare module "node:fs" {
  export function readFileSync(path: string): Uint8Array;
  export function readFileSync(path: string, encoding: "utf8"): string;
  export function readdirSync(path: string): string[];
  export function existsSync(path: string): boolean;
}

declare const process: { readonly env: Readonly<Record<string, string | undefined>> };
