// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A page narrowed to a range: what ran there, cut at its edges, summed from the events themselves.

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
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
import type { RangeAnswer, RangeRow, Trace, TrackKind } from "../trace/api";
import { scope, useTrace } from "./open_trace";
import type { Range } from "./state";

export interface NarrowedProps {
  readonly source: Source;
  readonly title: string;
  readonly kind: TrackKind;
  /** One row and several, for people. */
  readonly noun: readonly [string, string];
  /** The page if the events have no track of the kind: they cannot tell what ran in the range. */
  readonly otherwise: ComponentChildren;
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
    usColumn("mean", "mean, µs", (row) => row.total_ns / Math.max(row.count, 1)),
    usColumn("min", "min", (row) => row.min_ns),
    usColumn("max", "max", (row) => row.max_ns),
  ];
}

/** Asks what ran in the scope. Null: the answer is not there yet. */
function useRange(trace: Trace, kind: TrackKind): RangeAnswer | null {
  const [answer, setAnswer] = useState<RangeAnswer | null>(null);
  const range = scope.value;
  useEffect(() => {
    let isWanted = true;
    setAnswer(null);
    if (range !== null) trace.range(kind, range).then((found) => isWanted && setAnswer(found));
    return () => {
      isWanted = false;
    };
  }, [trace, kind, range]);
  return answer;
}

/** Shows a page of the scope. */
export function Narrowed(props: NarrowedProps) {
  const now = useTrace(props.source);
  if (now.state === "loading") return <Loading what="the events of the recording" />;
  if (now.state === "open") {
    const isThere = now.trace.info.tracks.some((track) => track.kind === props.kind);
    return isThere ? <Rows {...props} trace={now.trace} /> : <>{props.otherwise}</>;
  }
  return (
    <div class="page">
      <Broken title="The events cannot be read">{now.why}.</Broken>
    </div>
  );
}

function Rows({ trace, title, kind, noun }: NarrowedProps & { readonly trace: Trace }) {
  const answer = useRange(trace, kind);
  const rows = answer?.rows ?? [];
  const columns = useMemo(() => columnsOf(rows), [answer]);
  const range = scope.value;
  if (answer === null || range === null) return <Loading what="the events of the range" />;
  const calls = rows.reduce((sum, row) => sum + row.count, 0);
  const busy = Math.max(0, ...answer.busy_ns.map((track) => track.busy_ns));
  return (
    <div class="page">
      <div class="head">
        <h2>
          {title}
          <small>
            {count(calls)} in a range of {duration(range.end_ns - range.start_ns)}, cut at its edges
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

/** Says that a page shows what the server found in the scope. */
export function OfTheRange({ range }: { readonly range: Range }) {
  return (
    <div class="page" style={{ paddingBottom: 0 }}>
      <Remark>
        This page is of what began in a range of {duration(range.end_ns - range.start_ns)}.
      </Remark>
    </div>
  );
}

/** Says that a page does not follow the scope. */
export function OfTheWholeRun() {
  return (
    <div class="page" style={{ paddingBottom: 0 }}>
      <Remark>
        This page is of the whole run. Kernels, operations, CUDA calls, ranges, locks and file reads
        follow the range.
      </Remark>
    </div>
  );
}
