// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Columns of tables. A column has one unit, which stands in its header, and fixed decimals.

import type { ComponentChildren } from "preact";
import { placeHash, type TimelinePlace } from "../app/state";
import { bytes, count, duration, fixed, NOT_MEASURED, percent } from "../base/format";
import { hueOf, type Look } from "../base/vocabulary";
import type { Value } from "./table_data";

type Maybe = number | null | undefined;

export interface Column<Row> {
  readonly id: string;
  readonly header: string;
  /** The unit of its numbers: it stands in the header, once for columns side by side. */
  readonly unit?: string;
  /** What sorting and copies take. */
  readonly value: (row: Row) => Value;
  /** What the cell shows; absent: the value. */
  readonly cell?: (row: Row) => ComponentChildren;
  readonly isNumber?: boolean;
  readonly isBar?: boolean;
  /** A share of the table's width: long texts are cut there. */
  readonly width?: string;
  /** A narrow window leaves it out: 2 up to 1,100 pixels, 3 up to 700. */
  readonly leaves?: 2 | 3;
  /** What a copy takes instead of the value. */
  readonly copied?: (row: Row) => Value;
  /** Hidden until somebody chooses it. */
  readonly isHidden?: boolean;
  /** Explains the column. */
  readonly tip?: string;
  /** The whole text of a cell that may be cut, or the reason of a missing value. */
  readonly title?: (row: Row) => string;
  /** The filter looks here. */
  readonly isSearched?: boolean;
}

type Extra<Row> = Partial<Omit<Column<Row>, "id" | "header" | "value">>;

export function textColumn<Row>(
  id: string,
  header: string,
  value: (row: Row) => string | null,
  extra: Extra<Row> = {},
): Column<Row> {
  return { id, header, value, isSearched: true, title: (row) => value(row) ?? "", ...extra };
}

function numberColumn<Row>(
  id: string,
  header: string,
  value: (row: Row) => Maybe,
  write: (value: Maybe) => string,
  extra: Extra<Row>,
): Column<Row> {
  const cell = (row: Row) => write(value(row));
  return { id, header, value: (row) => value(row) ?? null, cell, isNumber: true, ...extra };
}

export function countColumn<Row>(
  id: string,
  header: string,
  value: (row: Row) => Maybe,
  extra: Extra<Row> = {},
): Column<Row> {
  return numberColumn(id, header, value, (v) => (v === 0 ? "0" : count(v)), extra);
}

/** Returns a column of numbers that name something: a step, a device, a process. 0 is a name too. */
export function idColumn<Row>(
  id: string,
  header: string,
  value: (row: Row) => Maybe,
  extra: Extra<Row> = {},
): Column<Row> {
  const cell = (row: Row) => <span>{value(row) ?? NOT_MEASURED}</span>;
  return { id, header, value: (row) => value(row) ?? null, cell, isNumber: true, ...extra };
}

/** Returns a column of numbers with these decimals, in a unit that the header names. */
export function fixedColumn<Row>(
  id: string,
  header: string,
  value: (row: Row) => Maybe,
  decimals: number,
  extra: Extra<Row> = {},
): Column<Row> {
  return numberColumn(id, header, value, (v) => fixed(v, decimals), extra);
}

function scaled(value: Maybe, scale: number): number | null {
  return value === null || value === undefined ? null : value / scale;
}

/** Returns a column of times in milliseconds. `value`: nanoseconds. */
export function msColumn<Row>(
  id: string,
  header: string,
  value: (row: Row) => Maybe,
  extra: Extra<Row> = {},
): Column<Row> {
  return fixedColumn(id, header, (row) => scaled(value(row), 1e6), 2, extra);
}

/** A unit that a column of times has, with its decimals. */
export interface TimeUnit {
  readonly name: string;
  readonly ns: number;
  readonly decimals: number;
}

/** Returns the unit in which the greatest of some times has three digits. */
export function unitOfTimes(greatest_ns: number): TimeUnit {
  const [name, ns] =
    greatest_ns >= 999.5e6
      ? (["s", 1e9] as const)
      : greatest_ns >= 999.5e3
        ? (["ms", 1e6] as const)
        : (["µs", 1e3] as const);
  return { name, ns, decimals: greatest_ns / ns >= 99.95 ? 1 : 2 };
}

