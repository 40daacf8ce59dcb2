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
import { Broken, Loading, Remark } from "../parts/states";
import { Table } from "../parts/table";
import type { RangeRow, Trace, TrackKind } from "../trace/api";
import { useAnswer, useTrace } from "./open_trace";
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
export function Narrowed(props: NarrowedProps) {
  return (
    <WithTrace source={props.source} otherwise={props.otherwise}>
      {(trace) => {
        const isThere = trace.info.tracks.some((track) => track.kind === props.kind);
        return isThere ? <Rows {...props} trace={trace} /> : props.otherwise;
      }}
    </WithTrace>
  );
}

interface WithTraceProps {
  readonly source: Source;
  /** What needs no events. */
  readonly otherwise: VNode;
  readonly children: (trace: Trace) => VNode;
}

/** Shows what needs the events, as soon as they are there. */
export function WithTrace({ source, otherwise, children }: WithTraceProps) {
  const now = useTrace(source);
  if (now.state === "loading") return <Loading what="the events of the recording" />;
  if (now.state === "open") return children(now.trace);
  return (
    <>
      <div class="page" style={{ paddingBottom: 0 }}>
        <Broken title="The events cannot be read">{now.why}.</Broken>
      </div>
      {otherwise}
    </>
  );
}

function Rows({ trace, title, kind, noun }: NarrowedProps & { readonly trace: Trace }) {
  const answer = useAnswer(trace, (from, selection) => from.range(kind, selection));
  const rows = answer?.rows ?? [];
  const columns = useMemo(() => columnsOf(rows), [answer]);
  if (answer === null) return <Loading what="the events of the range" />;
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
          height="calc(100vh - 170px)"
        />
      )}
    </div>
  );
}

/** Says of what a page is, and why that is not the scope. */
export function OfWhat({ shown, isLacking }: { shown: Scope; isLacking: boolean }) {
  return (
    <div class="page" style={{ paddingBottom: 0 }}>
      <Remark>
        This page is of {shown.range !== null && shown.step === null && "what began in "}
        {scopeWords(shown)}.{isLacking && " It has no events of this kind to sum in the range."}
      </Remark>
    </div>
  );
}
