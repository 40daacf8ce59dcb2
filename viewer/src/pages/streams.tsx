// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// GPUs and their streams: how busy, what overlapped, which waited for which.

import { useMemo } from "preact/hooks";
import { deviceWord, timelineHash } from "../app/state";
import { useResult } from "../app/use_result";
import { duration, percent } from "../base/format";
import { kernelName } from "../base/names";
import type { Streams as StreamsResult } from "../data/results";
import { WallBar } from "../parts/bars";
import {
  barColumn,
  type Column,
  countColumn,
  idColumn,
  msColumn,
  percentColumn,
  textColumn,
} from "../parts/columns";
import { Loading } from "../parts/states";
import { Table } from "../parts/table";
import { NoGpuWork } from "./no_gpu_work";

type StreamRow = StreamsResult["streams"][number];
type WaitRow = StreamsResult["waits"][number];

function streamColumns(rows: readonly StreamRow[]): Column<StreamRow>[] {
  return [
    textColumn(
      "stream",
      "stream",
      (row) => `${row.stream}${row.name === "" ? "" : ` ${row.name}`}`,
    ),
    idColumn("device", "GPU", (row) => row.device),
    idColumn("pid", "process", (row) => row.pid),
    msColumn("busy", "busy, ms", (row) => row.busy_ns),
    percentColumn("share", "of window", (row) => row.busy_ratio),
    barColumn("bar", "", rows, (row) => row.busy_ns, { width: "20%" }),
    msColumn("kernels_time", "kernels, ms", (row) => row.kernel_ns),
    msColumn("copies_time", "copies, ms", (row) => row.copy_ns),
    msColumn("overlap", "beside others, ms", (row) => row.overlap_ns),
    countColumn("kernels", "kernels", (row) => row.kernel_count),
    countColumn("copies", "copies", (row) => row.copy_count),
  ];
}

function waitColumns(rows: readonly WaitRow[]): Column<WaitRow>[] {
  return [
    textColumn("stream", "stream", (row) => String(row.stream)),
    textColumn("for", "waited for", (row) =>
      row.for_stream === null ? null : `stream ${row.for_stream}`,
    ),
    msColumn("held", "held up, ms", (row) => row.held_up_ns),
    barColumn("bar", "", rows, (row) => row.held_up_ns, { width: "20%" }),
    msColumn("longest", "longest, ms", (row) => row.held_up_max_ns),
    countColumn("count", "count", (row) => row.count),
    textColumn("work", "work", (row) => kernelName(row.short_name || row.name), {
      width: "30%",
      title: (row) => row.name,
    }),
  ];
}

/** Busy time of a device without overlaps: kernels alone, copies alone, both, and idle. */
function busyParts(device: StreamsResult["devices"][number]) {
  const both = device.kernel_and_copy_ns;
  return [
    { name: "Kernels", look: "d_forward", value: device.kernel_ns - both },
    { name: "Kernels and copies", look: "d_optim", value: both },
    { name: "Copies", look: "d_copy", value: device.copy_ns - both },
  ] as const;
}

function Ready({ result }: { result: StreamsResult }) {
  const columns = useMemo(() => streamColumns(result.streams), [result]);
  const waits = useMemo(() => waitColumns(result.waits), [result]);
  return (
    <div class="page">
      {result.devices.map((device, index) => (
        <section
          class={index === 0 ? undefined : "section"}
          key={`${device.pid} ${device.device} ${device.name}`}
        >
          <h2>
            {deviceWord} {device.device}
            <small>
              busy {percent(device.busy_ratio)} of {duration(device.window_ns)}; several kernels at
              once for {duration(device.several_kernels_ns)}; the longest gap{" "}
              <a
                href={timelineHash(
                  device.gap_max_start_ns - device.gap_max_ns,
                  device.gap_max_start_ns + 2 * device.gap_max_ns,
                )}
              >
                {duration(device.gap_max_ns)}
              </a>
            </small>
          </h2>
          <WallBar parts={busyParts(device)} whole={device.window_ns} rest="Idle" />
        </section>
      ))}
      <section class="section">
        <Table rows={result.streams} columns={columns} noun={["stream", "streams"]} sort="busy" />
      </section>
      {result.waits.length > 0 && (
        <section class="section">
          <h2 style={{ marginBottom: "8px" }}>Which stream waited for which</h2>
          <Table rows={result.waits} columns={waits} noun={["wait", "waits"]} sort="held" />
        </section>
      )}
    </div>
  );
}

export function Streams() {
  const loaded = useResult("streams");
  if (loaded.state === "loading") return <Loading what="streams" />;
  if (loaded.state === "absent" || loaded.value.devices.length === 0) {
    return (
      <NoGpuWork
        loaded={loaded}
        what="streams of a GPU"
        would="How busy each GPU and stream was, what ran at the same time, and which stream waited for which."
      />
    );
  }
  return <Ready result={loaded.value} />;
}
