// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Memory of the allocators of PyTorch, TensorFlow and JAX: what it is for, and why a request failed.

import { useMemo, useState } from "preact/hooks";
import { deviceWord, hashOf } from "../app/state";
import { useResult, useSmallResult } from "../app/use_result";
import { bytes, percent, plural, position, signed } from "../base/format";
import { MEMORY_CATEGORIES, wordOf } from "../base/vocabulary";
import type {
  MemoryProfileDevice,
  MemoryProfileFailure,
  MemoryProfileStack,
  MemoryProfile as ProfileResult,
} from "../data/results";
import { Swatch, WallBar } from "../parts/bars";
import { Choice } from "../parts/choice";
import { columnsOf, nounOf, type Own, plainWord } from "../parts/described";
import { type Figure, Figures } from "../parts/figures";
import { categoryLayers, categoryParts, failureParts, framesOfPlace } from "../parts/memory_layers";
import { OwnersChart } from "../parts/owners_chart";
import { Broken, Loading, NotRecorded, Remark, whyNot } from "../parts/states";
import { Table } from "../parts/table";
import { Verdict } from "../parts/verdict";
import { capacityOf } from "./memory";

const SOURCES = {
  recording: "allocations of the recording",
  snapshot: "a memory snapshot of PyTorch",
  xspace: "allocators of an XSpace",
} as const;

function figuresOf(device: MemoryProfileDevice, capacity: number | null): Figure[] {
  const known = (label: string, value: number | null, below: string): Figure[] =>
    value === null ? [] : [{ label, value: bytes(value), below }];
  const { before_bytes, growth_per_step_bytes: growth } = device;
  return [
    {
      label: "Peak",
      value: bytes(device.peak_bytes),
      below: device.peak_range || plural(device.peak_count, "block", "blocks"),
    },
    {
      label: "Before the recording",
      value: before_bytes === 0 ? "0" : bytes(before_bytes),
      below: `${bytes(device.before_peak_bytes)} of it live at the peak`,
    },
    ...known(
      "Reserved",
      device.reserved_peak_bytes,
      `at most; ${bytes(device.reserved_at_peak_bytes)} at the peak`,
    ),
    ...known("Free in the pool", device.pool_free_bytes, "at the end"),
    ...known("Largest free piece", device.largest_free_bytes, "outside of private pools"),
    ...(device.fragmentation_ratio === null
      ? []
      : [
          {
            label: "Fragmented",
            value: percent(device.fragmentation_ratio),
            below: "free bytes outside of the largest piece",
          },
        ]),
    ...known("Free at the peak", device.free_at_peak_bytes, "what the allocator could still give"),
    {
      label: "At the end",
      value: device.end_bytes === 0 ? "0" : bytes(device.end_bytes),
      below: plural(device.end_count, "block", "blocks"),
    },
    ...(growth === null
      ? []
      : [
          {
            label: "Growth",
            value: growth === 0 ? "0" : signed(growth, bytes),
            below: `a step, of ${plural(device.step_count, "step", "steps")}`,
          },
        ]),
    ...known("Capacity", capacity, "of the device"),
  ];
}

/** A request that failed: the verdict, and the device to scale. */
function Failure({ failure, end_ns }: { failure: MemoryProfileFailure; end_ns: number }) {
  const facts: [string, string][] = [
    ["Asked for", bytes(failure.asked_bytes)],
    ["Largest free piece", bytes(failure.largest_free_bytes)],
    ["Would have fitted", bytes(failure.largest_fit_bytes)],
    ["If it were one piece", failure.fits_unfragmented ? "it would fit" : "it would not fit"],
    [
      "Private pools",
      `${bytes(failure.private_pool_bytes)}, ${bytes(failure.private_free_bytes)} free`,
    ],
    ["If streams were done", `the largest piece has ${bytes(failure.largest_free_later_bytes)}`],
  ];
  return (
    <section class="section">
      <Broken
        title={`Out of memory at ${position(failure.time_ns, end_ns)}: ${plainWord(failure.shortage) ?? "the cause is not known"}`}
      >
        <Verdict text={failure.verdict} />
        Asked by {framesOfPlace(failure.name)[0] ?? "nobody known"}.
        {!failure.exact && " Segments and events differ, so figures of the pool are of the end."}
      </Broken>
      <WallBar
        parts={failureParts(failure)}
        whole={failure.reserved_bytes + failure.device_free_bytes}
        rest="Not told"
        write={bytes}
      />
      <dl class="pairs" style={{ gridTemplateColumns: "136px minmax(0,1fr) 136px minmax(0,1fr)" }}>
        {facts.map(([name, value]) => [
          <dt key={name}>{name}</dt>,
          <dd key={`${name} is`}>{value}</dd>,
        ])}
      </dl>
    </section>
  );
}

