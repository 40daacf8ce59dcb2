// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Columns of the tables of results, made of the command's own description of them. A page adds what
// is its own: a link, a colour, a column between two others.

import type { Look } from "../base/vocabulary";
import type { ColumnLayout, TableLayout } from "../data/layout";
import { TABLES } from "../data/tables.gen";
import {
  barColumn,
  bytesColumn,
  type Column,
  countColumn,
  durationColumn,
  fixedColumn,
  idColumn,
  percentColumn,
  textColumn,
} from "./columns";

export interface Own<Row> {
  /** What is other than the description says, by the field of the column. */
  readonly cells?: { readonly [Field in keyof Row]?: Partial<Column<Row>> };
  /** Columns behind that of a field. */
  readonly behind?: { readonly [Field in keyof Row]?: readonly Column<Row>[] };
  /** The bar of what the rows are sorted by; false: there is none. */
  readonly bar?: false | { readonly color?: (row: Row) => Look; readonly width?: string };
  /** The field of the bar, if the rows are sorted by another one than usual. */
  readonly sort?: keyof Row & string;
}

/** Windows that are narrower leave columns out. */
const WIDE = 1440;

/** Returns the description of a table; undefined: the result has none by this key. */
export function layoutOf(pass: string, rows: string, by = ""): TableLayout | undefined {
  return TABLES[pass]?.find(
    (table) => table.rows === rows && (table.onlyBy.length === 0 || table.onlyBy.includes(by)),
  );
}

/** Returns the words for one row and for several. */
export function nounOf(pass: string, rows: string, by = ""): readonly [string, string] {
  return layoutOf(pass, rows, by)?.noun ?? ["row", "rows"];
}

/** Returns the value at a path of fields. */
export function valueAt(row: object, path: string): unknown {
  let value: unknown = row;
  for (const name of path.split(".")) value = (value as Record<string, unknown> | null)?.[name];
  return value ?? null;
}

function numberAt(row: object, path: string): number | null {
  const value = valueAt(row, path);
  return typeof value === "number" ? value : null;
}

