// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The words between the page and the worker that has the engine.

/** A file of the bundle, as a whole. */
export interface WholeFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

export type ToEngine =
  | {
      readonly type: "engine";
      /** The module by gzip. */
      readonly packed: Uint8Array;
      readonly files: readonly WholeFile[];
      /** The folder's name in results. */
      readonly folder: string;
    }
  | { readonly type: "ask"; readonly id: number; readonly name: string }
  /** A question of the timeline (analysis/timeline/answer.h). */
  | { readonly type: "ask_timeline"; readonly id: number; readonly question: string };

export type FromEngine =
  | { readonly type: "answer"; readonly id: number; readonly text: string | Uint8Array }
  /** The question has no answer. */
  | { readonly type: "refused"; readonly id: number; readonly why: string }
  /** The engine cannot go on. */
  | { readonly type: "broken"; readonly why: string };
