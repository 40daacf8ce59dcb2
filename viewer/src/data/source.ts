// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Where the page's data comes from. Two sources keep this contract: the blocks inside a report
// (report.ts), and a server's files (http.ts). A report may have its results inside and its files on
// a web server. Nothing else of the page knows which one it has.

/** A file of the bundle: the chunks of one process. */
export interface TraceFile {
  readonly name: string;
  readonly size: number;
  /**
   * Reads a part. Rejects if the part is not within the file. Bytes that are left out are 0. Nobody
   * else has the bytes: the caller may give them away.
   */
  read(offset: number, length: number): Promise<Uint8Array>;
  /** What is not left out, by the offset. Absent: all is there. */
  readonly parts?: readonly Part[];
}

/** A stretch of a file. */
export interface Part {
  readonly offset: number;
  readonly bytes: number;
}

/** Returns whether a part of a file is there as a whole. */
export function isThere({ parts }: TraceFile, offset: number, length: number): boolean {
  if (parts === undefined) return true;
  let low = 0;
  let high = parts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((parts[middle] as Part).offset <= offset) low = middle + 1;
    else high = middle;
  }
  const part = parts[low - 1];
  return part !== undefined && offset + length <= part.offset + part.bytes;
}

/** Throws if a part is not within a file. */
export function checkPart(file: TraceFile, offset: number, length: number): void {
  const isPart = Number.isSafeInteger(offset) && Number.isSafeInteger(length);
  if (!isPart || offset < 0 || length < 0 || offset + length > file.size) {
    throw new RangeError(`${file.name} has ${file.size} bytes`);
  }
}

/** What the page is of. Written by `gpuprof report` and by `gpuprof serve`. */
export interface Manifest {
  /** Version of this description; the page refuses others. */
  readonly version: 1;
  /** The input as the user named it, without its folder. */
  readonly title: string;
  readonly gpuprof: string;
  /** Passes whose result is there, by the names of `gpuprof stats`. */
  readonly passes: readonly string[];
  /** Passes that failed, with the reason. */
  readonly failed: readonly { readonly pass: string; readonly reason: string }[];
  /** Parts that have all results as well: processes, devices, and steps with words for people. */
  readonly parts?: readonly ManifestPart[];
  /** One sentence about what is left out, and how to see it. Absent: everything is there. */
  readonly left_out?: string;
  /** The page has the engine: results of every part of the recording are computed in it. */
  readonly engine?: true;
  /** The page comes from a server, which has the results and these files. */
  readonly http?: true;
  readonly files?: readonly { readonly name: string; readonly size: number }[];
  /** Where the files are if the page has the results alone, relative to this page: "run1/". */
  readonly files_at?: string;
  /** The page is the list of a folder's captures: it has no results of its own. */
  readonly captures?: true;
  /** Where the list of captures is, relative to this page: "../../". */
  readonly folder?: string;
}

/** A part of the recording, by the name of its results. */
export interface ManifestPart {
  readonly name: string;
  /** The number of the step, and why it matters. Absent: the part is not a step. */
  readonly step?: string;
  /** When the step was. */
  readonly start_ns?: number;
  readonly end_ns?: number;
}

/** Why there is no result, in a sentence for people. */
export class NoResult extends Error {}

/** The recording was there when the page was opened, and is not any more. */
export class Gone extends NoResult {
  constructor() {
    super(
      "The recording is not there any more: it was removed or moved since this page was opened",
    );
  }
}

export interface Source {
  readonly manifest: Manifest;
  readonly files: readonly TraceFile[];
  /** Why the files cannot be read, without a full stop. Absent: they can. */
  readonly unreadable?: string;
  /**
   * Returns the JSON of a pass, as `gpuprof stats PASS --json` prints it; null: it is not there. The
   * name PASS:KEY asks for `stats PASS --by KEY`; PASS@PART and PASS:KEY@PART ask for a part
   * (app/scope.ts). Rejects with NoResult if the pass failed.
   */
  result(pass: string): Promise<unknown>;
  /** Answers questions of the timeline (trace/asked.ts). Absent: the page reads the files itself. */
  askTimeline?(question: string): Promise<Uint8Array>;
  /** Returns the outline of a track, by outlinePath() of trace/outline.ts. Absent: nobody makes it. */
  outline?(path: string): Promise<Uint8Array>;
}
