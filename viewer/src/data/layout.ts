// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How tables of results are shown: what `gpuprof schema --json` says of them. The layouts themselves
// stand in tables.gen.ts.

/** How the values of a column are written. `scaled`: numbers of one unit, which the header names. */
export type Kind =
  | "text"
  | "word"
  | "flag"
  | "count"
  | "id"
  | "process"
  | "address"
  | "percent"
  | "bytes"
  | "duration"
  | "scaled";

export interface ColumnLayout {
  /** The path of the field in its row. */
  readonly field: string;
  readonly title: string;
  readonly kind: Kind;
  /** The unit of a scaled column. */
  readonly unit?: string;
  readonly divisor?: number;
  readonly decimals?: number;
  /** The field that the value is a part of. */
  readonly shareOf?: string;
  /** A field without which there is no value. */
  readonly needs?: string;
  /** What stands for a text that is not there. */
  readonly blank?: string;
  /** Its texts may be cut. */
  readonly isFlexible?: boolean;
  readonly tip?: string;
  /** Hidden in a narrow window, or until somebody chooses it. */
  readonly page?: "if_wide" | "offered";
  /** When there is reason to show it: any or no row has the value, or rows differ in it. */
  readonly shown?: "any" | "none" | "different" | "different_in_process";
  /** The field that `shown` asks about; absent: the column's own. */
  readonly shownBy?: string;
  /** The field that `shown` asks about may be null: 0 is a value then. */
  readonly isNullable?: boolean;
  /** The keys of `--by` that it belongs to, and that it does not. */
  readonly onlyBy?: readonly string[];
  readonly exceptBy?: readonly string[];
}

export interface TableLayout {
  /** The path of the list in the result. */
  readonly rows: string;
  readonly title: string;
  /** One row and several. */
  readonly noun: readonly [string, string];
  /** The field that rows are sorted by, the greatest first; empty: the order of the result. */
  readonly sortedBy: string;
  readonly onlyBy: readonly string[];
  readonly columns: readonly ColumnLayout[];
}
