// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Filtering and copying of tables, without a page.

import { plain } from "../base/plain";

export type Value = string | number | null;

/** What a filter text means: a plain text without regard to case, or /a regular expression/. */
export interface Filter {
  readonly test: (text: string) => boolean;
  /** Why the expression cannot be used; empty: it can. */
  readonly fault: string;
}

/** Reads a filter. An expression that is not finished yet hides nothing. */
export function makeFilter(text: string): Filter {
  const everything = { test: () => true, fault: "" };
  if (text === "") return everything;
  if (!text.startsWith("/")) {
    const wanted = text.toLowerCase();
    return { test: (name) => name.toLowerCase().includes(wanted), fault: "" };
  }
  const body = text.slice(1).replace(/\/$/, "");
  if (body === "") return everything;
  try {
    const expression = new RegExp(body, "i");
    return { test: (name) => expression.test(name), fault: "" };
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    return { test: () => true, fault };
  }
}

/** Returns the rows in the order of their values. Those that were not measured come last. */
export function sortRows<Row>(
  rows: readonly Row[],
  value: (row: Row) => Value,
  isDescending: boolean,
): Row[] {
  const sign = isDescending ? -1 : 1;
  const keyed = rows.map((row) => ({ row, key: value(row) }));
  keyed.sort(({ key: a }, { key: b }) => {
    if (a === null || b === null) return (a === null ? 1 : 0) - (b === null ? 1 : 0);
    return a < b ? -sign : a > b ? sign : 0;
  });
  return keyed.map(({ row }) => row);
}

// What formulas begin with, also as the wide characters of East Asia. Spreadsheets drop blanks.
const FORMULA = /^[ \u00a0\u3000]*[=+\-@\uff1d\uff0b\uff0d\uff20]/;
const NUMBER = /^[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?$/;

/**
 * Returns a text that a spreadsheet takes for no formula, as the command writes it
 * (analysis/render/csv_text.cc). Some spreadsheets begin a cell behind a semicolon.
 */
function disarmed(text: string): string {
  return plain(text)
    .split(";")
    .map((part) => (FORMULA.test(part) && !NUMBER.test(part) ? `'${part}` : part))
    .join(";");
}

/** Returns a value as a cell of TSV: one line, no tab. It is made to be put into a spreadsheet. */
function tsvCell(value: Value): string {
  if (typeof value === "number") return String(value);
  return value === null ? "" : disarmed(value.replace(/[\t\r\n]+/g, " "));
}

/** Returns a value as a cell of CSV by RFC 4180. */
function csvCell(value: Value): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const safe = disarmed(value);
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function toTsv(rows: readonly (readonly Value[])[]): string {
  return rows.map((row) => row.map(tsvCell).join("\t")).join("\n");
}

export function toCsv(rows: readonly (readonly Value[])[]): string {
  return rows.map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");
}
