// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// SQL over the recording. A server answers; a report in a file shows the command that does. A query
// in the address fills the editor, and does not run by itself: anybody can write an address.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import type { PageProps } from "../app/pages";
import { replaceParams, route } from "../app/state";
import { bytes, count, duration, NOT_MEASURED, plural, significant } from "../base/format";
import { NoResult, type QueryAnswer } from "../data/source";
import { type Column, durationColumn, textColumn } from "../parts/columns";
import { axis, color, Plot } from "../parts/plot";
import { Broken, Remark } from "../parts/states";
import { Table } from "../parts/table";
import { type Cells, chartOf, isNumeric, linkOfRows, type QueryChart } from "./query_rows";
import "./query.css";

const FIRST =
  "select name, count(*) as count, sum(dur_ns) as total_ns\nfrom kernels group by name\norder by total_ns desc limit 20";

/** Writes a number by the unit that its column's name ends in. */
function written(name: string, value: number): string {
  if (name.endsWith("_ns")) return duration(value);
  if (name === "bytes" || name.endsWith("_bytes")) return bytes(value);
  return Number.isInteger(value) ? String(value) : significant(value);
}

function columnOf(answer: QueryAnswer, name: string, place: number): Column<Cells> {
  if (!isNumeric(answer.rows, place)) {
    const text = (row: Cells) => (row[place] === null ? null : String(row[place]));
    return textColumn(name, name, text, { cell: (row) => text(row) ?? NOT_MEASURED });
  }
  const number = (row: Cells) => row[place] as number | null;
  return durationColumn(name, name, number, {
    cell: (row) => {
      const value = number(row);
      return value === null ? NOT_MEASURED : written(name, value);
    },
  });
}

function columnsOf(answer: QueryAnswer): Column<Cells>[] {
  const columns = answer.columns.map((name, place) => columnOf(answer, name, place));
  const link = linkOfRows(answer.columns);
  if (link === undefined) return columns;
  const shown = (row: Cells) => {
    const hash = link(row);
    return hash === "" ? NOT_MEASURED : <a href={hash}>show</a>;
  };
  // No column of SQL has a name with a blank in front.
  const last: Column<Cells> = { id: " timeline", header: "Timeline", value: link, cell: shown };
  return [...columns, last];
}

function Bars({ answer, chart }: { answer: QueryAnswer; chart: QueryChart }) {
  const value = (row: Cells) => (typeof row[chart.y] === "number" ? (row[chart.y] as number) : 0);
  const most = Math.max(...answer.rows.map(value), Number.MIN_VALUE);
  return (
    <ul class="query-bars" aria-label={answer.columns[chart.y]}>
      {answer.rows.map((row, place) => (
        <li key={place}>
          <span title={String(row[chart.x] ?? "")}>{row[chart.x] ?? NOT_MEASURED}</span>
          <i style={{ width: `${(value(row) / most) * 100}%` }} />
          <b>{written(answer.columns[chart.y] ?? "", value(row))}</b>
        </li>
      ))}
    </ul>
  );
}

function Curve({ answer, chart }: { answer: QueryAnswer; chart: QueryChart }) {
  const [x = "", y = ""] = [answer.columns[chart.x], answer.columns[chart.y]];
  const data = useMemo(
    () =>
      [chart.x, chart.y].map((place) =>
        answer.rows.map((row) => row[place] as number | null),
      ) as uPlot.AlignedData,
    [answer, chart],
  );
  const options = useMemo<Omit<uPlot.Options, "width" | "height">>(
    () => ({
      scales: { x: { time: false } },
      legend: { show: false },
      cursor: { drag: { setScale: false } },
      axes: [
        axis({ values: (_, ticks) => ticks.map((tick) => written(x, tick)) }),
        axis({ size: 70, values: (_, ticks) => ticks.map((tick) => written(y, tick)) }),
      ],
      series: [{}, { stroke: () => color("accent"), width: 1.5 }],
    }),
    [x, y],
  );
  return <Plot data={data} options={options} height={180} label={`${y} by ${x}`} />;
}