const STACKS: Own<MemoryProfileStack> = {
  sort: "bytes",
  bar: { color: (row) => wordOf(MEMORY_CATEGORIES, row.category).look, width: "12%" },
  cells: {
    category: { cell: (row) => <Category of={row.category} /> },
    name: { value: (row) => row.name, width: "34%" },
  },
};

function Category({ of }: { of: string }) {
  const word = wordOf(MEMORY_CATEGORIES, of);
  return (
    <>
      <Swatch look={word.look} />
      {word.name}
    </>
  );
}

function StackOf({ stack }: { stack: MemoryProfileStack }) {
  return (
    <section class="section">
      <h2>
        <Category of={stack.category} />
        <small>
          {bytes(stack.bytes)} in {plural(stack.count, "block", "blocks")}, the largest of{" "}
          {bytes(stack.largest_bytes)}; known by {plainWord(stack.evidence) ?? "nothing"}
        </small>
      </h2>
      <ol class="stack">
        {framesOfPlace(stack.name).map((frame, index) => (
          <li key={index}>{frame.slice(0, 300)}</li>
        ))}
      </ol>
    </section>
  );
}

function isOf(device: MemoryProfileDevice | undefined) {
  return (row: { pid: number; host: string; device: string }) =>
    row.pid === device?.pid && row.host === device.host && row.device === device.name;
}

/** The rows of one list of the result, as a table behind the pictures. */
function Rows(props: { result: ProfileResult; list: "failures" | "devices" | "timeline" }) {
  const { result, list } = props;
  const rows: readonly object[] = result[list];
  const columns = useMemo(() => columnsOf<object>("memory_profile", list, "", rows), [rows, list]);
  if (rows.length === 0) return null;
  const titles = {
    failures: "Requests that failed",
    devices: "Devices",
    timeline: "Memory over time, as a table",
  };
  return (
    <section class="section">
      <details>
        <summary>{titles[list]}</summary>
        <Table
          rows={rows}
          columns={columns}
          noun={nounOf("memory_profile", list)}
          sort=""
          height="360px"
        />
      </details>
    </section>
  );
}

function OfDevice(props: {
  result: ProfileResult;
  device: MemoryProfileDevice;
  capacity: number | null;
  end_ns: number;
}) {
  const { result, device, capacity, end_ns } = props;
  const own = isOf(device);
  const points = useMemo(() => result.timeline.filter(own), [result, device]);
  const layers = useMemo(() => categoryLayers(points), [points]);
  const history = useMemo(
    () => ({
      time_ns: points.map((point) => point.time_ns),
      live_bytes: points.map((point) => point.allocated_bytes),
    }),
    [points],
  );
  const reserved = useMemo(
    () =>
      points.some((point) => point.reserved_bytes !== null)
        ? points.map((point) => point.reserved_bytes)
        : undefined,
    [points],
  );
  const categories = useMemo(() => result.categories.filter(own), [result, device]);
  const stacks = useMemo(() => result.stacks.filter(own), [result, device]);
  const columns = useMemo(
    () => ({
      categories: columnsOf("memory_profile", "categories", "", categories, {
        cells: { category: { cell: (row) => <Category of={row.category} /> } },
      }),
      stacks: columnsOf("memory_profile", "stacks", "", stacks, STACKS),
    }),
    [categories, stacks],
  );
  const [picked, setPicked] = useState<MemoryProfileStack | null>(null);
  const inferred = categories.filter(({ evidence }) => evidence === "size" || evidence === "life");
  return (
    <>
      <Figures figures={figuresOf(device, capacity)} />
      {result.failures.filter(own).map((failure, index) => (
        <Failure key={index} failure={failure} end_ns={end_ns} />
      ))}
      <section class="section">
        <h2 style={{ marginBottom: "8px" }}>
          Allocated over time<small>by what it is for; each place shows its greatest value</small>
        </h2>
        {points.length === 0 ? (
          <p class="quiet">The recording has no moments of this device.</p>
        ) : (
          <OwnersChart
            name={`Memory of ${device.name}`}
            history={history}
            by="category"
            layers={layers}
            peak={{ time_ns: device.peak_time_ns, bytes: device.peak_bytes }}
            end_ns={end_ns}
            reserved_bytes={device.reserved_peak_bytes}
            {...(reserved && { reserved })}
            capacity_bytes={capacity}
          />
        )}
      </section>
      <section class="section">
        <h2>
          Live at the peak
          <small>
            {bytes(device.peak_bytes)} in {plural(device.peak_count, "block", "blocks")}
          </small>
        </h2>
        <WallBar
          parts={categoryParts(categories)}
          whole={device.peak_bytes}
          rest="No category"
          write={bytes}
        />
        {inferred.length > 0 && (
          <Remark>
            Inferred from sizes or lives, and not from call stacks:{" "}
            {inferred.map((row) => wordOf(MEMORY_CATEGORIES, row.category).name).join(", ")}.
          </Remark>
        )}
        <Table
          rows={categories}
          columns={columns.categories}
          noun={nounOf("memory_profile", "categories")}
          sort=""
          isSide
        />
      </section>
      <section class="section">
        <Table
          rows={stacks}
          columns={columns.stacks}
          noun={nounOf("memory_profile", "stacks")}
          sort="bytes"
          height="360px"
          picked={picked}
          onPick={setPicked}
        />
        {picked === null ? (
          <p class="quiet small">A click on a row, or Enter, opens its call stack.</p>
        ) : (
          <StackOf stack={picked} />
        )}
      </section>
    </>
  );
}

