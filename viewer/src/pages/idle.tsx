// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Why each GPU had no work, and what the host did meanwhile.

import { useMemo, useState } from "preact/hooks";
import { deviceWord, timelineHash } from "../app/state";
import { useResult } from "../app/use_result";
import { duration, percent, plural } from "../base/format";
import { kernelName, opName } from "../base/names";
import { DEVICE_CATEGORIES, wordOf } from "../base/vocabulary";
import type { HostShare, IdleGap, Idle as IdleResult } from "../data/results";
import { Swatch, WallBar } from "../parts/bars";
import { DeviceCategoryTable } from "../parts/category_table";
import {
  barColumn,
  type Column,
  countColumn,
  fixedColumn,
  idColumn,
  percentColumn,
  textColumn,
  usColumn,
} from "../parts/columns";
import { Loading } from "../parts/states";
import { Table } from "../parts/table";
import { NoGpuWork } from "./no_gpu_work";

function gapColumns(): Column<IdleGap>[] {
  return [
    fixedColumn("start", "start, ms", (gap) => gap.start_ns / 1e6, 2),
    usColumn("duration", "idle, µs", (gap) => gap.duration_ns),
    textColumn("cause", "cause", (gap) => wordOf(DEVICE_CATEGORIES, gap.cause).name, {
      cell: (gap) => (
        <>
          <Swatch look={wordOf(DEVICE_CATEGORIES, gap.cause).look} />
          {wordOf(DEVICE_CATEGORIES, gap.cause).name}
        </>
      ),
    }),
    usColumn("late", "host late, µs", (gap) => gap.late_ns),
    textColumn("next", "next work", (gap) => kernelName(gap.short_name || gap.name), {
      width: "18%",
      title: (gap) => gap.name,
    }),
    textColumn("op", "operation", (gap) => (gap.op === null ? null : opName(gap.op)), {
      width: "12%",
    }),
    textColumn("during", "the host meanwhile", (gap) => gap.during_function ?? gap.during_op, {
      width: "20%",
    }),
    idColumn("step", "step", (gap) => gap.step),
    idColumn("device", "GPU", (gap) => gap.device),
  ];
}

function shareColumns(rows: readonly HostShare[], noun: string): Column<HostShare>[] {
  return [
    textColumn("name", noun, (row) => opName(row.name), { width: "46%", title: (row) => row.name }),
    fixedColumn("total", "idle, ms", (row) => row.total_ns / 1e6, 2),
    percentColumn("share", "of it", (row) => row.total_ratio),
    barColumn("bar", "", rows, (row) => row.total_ns, { width: "18%" }),
    countColumn("gaps", "gaps", (row) => row.gap_count),
  ];
}

function Shares({ rows, noun }: { rows: readonly HostShare[]; noun: [string, string] }) {
  const shown = useMemo(() => rows.slice(0, 10), [rows]);
  const columns = useMemo(() => shareColumns(shown, noun[0]), [shown, noun[0]]);
  return <Table rows={shown} columns={columns} noun={noun} sort="total" isSide />;
}

function Ready({ result }: { result: IdleResult }) {
  const columns = useMemo(gapColumns, []);
  const [picked, setPicked] = useState<IdleGap | null>(null);
  return (
    <div class="page">
      {result.devices.map((device, index) => (
        <section
          class={index === 0 ? undefined : "section"}
          key={`${device.pid} ${device.device} ${device.name}`}
        >
          <h2>
            Idle time of {deviceWord} {device.device}
            <small>
              {duration(device.idle_ns)} of {duration(device.window_ns)} in{" "}
              {plural(device.gap_count, "gap", "gaps")}; busy {percent(device.busy_ratio)}
            </small>
          </h2>
          <div class="columns">
            <WallBar
              parts={device.causes.map((cause) => ({
                ...wordOf(DEVICE_CATEGORIES, cause.category),
                value: cause.total_ns,
              }))}
              whole={device.idle_ns}
              rest="Not explained"
            />
            <DeviceCategoryTable rows={device.causes} base="of idle" isNarrow />
          </div>
        </section>
      ))}
      {(result.operations.length > 0 || result.functions.length > 0) && (
        <section class="section">
          <div class="columns even">
            <div>
              <h2>
                What the host ran meanwhile<small>operations</small>
              </h2>
              <Shares rows={result.operations} noun={["operation", "operations"]} />
            </div>
            {result.functions.length > 0 && (
              <div>
                <h2>
                  What the host ran meanwhile<small>Python functions</small>
                </h2>
                <Shares rows={result.functions} noun={["function", "functions"]} />
              </div>
            )}
          </div>
        </section>
      )}
      <section class="section">
        <h2 style={{ marginBottom: "8px" }}>
          Gaps<small>the longest {result.gaps.length.toLocaleString("en-US")}</small>
        </h2>
        <Table
          rows={result.gaps}
          columns={columns}
          noun={["gap", "gaps"]}
          sort="duration"
          height="max(280px, calc(100vh - var(--tabs, 0px) - 420px))"
          picked={picked}
          onPick={setPicked}
          extra={
            picked !== null && (
              <a
                href={timelineHash(
                  picked.start_ns - picked.duration_ns,
                  picked.start_ns + 2 * picked.duration_ns,
                )}
              >
                Show in timeline
              </a>
            )
          }
        />
      </section>
    </div>
  );
}

export function Idle() {
  const loaded = useResult("idle");
  if (loaded.state === "loading") return <Loading what="idle times" />;
  if (loaded.state === "absent" || loaded.value.devices.length === 0) {
    return (
      <NoGpuWork
        loaded={loaded}
        what="GPU whose idle times are known"
        would="Every gap in which a GPU had no work, its cause, and what the host did meanwhile."
      />
    );
  }
  return <Ready result={loaded.value} />;
}
