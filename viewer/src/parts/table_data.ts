// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Filtering and copying of tables, without a page.

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

/** Returns a value as a cell of TSV: one line, no tab. */
function tsvCell(value: Value): string {
  return value === null ? "" : String(value).replace(/[\t\r\n]+/g, " ");
}

/**
 * Returns a value as a cell of CSV by RFC 4180. A text that a spreadsheet would run as a formula
 * gets an apostrophe.
 */
function csvCell(value: Value): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function toTsv(rows: readonly (readonly Value[])[]): string {
  return rows.map((row) => row.map(tsvCell).join("\t")).join("\n");
}

export function toCsv(rows: readonly (readonly Value[])[]): string {
  return rows.map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");
}