/** Returns whether a row has a value. 0 is one if a missing value would be null. */
function has(row: object, path: string, isNullable = false): boolean {
  const value = valueAt(row, path);
  if (isNullable) return value !== null;
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

function differ(rows: readonly object[], path: string): boolean {
  const [first] = rows;
  return first !== undefined && rows.some((row) => valueAt(row, path) !== valueAt(first, path));
}

function differInProcess(rows: readonly object[], path: string): boolean {
  const seen = new Map<string, unknown>();
  return rows.some((row) => {
    const value = valueAt(row, path);
    if (value === null) return false;
    const process = `${valueAt(row, "host")} ${valueAt(row, "pid")}`;
    if (!seen.has(process)) seen.set(process, value);
    return seen.get(process) !== value;
  });
}

/** Returns whether a column is shown before anybody chooses. */
function isShown(column: ColumnLayout, rows: readonly object[]): boolean {
  if (column.page === "offered" || (column.page === "if_wide" && innerWidth < WIDE)) return false;
  const path = column.shownBy ?? column.field;
  const any = () => rows.some((row) => has(row, path, column.isNullable));
  if (column.shown === "any") return any();
  if (column.shown === "none") return !any();
  if (column.shown === "different_in_process") return differInProcess(rows, path);
  const isAlways = column.shown === undefined && column.kind !== "process";
  return isAlways || differ(rows, path);
}

/** Returns whether a column belongs to the rows of a key. */
function isOf({ onlyBy, exceptBy }: ColumnLayout, by: string): boolean {
  return (onlyBy?.includes(by) ?? true) && !(exceptBy?.includes(by) ?? false);
}

/** Returns a word of results as people read it; null: it says that nothing is known. */
export function plainWord(value: unknown): string | null {
  if (typeof value !== "string" || value === "unknown" || value === "none") return null;
  return value.replaceAll("_", " ");
}

/** Returns the text of a field. Names are short if there are short ones. */
function textAt(row: object, { field, blank }: ColumnLayout): string | null {
  const value = valueAt(row, field);
  if (Array.isArray(value)) return value.join(", ") || null;
  const short = field === "name" ? valueAt(row, "short_name") : null;
  return String(short || value || blank || "") || null;
}

function addressOf(value: unknown): string | null {
  return typeof value === "number" && value !== 0 ? `0x${value.toString(16)}` : null;
}

/** Returns the number of a column, as the result has it. */
function plainNumber(row: object, { field, needs, shareOf }: ColumnLayout): number | null {
  if (needs !== undefined && !has(row, needs)) return null;
  const value = numberAt(row, field);
  if (value === null || shareOf === undefined) return value;
  const whole = numberAt(row, shareOf) ?? 0;
  return whole > 0 ? value / whole : 0;
}

/** Returns the column that a description makes. */
function columnOf<Row extends object>(column: ColumnLayout): Column<Row> {
  const { field, title, unit, divisor = 1 } = column;
  const number = (row: Row) => plainNumber(row, column);
  const scaled = (row: Row) => {
    const plain = number(row);
    return plain === null ? null : plain / divisor;
  };
  const text = (row: Row) => textAt(row, column);
  switch (column.kind) {
    case "count":
      return countColumn(field, title, number);
    case "id":
    case "process":
      return idColumn(field, title, number);
    case "percent":
      return percentColumn(field, title, number);
    case "bytes":
      return bytesColumn(field, title, number);
    case "duration":
      return durationColumn(field, title, number);
    case "scaled":
      return fixedColumn(
        field,
        title,
        scaled,
        column.decimals ?? 0,
        unit === undefined ? {} : { unit },
      );
    case "address":
      return textColumn(field, title, (row) => addressOf(valueAt(row, field)));
    case "word":
      return textColumn(field, title, (row) => plainWord(valueAt(row, field)));
    case "flag":
      return textColumn(field, title, (row) => (valueAt(row, field) === true ? "yes" : "no"));
    case "text":
      return textColumn(field, title, text, {
        title: (row) => (field === "name" ? String(valueAt(row, field)) : text(row)) ?? "",
        ...(column.isFlexible && { width: field === "name" ? "28%" : "14%" }),
      });
  }
}

/** Returns the place of the bar: behind the column of its field, and behind the share of it. */
function placeOfBar(
  columns: readonly Column<never>[],
  layouts: readonly ColumnLayout[],
  field: string,
) {
  const at = columns.findIndex(({ id }) => id === field);
  const next = columns[at + 1]?.id;
  const isShare = layouts.some((each) => each.field === next && each.kind === "percent");
  return at < 0 ? -1 : at + (isShare ? 2 : 1);
}

/**
 * Returns the columns of a table of a result.
 * @param rows The path of the list in the result.
 * @param by The key of the result; empty: it has none.
 */
export function columnsOf<Row extends object>(
  pass: string,
  rows: string,
  by: string,
  values: readonly Row[],
  own: Own<Row> = {},
): Column<Row>[] {
  const layout = layoutOf(pass, rows, by);
  const layouts = layout?.columns.filter((column) => isOf(column, by)) ?? [];
  const columns: Column<Row>[] = [];
  for (const each of layouts) {
    const field = each.field as keyof Row;
    columns.push({
      ...columnOf<Row>(each),
      ...(each.tip !== undefined && { tip: each.tip }),
      ...(!isShown(each, values) && { isHidden: true }),
      ...own.cells?.[field],
    });
    columns.push(...(own.behind?.[field] ?? []));
  }
  const sort = own.sort ?? layout?.sortedBy ?? "";
  const place = placeOfBar(columns, layouts, sort);
  if (place > 0 && own.bar !== false) {
    columns.splice(
      place,
      0,
      barColumn("bar", "", values, (row) => numberAt(row, sort), own.bar),
    );
  }
  return columns;
}
