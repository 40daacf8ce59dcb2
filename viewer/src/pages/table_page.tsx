// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The page of a pass that has none of its own: its tables, as the command describes them.

import { useMemo } from "preact/hooks";
import type { Page } from "../app/pages";
import { loadSmall } from "../app/state";
import { useResult } from "../app/use_result";
import { count } from "../base/format";
import type { TableLayout } from "../data/layout";
import type { PassName } from "../data/results";
import { SUMMARIES, TABLES } from "../data/tables.gen";
import { columnsOf, valueAt } from "../parts/described";
import { Loading, NotRecorded } from "../parts/states";
import { Table } from "../parts/table";
import { Verdict } from "../parts/verdict";

/** Returns the rows of a table: a list of the result, or all lists of one. */
export function rowsAt(result: object, path: string): object[] {
  const [first = "", ...rest] = path.split(".");
  const list = valueAt(result, first);
  const rows: object[] = Array.isArray(list) ? list : [];
  return rest.length === 0 ? rows : rows.flatMap((row) => rowsAt(row, rest.join(".")));
}

/** Returns the key that a result is grouped by; empty: it has none. */
function keyOf(result: object): string {
  return String(valueAt(result, "by") ?? "");
}

/** Returns the tables of a result that have rows. */
function tablesOf(pass: string, result: object): TableLayout[] {
  const by = keyOf(result);
  const isOf = ({ onlyBy }: TableLayout) => onlyBy.length === 0 || onlyBy.includes(by);
  return (TABLES[pass] ?? []).filter(
    (table) => isOf(table) && rowsAt(result, table.rows).length > 0,
  );
}

/** Returns the name of a pass for people: "Unified memory". */
export function titleOf(pass: string): string {
  return `${pass.charAt(0).toUpperCase()}${pass.slice(1).replaceAll("_", " ")}`;
}

function One({ pass, table, result }: { pass: string; table: TableLayout; result: object }) {
  const rows = useMemo(() => rowsAt(result, table.rows), [result, table]);
  const columns = useMemo(
    () => columnsOf(pass, table.rows, keyOf(result), rows),
    [pass, result, rows, table],
  );
  return (
    <section class="section">
      {table.title !== "" && <h2 style={{ marginBottom: "8px" }}>{table.title}</h2>}
      <Table
        rows={rows}
        columns={columns}
        noun={table.noun}
        sort={table.sortedBy}
        height="max(280px, calc(100vh - var(--tabs, 0px) - 300px))"
      />
    </section>
  );
}

/** Says why a result has no rows, with the option that records them. */
function Nothing({ pass, fix, why }: { pass: string; fix: string; why: string }) {
  return (
    <NotRecorded
      title={`${titleOf(pass)}: nothing was recorded`}
      why={why || "The program did nothing of the kind, or it was not asked for."}
      option={/--trace \S+/.exec(fix)?.[0] ?? ""}
      would={`${SUMMARIES[pass] ?? titleOf(pass)}.`}
    />
  );
}

/** Returns what a result says in sentences; empty: it has tables alone. */
function wordsOf(result: object): string {
  const said = valueAt(result, "words") ?? valueAt(result, "verdict");
  const words = Array.isArray(said) ? said.join(" ") : said;
  return typeof words === "string" && words.includes(" ") ? words : "";
}

function TablePage({ pass }: { pass: PassName }) {
  const loaded = useResult(pass);
  if (loaded.state === "loading") return <Loading what={titleOf(pass).toLowerCase()} />;
  if (loaded.state === "absent") return <Nothing pass={pass} fix="" why={loaded.reason} />;
  const tables = tablesOf(pass, loaded.value);
  if (tables.length === 0) {
    const [skipped] = "meta" in loaded.value ? loaded.value.meta.skipped : [];
    return <Nothing pass={pass} fix={skipped?.fix ?? ""} why="" />;
  }
  return (
    <div class="page">
      <div class="head">
        <h2>
          {titleOf(pass)}
          <small>{SUMMARIES[pass]}</small>
        </h2>
      </div>
      <Verdict text={wordsOf(loaded.value)} />
      {tables.map((table) => (
        <One key={table.rows} pass={pass} table={table} result={loaded.value} />
      ))}
    </div>
  );
}

/** Returns a page for each pass that has tables, and no page among `others`. */
export function tablePages(passes: readonly string[], others: ReadonlySet<string>): Page[] {
  const left = passes.filter((pass) => TABLES[pass] !== undefined && !others.has(pass));
  return left.map((name) => {
    const pass = name as PassName;
    return {
      id: name,
      title: titleOf(name),
      component: () => <TablePage pass={pass} />,
      badge: async () => {
        const loaded = await loadSmall(pass);
        // A large result has rows.
        if (loaded.state === "loading") return "";
        if (loaded.state !== "ready") return null;
        const tables = tablesOf(name, loaded.value);
        const rows = tables.map((table) => rowsAt(loaded.value, table.rows).length);
        return rows.length === 0 ? null : count(Math.max(...rows));
      },
    };
  });
}
