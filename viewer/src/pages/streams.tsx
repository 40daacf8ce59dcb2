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
import { columnsOf, nounOf, type Own } from "../parts/described";
import { Loading } from "../parts/states";
import { Table } from "../parts/table";
import { NoGpuWork } from "./no_gpu_work";

type StreamRow = StreamsResult["streams"][number];
type WaitRow = StreamsResult["waits"][number];

const STREAMS: Own<StreamRow> = {
  bar: { width: "20%" },
};

const WAITS: Own<WaitRow> = {
  bar: { width: "20%" },
  cells: {
    for_stream: {
      cell: (row) => (row.for_stream === null ? null : `stream ${row.for_stream}`),
    },
    name: { width: "30%", value: (row) => kernelName(row.short_name || row.name) },
  },
};

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
  const columns = useMemo(
    () => columnsOf("streams", "streams", "", result.streams, STREAMS),
    [result],
  );
  const waits = useMemo(() => columnsOf("streams", "waits", "", result.waits, WAITS), [result]);
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
        <Table
          rows={result.streams}
          columns={columns}
          noun={nounOf("streams", "streams")}
          sort="busy_ns"
        />
      </section>
      {result.waits.length > 0 && (
        <section class="section">
          <h2 style={{ marginBottom: "8px" }}>Which stream waited for which</h2>
          <Table
            rows={result.waits}
            columns={waits}
            noun={nounOf("streams", "waits")}
            sort="held_up_ns"
          />
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
