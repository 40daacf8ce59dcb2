// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How far computing, collectives and copies ran at the same time on each GPU.

import { useMemo } from "preact/hooks";
import { hashOf } from "../app/state";
import { useResult } from "../app/use_result";
import { duration, percent, plural } from "../base/format";
import type { DeviceOverlap, Overlap as OverlapResult } from "../data/results";
import { WallBar } from "../parts/bars";
import { type Column, idColumn, msColumn, percentColumn, textColumn } from "../parts/columns";
import { type Figure, Figures } from "../parts/figures";
import { Loading } from "../parts/states";
import { Table } from "../parts/table";
import { NoGpuWork } from "./no_gpu_work";

/** Bars in the page; the table has all devices. */
const MOST_BARS = 8;

/** Parts of the window that do not run over each other. What is left is a graph or idle. */
function partsOf(device: DeviceOverlap) {
  const { compute_ns, exposed_collective_ns, exposed_copy_ns } = device;
  const known = compute_ns + exposed_collective_ns + exposed_copy_ns;
  return [
    { name: "Computing", look: "d_forward", value: compute_ns },
    { name: "Collectives alone", look: "d_comm", value: exposed_collective_ns },
    { name: "Copies alone", look: "d_copy", value: exposed_copy_ns },
    { name: "Graphs", look: "d_optim", value: Math.max(0, device.busy_ns - known) },
  ] as const;
}

function columnsOf(): Column<DeviceOverlap>[] {
  const time = (id: string, header: string, key: keyof DeviceOverlap, tip?: string) =>
    msColumn<DeviceOverlap>(
      id,
      header,
      (row) => row[key] as number,
      tip === undefined ? {} : { tip },
    );
  return [
    idColumn("device", "GPU", (row) => row.device),
    textColumn("name", "name", (row) => row.name || null, { isHidden: true }),
    idColumn("pid", "process", (row) => row.pid),
    time("compute", "computing, ms", "compute_ns", "Kernels that are not collectives"),
    time("collective", "collectives", "collective_ns"),
    time("copy", "copies", "copy_ns", "Copies and memsets"),
    time("with_collective", "computing and collectives", "compute_and_collective_ns"),
    time("with_copy", "computing and copies", "compute_and_copy_ns"),
    time("collective_copy", "collectives and copies", "collective_and_copy_ns"),
    time("alone", "collectives alone", "exposed_collective_ns", "While nothing computed"),
    percentColumn("hidden", "hidden", (row) => row.hidden_collective_ratio, {
      tip: "The part of the collectives’ time that computing hides",
    }),
    time("copy_alone", "copies alone", "exposed_copy_ns", "While no kernel ran"),
    percentColumn("copy_hidden", "hidden", (row) => row.hidden_copy_ratio, {
      tip: "The part of the copies’ time that kernels hide",
    }),
    time("graph", "graphs", "graph_ns", "Graphs that were recorded as a whole"),
    time("streams", "several streams", "several_streams_ns", "Kernels of two streams or more ran"),
    time("busy", "busy", "busy_ns"),
    time("idle", "idle", "idle_ns"),
    textColumn("host", "machine", (row) => row.host, { isHidden: true }),
  ];
}

function figuresOf(devices: readonly DeviceOverlap[]): Figure[] {
  const sum = (read: (device: DeviceOverlap) => number) =>
    devices.reduce((total, device) => total + read(device), 0);
  const window = sum((device) => device.window_ns);
  const busy = sum((device) => device.busy_ns);
  const collective = sum((device) => device.collective_ns);
  const copy = sum((device) => device.copy_ns);
  const exposed = sum((device) => device.exposed_collective_ns);
  const copyExposed = sum((device) => device.exposed_copy_ns);
  const several = sum((device) => device.several_streams_ns);
  const of = (part: number, whole: number) => percent(whole === 0 ? null : part / whole);
  return [
    { label: "Busy", value: of(busy, window), below: `${duration(busy)} of ${duration(window)}` },
    {
      label: "Computing",
      value: of(
        sum((device) => device.compute_ns),
        busy,
      ),
      below: "of busy, kernels that are not collectives",
    },
    {
      label: "Collectives hidden",
      value: of(collective - exposed, collective),
      below: collective === 0 ? "there were none" : `${duration(exposed)} while nothing computed`,
    },
    {
      label: "Copies hidden",
      value: of(copy - copyExposed, copy),
      below: copy === 0 ? "there were none" : `${duration(copyExposed)} while no kernel ran`,
    },
    {
      label: "Several streams",
      value: of(several, busy),
      below: `of busy, ${duration(several)} of kernels side by side`,
    },
    {
      label: "Idle",
      value: of(
        sum((device) => device.idle_ns),
        window,
      ),
      below: "of the window",
    },
  ];
}

function Ready({ result }: { result: OverlapResult }) {
  const columns = useMemo(columnsOf, []);
  const { devices } = result;
  return (
    <div class="page">
      <div class="head">
        <h2>
          Overlap
          <small>what {plural(devices.length, "GPU", "GPUs")} did at the same time</small>
        </h2>
        <span class="links">
          <a href={hashOf("streams")}>Streams</a>
          <a href={hashOf("memcpy")}>Copies</a>
        </span>
      </div>
      <Figures figures={figuresOf(devices)} />
      {devices.slice(0, MOST_BARS).map((device) => (
        <section class="section" key={`${device.host} ${device.pid} ${device.device}`}>
          <h2>
            GPU {device.device}
            <small>
              process {device.pid}; {duration(device.window_ns)} from its first work to its last
            </small>
          </h2>
          <WallBar parts={partsOf(device)} whole={device.window_ns} rest="Idle" />
        </section>
      ))}
      {devices.length > MOST_BARS && (
        <p class="quiet">The table has all {plural(devices.length, "GPU", "GPUs")}.</p>
      )}
      <section class="section">
        <Table rows={devices} columns={columns} noun={["GPU", "GPUs"]} sort="busy" height="480px" />
      </section>
    </div>
  );
}

export function Overlap() {
  const loaded = useResult("overlap");
  if (loaded.state === "loading") return <Loading what="overlaps" />;
  if (loaded.state === "absent" || loaded.value.devices.length === 0) {
    return (
      <NoGpuWork
        loaded={loaded}
        would="How much of the time of collectives and copies is hidden behind computing, and how much is not."
      />
    );
  }
  return <Ready result={loaded.value} />;
}