/** Returns a column of times in a unit that was chosen for its greatest. */
export function timeColumn<Row>(
  id: string,
  words: string,
  unit: TimeUnit,
  value: (row: Row) => Maybe,
  extra: Extra<Row> = {},
): Column<Row> {
  const header = words === "" ? unit.name : `${words}, ${unit.name}`;
  return fixedColumn(id, header, (row) => scaled(value(row), unit.ns), unit.decimals, extra);
}

/** Returns a column of times in microseconds. `value`: nanoseconds. */
export function usColumn<Row>(
  id: string,
  header: string,
  value: (row: Row) => Maybe,
  extra: Extra<Row> = {},
): Column<Row> {
  return fixedColumn(id, header, (row) => scaled(value(row), 1e3), 1, extra);
}

/** Returns the cell of the longest event of each row, in microseconds: it leads to the timeline. */
export function longestCell<Row>(
  value: (row: Row) => number,
  place: (row: Row) => Omit<TimelinePlace, "end_ns">,
): Pick<Column<Row>, "cell"> {
  const href = (row: Row) => {
    const at = place(row);
    return placeHash({ ...at, end_ns: at.start_ns + value(row) });
  };
  return {
    cell: (row) => (
      <a href={href(row)} title="Show in timeline">
        {fixed(value(row) / 1e3, 1)}
      </a>
    ),
  };
}

/** Returns a column of sizes in MiB. `value`: bytes. */
export function mibColumn<Row>(
  id: string,
  header: string,
  value: (row: Row) => Maybe,
  extra: Extra<Row> = {},
): Column<Row> {
  return fixedColumn(id, header, (row) => scaled(value(row), 2 ** 20), 2, extra);
}

/** Returns a column of sizes, each with its own unit: for sizes of very different kinds. */
export function bytesColumn<Row>(
  id: string,
  header: string,
  value: (row: Row) => Maybe,
  extra: Extra<Row> = {},
): Column<Row> {
  return numberColumn(id, header, value, (v) => (v === 0 ? "0" : bytes(v)), extra);
}

/** Returns a column of times, each with its own unit. `value`: nanoseconds. */
export function durationColumn<Row>(
  id: string,
  header: string,
  value: (row: Row) => Maybe,
  extra: Extra<Row> = {},
): Column<Row> {
  return numberColumn(id, header, value, duration, extra);
}

export function percentColumn<Row>(
  id: string,
  header: string,
  value: (row: Row) => Maybe,
  extra: Extra<Row> = {},
): Column<Row> {
  const copied = (row: Row) => {
    const share = value(row) ?? null;
    return share === null ? null : Number(share.toPrecision(7));
  };
  const write = (share: Maybe) => (share === 0 ? "0" : percent(share));
  return numberColumn(id, header, value, write, { copied, ...extra });
}

/** Returns a column of bars, scaled to the greatest value. No bar stands for 0. */
export function barColumn<Row>(
  id: string,
  header: string,
  rows: readonly Row[],
  value: (row: Row) => Maybe,
  extra: Extra<Row> & { readonly color?: (row: Row) => Look } = {},
): Column<Row> {
  const { color, ...rest } = extra;
  let greatest = 0;
  for (const row of rows) greatest = Math.max(greatest, value(row) ?? 0);
  const cell = (row: Row) => {
    const size = value(row) ?? 0;
    if (size <= 0 || greatest === 0) return null;
    const width = `${((size / greatest) * 100).toFixed(1)}%`;
    return (
      <div>
        <u style={{ width, ...(color && { background: `var(--${hueOf(color(row))})` }) }} />
      </div>
    );
  };
  return {
    id,
    header,
    value: (row) => value(row) ?? null,
    cell,
    isBar: true,
    leaves: 3,
    width: "14%",
    ...rest,
  };
}

/** Returns whether a cell holds nothing or zero: its text is quieter. */
export function isNothing(shown: unknown): boolean {
  return shown === NOT_MEASURED || shown === "0";
}