/** Returns the device that is shown first: one whose request failed, or that of the greatest peak. */
export function firstDevice({ devices, failures }: ProfileResult): number {
  const failed = devices.findIndex((device) => failures.some(isOf(device)));
  if (failed >= 0) return failed;
  const peak = Math.max(...devices.map((device) => device.peak_bytes));
  return Math.max(
    0,
    devices.findIndex((device) => device.peak_bytes === peak),
  );
}

/** Says on other pages that a request for memory failed, as a snapshot tells. */
export function FailedRequest() {
  const loaded = useSmallResult("memory_profile");
  const [failure] = loaded.state === "ready" ? loaded.value.failures : [];
  if (failure === undefined) return null;
  return (
    <Broken title="Out of memory">
      <Verdict text={failure.verdict} />
      <a href={hashOf("memory_profile")}>What was live</a>
    </Broken>
  );
}

export function MemoryProfile() {
  const loaded = useResult("memory_profile");
  const memory = useSmallResult("device_memory");
  const [asked, setAsked] = useState<number | null>(null);
  if (loaded.state === "loading") return <Loading what="memory" />;
  const result = loaded.state === "ready" ? loaded.value : null;
  const chosen = asked ?? (result === null ? 0 : firstDevice(result));
  const device = result?.devices[chosen];
  if (result === null || device === undefined) {
    const { why, option } = whyNot(result?.meta.skipped ?? [], ["tensors"], {
      why:
        loaded.state === "absent"
          ? loaded.reason
          : "The program allocated no memory of PyTorch, TensorFlow or JAX, or not while it was recorded.",
      option: "",
    });
    return (
      <NotRecorded
        title="No memory of a framework was recorded"
        why={why}
        option={option}
        would="Memory of PyTorch, TensorFlow and JAX over time, what was live at the peak, free pieces, and why a request failed."
      />
    );
  }
  const end_ns = Math.max(1, result.meta.window_end_ns);
  const capacity = memory.state === "ready" ? capacityOf(device, memory.value) : null;
  const several = new Set(result.devices.map(({ pid, host }) => `${host} ${pid}`)).size > 1;
  return (
    <div class="page">
      <div class="head">
        <h2>
          Memory of {device.name}
          <small>
            {SOURCES[device.source]}, {plural(device.event_count, "event", "events")}; peak at{" "}
            {position(device.peak_time_ns, end_ns)}
            {device.peak_range !== "" && ` in ${device.peak_range}`}
          </small>
        </h2>
        <Choice
          label={deviceWord.value}
          names={result.devices.map((each) =>
            several ? `${each.name} of ${each.host} ${each.pid}`.replace("  ", " ") : each.name,
          )}
          value={chosen}
          onChange={setAsked}
        />
      </div>
      <Verdict text={device.verdict} />
      <OfDevice key={chosen} result={result} device={device} capacity={capacity} end_ns={end_ns} />
      <Rows result={result} list="failures" />
      <Rows result={result} list="devices" />
      <Rows result={result} list="timeline" />
    </div>
  );
}
