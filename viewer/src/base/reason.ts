// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

/** Returns what went wrong, for people. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
