// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The tables of the format by kind. Everything comes from schema.gen.ts.

import { ENTRIES, TABLES } from "./schema.gen";

export type TableName = keyof typeof TABLES;
export type EntryName = keyof typeof ENTRIES;

export interface BitField {
  readonly name: string;
  readonly first_bit: number;
  readonly bits: number;
  readonly type: string;
  readonly values?: Readonly<Record<string, string>>;
}

export interface Column {
  readonly name: string;
  readonly encoding: string;
  /** What a value means; undefined: the page shows no event of the table. */
  readonly type?: string;
  readonly values?: Readonly<Record<string, string>>;
  readonly fields?: readonly BitField[];
}

export interface Table {
  readonly name: TableName;
  readonly kind: number;
  readonly isCupti: boolean;
  /** Rows are spans that follow each other. */
  readonly isChained: boolean;
  readonly columns: readonly Column[];
}

const BY_KIND = new Map<number, Table>();
for (const [name, table] of Object.entries(TABLES)) {
  const columns: readonly Column[] = table.columns;
  BY_KIND.set(table.kind, {
    name: name as TableName,
    kind: table.kind,
    isCupti: table.clock === "cupti",
    isChained: columns[0]?.encoding === "gap",
    columns,
  });
}

const ENTRY_BY_KIND = new Map<number, { name: EntryName; field: number }>();
for (const [name, entry] of Object.entries(ENTRIES))
  ENTRY_BY_KIND.set(entry.kind, { name: name as EntryName, field: entry.field });

/** Returns the table of a kind of rows. Undefined: this page does not know the kind. */
export function tableOf(kind: number): Table | undefined {
  return BY_KIND.get(kind);
}

export function entryOf(kind: number): { name: EntryName; field: number } | undefined {
  return ENTRY_BY_KIND.get(kind);
}

export function kindOf(name: TableName): number {
  return TABLES[name].kind;
}

/** Returns the place of a column; -1: the table has none of that name. */
export function columnOf(table: Table, name: string): number {
  return table.columns.findIndex((column) => column.name === name);
}
