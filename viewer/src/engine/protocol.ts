// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The words between the page and the worker that has the engine.

/** A stretch of a file. */
export interface Stretch {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** A file of the bundle. */
export interface BundleFile {
  readonly path: string;
  readonly size: number;
  /** What the page has of it, by offset; or where a web server has it. */
  readonly at: readonly Stretch[] | string;
}

export type ToEngine =
  | {
      readonly type: "engine";
      /** The module by zstd. */
      readonly packed: Uint8Array;
      readonly files: readonly BundleFile[];
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
  /** The engine cannot go on. `isTold`: `why` is a sentence for people. */
  | { readonly type: "broken"; readonly why: string; readonly isTold: boolean };
