// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// When each GPU had no work in a range, from the events. Causes are known of the gaps that the
// result of the whole run tells one by one.

import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { OfScope } from "../app/of_scope";
import type { OfRangeProps } from "../app/pages";
import { scope, scopeWords } from "../app/scope";
import { deviceWord, timelineHash } from "../app/state";
import { useResult } from "../app/use_result";
import { duration, leftOutWords, percent, plural } from "../base/format";
import { DEVICE_CATEGORIES, wordOf } from "../base/vocabulary";
import type { IdleGap } from "../data/results";
import { Swatch } from "../parts/bars";
import { type Column, fixedColumn, idColumn, textColumn, usColumn } from "../parts/columns";
import { Remark } from "../parts/states";
import { Table } from "../parts/table";
import type { DeviceGaps, Gap, Trace } from "../trace/api";

interface Row extends Gap {
  readonly device: number;
  readonly pid: number;
  /** The whole gap, if its cause is known. */
  readonly known: IdleGap | undefined;
}

function columnsOf(): Column<Row>[] {
  const cause = ({ known }: Row) =>
    known === undefined ? null : wordOf(DEVICE_CATEGORIES, known.cause);
  return [
    fixedColumn("start", "start, ms", (row) => row.start_ns / 1e6, 2),
    usColumn("duration", "idle, µs", (row) => row.end_ns - row.start_ns),
    textColumn("cause", "cause", (row) => cause(row)?.name ?? null, {
      cell: (row) => {
        const word = cause(row);
        return word === null ? null : (
          <>
            <Swatch look={word.look} />
            {word.name}
          </>
        );
      },
    }),
    textColumn("next", "next work", (row) => row.next || null, { width: "26%" }),
    textColumn(
      "during",
      "the host meanwhile",
      ({ known }) => known?.during_function ?? known?.during_op ?? null,
      { width: "24%" },
    ),
    idColumn("device", "GPU", (row) => row.device),
    idColumn("pid", "process", (row) => row.pid),
  ];
}

function Ready({ trace, devices }: { trace: Trace; devices: readonly DeviceGaps[] }) {
  const whole = useResult("idle");
  const columns = useMemo(columnsOf, []);
  const [picked, setPicked] = useState<Row | null>(null);
  const rows = useMemo(() => {
    const known = whole.state === "ready" ? whole.value.gaps : [];
    return devices.flatMap(({ device, process, gaps }) => {
      const pid = trace.info.processes[process]?.pid ?? 0;
      const own = known.filter((each) => each.pid === pid && each.device === device);
      const around = ({ start_ns, end_ns }: Gap) =>
        own.find((each) => each.start_ns <= start_ns && each.start_ns + each.duration_ns >= end_ns);
      return gaps.map((gap): Row => ({ ...gap, device, pid, known: around(gap) }));
    });
  }, [devices, whole]);
  return (
    <div class="page">
      {devices.map(({ device, process, window_ns, idle_ns, gap_count }) => (
        <h2 key={`${process} ${device}`}>
          Idle time of {deviceWord} {device}
          <small>
            {duration(idle_ns)} of {duration(window_ns)} in {plural(gap_count, "gap", "gaps")}; busy{" "}
            {percent(1 - idle_ns / window_ns)}; process {trace.info.processes[process]?.pid}
          </small>
        </h2>
      ))}
      <p class="quiet">
        These gaps are of {scopeWords(scope.value)}, cut at the edges. A gap has a cause if it is
        among the longest of a wider part.
      </p>
      <Table
        rows={rows}
        columns={columns}
        noun={["gap", "gaps"]}
        sort="duration"
        height="calc(100vh - var(--tabs, 0px) - 220px)"
        picked={picked}
        onPick={setPicked}
        extra={
          picked !== null && (
            <a href={timelineHash(picked.start_ns, picked.end_ns)}>Show in timeline</a>
          )
        }
      />
    </div>
  );
}

/** Says that gaps cannot be told: what is left out would look like one. */
function LeftOut({ count, otherwise }: { count: number; otherwise: VNode }) {
  return (
    <>
      <div class="page" style={{ paddingBottom: 0 }}>
        <Remark>{leftOutWords(count)}. So its idle times are not known.</Remark>
      </div>
      {otherwise}
    </>
  );
}

/** Shows the gaps of the scope. */
export function IdleOfRange({ source, otherwise }: OfRangeProps) {
  return (
    <OfScope source={source} ask={(trace, of) => trace.gaps(of)} otherwise={otherwise}>
      {({ devices }, trace) => {
        const leftOut = devices.reduce((sum, each) => sum + each.left_out, 0);
        if (leftOut > 0) return <LeftOut count={leftOut} otherwise={otherwise} />;
        return devices.length === 0 ? otherwise : <Ready trace={trace} devices={devices} />;
      }}
    </OfScope>
  );
}