function Answer({ answer }: { answer: QueryAnswer }) {
  const columns = useMemo(() => columnsOf(answer), [answer]);
  const chart = useMemo(() => chartOf(answer), [answer]);
  const { rows, truncated } = answer;
  if (rows.length === 0) return <p class="quiet">The query has no rows.</p>;
  return (
    <>
      {truncated !== null && (
        <Remark>
          {count(truncated.shown)} of {plural(truncated.total, "row", "rows")} are shown. The
          command line has all of them: <code>gpuprof query</code>.
        </Remark>
      )}
      {chart?.kind === "bars" && <Bars answer={answer} chart={chart} />}
      {chart?.kind === "curve" && <Curve answer={answer} chart={chart} />}
      <Table
        rows={rows}
        columns={columns}
        noun={["row", "rows"]}
        sort=""
        height="max(280px, calc(100vh - 420px))"
      />
    </>
  );
}

/** All tables with their columns, which the server tells. */
function Tables({ ask }: { ask: (sql: string) => Promise<QueryAnswer> }) {
  const [tables, setTables] = useState<ReadonlyMap<string, string> | string | null>(null);
  const open = () => {
    if (tables !== null) return;
    setTables("Reading the tables.");
    ask("").then(
      (answer) => {
        const found = new Map<string, string>();
        for (const [table, column] of answer.rows) {
          const before = found.get(String(table));
          found.set(String(table), before === undefined ? `${column}` : `${before}, ${column}`);
        }
        setTables(found);
      },
      (error: Error) => setTables(error.message),
    );
  };
  return (
    <details class="query-tables" onToggle={open}>
      <summary>Tables and columns</summary>
      {tables instanceof Map ? (
        <dl>
          {[...tables].map(([table, columns]) => (
            <div key={table}>
              <dt>
                <code>{table}</code>
              </dt>
              <dd>{columns}</dd>
            </div>
          ))}
        </dl>
      ) : (
        <p class="quiet">{typeof tables === "string" ? tables : ""}</p>
      )}
    </details>
  );
}

type State = QueryAnswer | { readonly reason: string } | "running" | null;

function Editor({ ask }: { ask: (sql: string, signal?: AbortSignal) => Promise<QueryAnswer> }) {
  const [sql, setSql] = useState(() => route.value.params.get("q") ?? FIRST);
  const [state, setState] = useState<State>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const run = async () => {
    running.current?.abort();
    const mine = new AbortController();
    running.current = mine;
    setState("running");
    replaceParams({ q: sql });
    let next: State;
    try {
      next = await ask(sql, mine.signal);
    } catch (error) {
      next = { reason: error instanceof NoResult ? error.message : String(error) };
    }
    if (running.current === mine && !mine.signal.aborted) setState(next);
  };
  const stop = () => {
    running.current?.abort();
    setState(null);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void run();
  };
  return (
    <>
      <textarea
        class="query-editor"
        aria-label="SQL"
        spellcheck={false}
        rows={6}
        value={sql}
        onInput={({ currentTarget }) => setSql(currentTarget.value)}
        onKeyDown={onKey}
      />
      <p class="query-buttons">
        <button type="button" class="button" disabled={sql.trim() === ""} onClick={run}>
          Run
        </button>
        {state === "running" && (
          <button type="button" class="button" onClick={stop}>
            Stop
          </button>
        )}
        <span class="quiet">
          {state === "running" ? "The query runs." : "One SELECT. Ctrl+Enter runs it."}
        </span>
      </p>
      <Tables ask={ask} />
      {state !== null && state !== "running" && "reason" in state && (
        <Broken title="The query has no answer">{state.reason}</Broken>
      )}
      {state !== null && state !== "running" && "rows" in state && <Answer answer={state} />}
    </>
  );
}

export function Query({ source }: PageProps) {
  const ask = source.query;
  return (
    <div class="page">
      <div class="head">
        <h2>
          Query
          <small>SQL over the events and results of the recording</small>
        </h2>
      </div>
      {ask !== undefined ? (
        <Editor ask={ask} />
      ) : (
        <div class="empty">
          <p>
            A page in a file answers no query. A page of a server does, and so does the command:
          </p>
          <div class="command">
            <code>gpuprof serve BUNDLE</code>
          </div>
          <div class="command">
            <code>
              gpuprof query BUNDLE "select name, sum(dur_ns) from kernels group by name order by 2
              desc"
            </code>
          </div>
        </div>
      )}
    </div>
  );
}
