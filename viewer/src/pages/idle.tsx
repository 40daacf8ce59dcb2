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
import { columnsOf, nounOf, type Own } from "../parts/described";
import { Loading } from "../parts/states";
import { Table } from "../parts/table";
import { NoGpuWork } from "./no_gpu_work";

function causeOf(gap: IdleGap) {
  return wordOf(DEVICE_CATEGORIES, gap.cause);
}

const GAPS: Own<IdleGap> = {
  bar: false,
  cells: {
    cause: {
      value: (gap) => causeOf(gap).name,
      cell: (gap) => (
        <>
          <Swatch look={causeOf(gap).look} />
          {causeOf(gap).name}
        </>
      ),
    },
    name: { width: "18%", value: (gap) => kernelName(gap.short_name || gap.name) },
    op: { width: "12%", value: (gap) => (gap.op === null ? gap.function : opName(gap.op)) },
    during_function: { width: "20%", value: (gap) => gap.during_function ?? gap.during_op },
  },
};

const SHARES: Own<HostShare> = {
  bar: { width: "18%" },
  cells: { name: { width: "46%", value: (row) => opName(row.name) } },
};

function Shares({ rows, table }: { rows: readonly HostShare[]; table: string }) {
  const shown = useMemo(() => rows.slice(0, 10), [rows]);
  const columns = useMemo(() => columnsOf("idle", table, "", shown, SHARES), [shown, table]);
  return (
    <Table rows={shown} columns={columns} noun={nounOf("idle", table)} sort="total_ns" isSide />
  );
}

function Ready({ result }: { result: IdleResult }) {
  const columns = useMemo(() => columnsOf("idle", "gaps", "", result.gaps, GAPS), [result]);
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
              <Shares rows={result.operations} table="operations" />
            </div>
            {result.functions.length > 0 && (
              <div>
                <h2>
                  What the host ran meanwhile<small>Python functions</small>
                </h2>
                <Shares rows={result.functions} table="functions" />
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
          noun={nounOf("idle", "gaps")}
          sort="duration_ns"
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
