// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A page narrowed to a range: what ran there, cut at its edges, summed from the events themselves.

import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { count, duration, leftOutWords } from "../base/format";
import type { Source } from "../data/source";
import {
  barColumn,
  type Column,
  countColumn,
  msColumn,
  percentColumn,
  textColumn,
  usColumn,
} from "../parts/columns";
import { Remark } from "../parts/states";
import { Table } from "../parts/table";
import type { RangeAnswer, RangeRow, Selection, Trace, TrackKind } from "../trace/api";
import { OfScope } from "./of_scope";
import { type Scope, scope, scopeWords } from "./scope";

export interface NarrowedProps {
  readonly source: Source;
  readonly title: string;
  readonly kind: TrackKind;
  /** One row and several, for people. */
  readonly noun: readonly [string, string];
  /** The page if the events have no track of the kind: they cannot tell what ran in the range. */
  readonly otherwise: VNode;
}

function columnsOf(rows: readonly RangeRow[]): Column<RangeRow>[] {
  const sum = rows.reduce((total, row) => total + row.total_ns, 0);
  return [
    textColumn("name", "Name", (row) => row.name, {
      width: "36%",
      title: (row) => row.full_name ?? row.name,
    }),
    countColumn("count", "count", (row) => row.count),
    msColumn("total", "total, ms", (row) => row.total_ns),
    percentColumn("share", "share", (row) => (sum === 0 ? null : row.total_ns / sum)),
    barColumn("bar", "", rows, (row) => row.total_ns),
    usColumn("mean", "mean, µs", (row) => row.mean_ns),
    usColumn("min", "min", (row) => row.min_ns),
    usColumn("max", "max", (row) => row.max_ns),
  ];
}

/** Shows a page of the scope. */
export function Narrowed({ source, title, kind, noun, otherwise }: NarrowedProps) {
  const ask = async (trace: Trace, selection: Selection) =>
    trace.info.tracks.some((track) => track.kind === kind) ? trace.range(kind, selection) : null;
  return (
    <OfScope source={source} ask={ask} otherwise={otherwise}>
      {(answer) => <Rows answer={answer} title={title} noun={noun} />}
    </OfScope>
  );
}

type RowsProps = Pick<NarrowedProps, "title" | "noun"> & { readonly answer: RangeAnswer };

function Rows({ answer, title, noun }: RowsProps) {
  const { rows } = answer;
  const columns = useMemo(() => columnsOf(rows), [rows]);
  const calls = rows.reduce((sum, row) => sum + row.count, 0);
  const busy = Math.max(0, ...answer.busy_ns.map((track) => track.busy_ns));
  return (
    <div class="page">
      <div class="head">
        <h2>
          {title}
          <small>
            {count(calls)} in {scope.value.step !== null && "the time of "}
            {scopeWords(scope.value)}, cut at the edges
            {answer.busy_ns.length > 0 && `; the busiest track ran for ${duration(busy)}`}
          </small>
        </h2>
      </div>
      {answer.left_out > 0 && <Remark>{leftOutWords(answer.left_out)}</Remark>}
      {rows.length === 0 ? (
        <p class="quiet">Nothing of this kind ran in the range.</p>
      ) : (
        <Table
          rows={rows}
          columns={columns}
          noun={noun}
          sort="total"
          height="calc(100vh - var(--tabs, 0px) - 170px)"
        />
      )}
    </div>
  );
}

/** Says of what a page is. */
export function OfWhat({ shown }: { shown: Scope }) {
  return (
    <div class="page" style={{ paddingBottom: 0 }}>
      <Remark>
        This page is of {shown.range !== null && shown.step === null && "what began in "}
        {scopeWords(shown)}.
      </Remark>
    </div>
  );
}
