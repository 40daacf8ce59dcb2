// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Where the page's data comes from. Two sources keep this contract: the blocks inside a report
// (report.ts), and a server (http.ts). A report may have its results inside and its files on a web
// server. Nothing else of the page knows which one it has.

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
  /** The page has the engine: it answers about the events, and computes results. */
  readonly engine?: true;
  /** Events are left out of the page: results of parts are those that the page has. */
  readonly lacks_events?: true;
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

/** A value of a query. Numbers of many digits are texts. */
export type QueryCell = string | number | boolean | null;

/** The rows of a query in SQL. */
export interface QueryAnswer {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly QueryCell[])[];
  /** Not all rows are there; null: they are. */
  readonly truncated: { readonly shown: number; readonly total: number } | null;
}

export interface Source {
  readonly manifest: Manifest;
  /** Results of every part are computed when they are asked for. Absent: manifest.parts has all. */
  readonly computes?: true;
  /**
   * Returns the JSON of a pass, as `gpuprof stats PASS --json` prints it; null: it is not there. The
   * name PASS:KEY asks for `stats PASS --by KEY`; PASS@PART and PASS:KEY@PART ask for a part
   * (app/scope.ts). Rejects with NoResult if the pass failed. `signal` says that nobody waits for it
   * any more: it then rejects, and what is computed for it alone ends.
   */
  result(pass: string, signal?: AbortSignal): Promise<unknown>;
  /** Returns what a result waits for, in sentences for people; "": nothing worth saying. */
  waitOf?(pass: string): Promise<string>;
  /** Returns whether a result would take long: it is computed for a page that shows it alone. */
  isLarge?(pass: string): Promise<boolean>;
  /** Answers questions of the timeline (trace/asked.ts). Absent: the events are not there. */
  askTimeline?(question: string): Promise<Uint8Array>;
  /** Runs a SELECT; an empty one tells all tables and columns. Absent: nobody can. */
  query?(sql: string, signal?: AbortSignal): Promise<QueryAnswer>;
  /** Why the events are not there, without a full stop. Absent: they are not in the page. */
  readonly unreadable?: string;
}
