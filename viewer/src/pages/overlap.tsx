// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How far computing, collectives and copies ran at the same time on each GPU.

import { useMemo } from "preact/hooks";
import { deviceWord, hashOf } from "../app/state";
import { useResult } from "../app/use_result";
import { duration, fixed, percent, plural } from "../base/format";
import type { Look } from "../base/vocabulary";
import type { DeviceOverlap, Overlap as OverlapResult } from "../data/results";
import { Swatch, WallBar } from "../parts/bars";
import { columnsOf } from "../parts/described";
import { type Figure, Figures } from "../parts/figures";
import { Loading } from "../parts/states";
import { Table } from "../parts/table";
import { NoGpuWork } from "./no_gpu_work";

/** So many devices have a table beside their bar. More have bars side by side. */
const MOST_WHOLE = 2;
/** Bars in the page; the table below has all devices. */
const MOST_BARS = 16;

/** Parts of the busy time that do not run over each other. What is left are graphs. */
function partsOf(device: DeviceOverlap) {
  const { compute_ns, exposed_collective_ns, exposed_copy_ns } = device;
  const known = compute_ns + exposed_collective_ns + exposed_copy_ns;
  return [
    { name: "Computing", look: "d_forward", value: compute_ns },
    { name: "Collectives alone", look: "d_comm", value: exposed_collective_ns },
    { name: "Copies alone", look: "d_copy", value: exposed_copy_ns },
    {
      name: "Graphs",
      look: "d_optim",
      value: Math.min(device.graph_ns, Math.max(0, device.busy_ns - known)),
    },
  ] as const;
}

/** Kinds of work: how much of each nothing hides. */
function Kinds({ device }: { device: DeviceOverlap }) {
  const rows: readonly (readonly [string, Look, number, number | null, number])[] = [
    ["Computing", "d_forward", device.compute_ns, null, device.compute_ns],
    [
      "Collectives",
      "d_comm",
      device.collective_ns,
      device.hidden_collective_ratio,
      device.exposed_collective_ns,
    ],
    ["Copies", "d_copy", device.copy_ns, device.hidden_copy_ratio, device.exposed_copy_ns],
  ];
  return (
    <table class="side">
      <thead>
        <tr>
          <th class="plain" scope="col">
            Work
          </th>
          {["total, ms", "hidden", "not hidden, ms"].map((name) => (
            <th key={name} class="plain number" scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, look, total, hidden, alone]) => (
          <tr key={name}>
            <td>
              <Swatch look={look} />
              {name}
            </td>
            <td class="number">{fixed(total / 1e6, 2)}</td>
            <td class="number">{percent(hidden)}</td>
            <td class="number">{fixed(alone / 1e6, 2)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
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

function keyOf(device: DeviceOverlap): string {
  return `${device.host} ${device.pid} ${device.device}`;
}

function Bar({ device }: { device: DeviceOverlap }) {
  return <WallBar parts={partsOf(device)} whole={device.busy_ns} rest="Not known" />;
}

function Heading({ device }: { device: DeviceOverlap }) {
  const { window_ns, busy_ns } = device;
  return (
    <h2>
      {deviceWord} {device.device}
      <small>
        process {device.pid}; busy {duration(busy_ns)},{" "}
        {percent(window_ns === 0 ? null : busy_ns / window_ns)} of its window
      </small>
    </h2>
  );
}

function Ready({ result }: { result: OverlapResult }) {
  const columns = useMemo(
    () => columnsOf("overlap", "devices", "", result.devices, { bar: false }),
    [result],
  );
  const { devices } = result;
  return (
    <div class="page">
      <div class="head">
        <h2>
          Overlap
          <small>
            what {plural(devices.length, deviceWord.value, `${deviceWord}s`)} did at the same time
          </small>
        </h2>
        <span class="links">
          <a href={hashOf("streams")}>Streams</a>
          <a href={hashOf("memcpy")}>Copies</a>
        </span>
      </div>
      <Figures figures={figuresOf(devices)} />
      {devices.length <= MOST_WHOLE ? (
        devices.map((device) => (
          <section class="section" key={keyOf(device)}>
            <Heading device={device} />
            <div class="columns">
              <Bar device={device} />
              <Kinds device={device} />
            </div>
          </section>
        ))
      ) : (
        <section class="section columns even">
          {devices.slice(0, MOST_BARS).map((device) => (
            <div key={keyOf(device)}>
              <Heading device={device} />
              <Bar device={device} />
            </div>
          ))}
        </section>
      )}
      {devices.length > MOST_BARS && (
        <p class="quiet">
          The table has all {plural(devices.length, deviceWord.value, `${deviceWord}s`)}.
        </p>
      )}
      <section class="section">
        <Table
          rows={devices}
          columns={columns}
          noun={[deviceWord.value, `${deviceWord}s`]}
          sort="busy_ns"
          height="480px"
        />
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
        what="GPU whose overlap is known"
        would="How much of the time of collectives and copies is hidden behind computing, and how much is not."
      />
    );
  }
  return <Ready result={loaded.value} />;
}
