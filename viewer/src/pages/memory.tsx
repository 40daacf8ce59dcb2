// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Memory over time: the heap, tensors of frameworks, and memory that CUDA gave.

import { useMemo, useState } from "preact/hooks";
import { hashOf } from "../app/state";
import { useResult } from "../app/use_result";
import { bytes, count, duration, percent, plural, position } from "../base/format";
import { opName, shortPath } from "../base/names";
import type { DeviceMemory, Heap, HeapProcess, HeapStack } from "../data/results";
import { merged, type Part, WallBar } from "../parts/bars";
import { columnsOf, nounOf, type Own } from "../parts/described";
import { type Figure, Figures } from "../parts/figures";
import { frameName, framesOf } from "../parts/flame_tree";
import { MemoryChart } from "../parts/memory_chart";
import { layersOf, OwnersChart } from "../parts/owners_chart";
import { Segments } from "../parts/segments";
import { Loading, NotRecorded, Remark, whyNot } from "../parts/states";
import { Table } from "../parts/table";

type TensorOp = Heap["tensor_ops"][number];

const STACKS: Own<HeapStack> = {
  cells: {
    name: { width: "30%" },
    mean_life_ns: { title: (row) => (row.mean_life_ns === 0 ? "all of it is still live" : "") },
  },
};

const TENSOR_OPS: Own<TensorOp> = {
  cells: { name: { width: "30%", value: (row) => opName(row.name), title: (row) => row.name } },
};

function heapFigures(process: HeapProcess) {
  const isExact = process.mode === "exact";
  const lost = process.lost_count;
  const exact = lost === 0 ? "exact" : `or more: ${count(lost)} records lost`;
  return [
    {
      label: "Heap peak",
      value: bytes(process.peak_bytes),
      below: isExact
        ? exact
        : `${bytes(process.peak_low_bytes)} to ${bytes(process.peak_high_bytes)}, sampled`,
    },
    { label: "Allocated", value: bytes(process.allocated_bytes), below: "in the whole capture" },
    { label: "Still live", value: bytes(process.end_bytes), below: "at the end" },
    {
      label: "Allocations",
      value: count(process.count),
      below: isExact ? exact : "estimated from samples",
    },
    {
      label: "Short-lived",
      value: percent(process.count === 0 ? 0 : process.short_lived_count / process.count),
      below: "of allocations live less than 10 ms",
    },
  ];
}

type Tensors = Heap["tensors"][number];

function tensorFigures(tensor: Tensors, capacity: number | null): Figure[] {
  const { peak_bytes, reserved_peak_bytes: reserved } = tensor;
  const figures: Figure[] = [
    { label: "Tensor peak", value: bytes(peak_bytes), below: "exact" },
    { label: "Still live", value: bytes(tensor.end_bytes), below: "at the end" },
    { label: "Allocated", value: bytes(tensor.allocated_bytes), below: "in the whole capture" },
    { label: "Allocations", value: count(tensor.count), below: "of tensors" },
    {
      label: "Short-lived",
      value: percent(tensor.count === 0 ? null : tensor.short_lived_count / tensor.count),
      below: "of allocations live less than 10 ms",
    },
  ];
  if (reserved !== null && reserved > 0) {
    const unused = Math.max(0, reserved - peak_bytes);
    figures.splice(
      1,
      0,
      { label: "Reserved", value: bytes(reserved), below: "at most, by the allocator" },
      { label: "Unused", value: bytes(unused), below: `${percent(unused / reserved)} of reserved` },
    );
  }
  if (capacity !== null && capacity > 0) {
    figures.push({
      label: "Of the device",
      value: percent(Math.max(peak_bytes, reserved ?? 0) / capacity),
      below: `of ${bytes(capacity)}`,
    });
  }
  return figures;
}

/** Most frames of a call stack that are shown. */
const MOST_FRAMES = 64;

/** Parts of a bar: the largest have names, the others are one part. */
const NAMED_PARTS = 7;

/** Returns what lived at a peak, the largest first. With the bar's rest it sums up to the peak. */
export function peakParts(rows: readonly { name: string; peak_bytes: number }[]): Part[] {
  const parts = merged(
    rows.map((row) => ({ name: opName(row.name), value: row.peak_bytes, look: "bar" })),
  )
    .filter((part) => part.value > 0)
    .sort((a, b) => b.value - a.value);
  const others = parts.slice(NAMED_PARTS).reduce((sum, part) => sum + part.value, 0);
  return [...parts.slice(0, NAMED_PARTS), { name: "Others", value: others, look: "d_other" }];
}

/** Shows the call stack of a row, from the allocator outwards. */
function StackOf({ stack, heap }: { stack: HeapStack; heap: Heap }) {
  const frames =
    heap.call_stacks === null ? [] : framesOf(heap.call_stacks, stack.call_stack).reverse();
  return (
    <section class="section">
      <h2>
        {stack.short_name || stack.name}
        <small>
          {plural(stack.count, "allocation", "allocations")}, {bytes(stack.allocated_bytes)}
        </small>
      </h2>
      {frames.length === 0 && <p class="quiet">No call stack was taken.</p>}
      <ol class="stack">
        {frames.slice(0, MOST_FRAMES).map((frame, index) => (
          <li key={index} class={frame.name === stack.name ? "own" : undefined}>
            {frameName(frame).slice(0, 300)}
            {frame.file !== "" && (
              <span class="quiet">
                {" "}
                {shortPath(frame.file)}
                {frame.line > 0 && `:${frame.line}`}
              </span>
            )}
          </li>
        ))}
        {frames.length > MOST_FRAMES && <li>{count(frames.length - MOST_FRAMES)} more</li>}
      </ol>
    </section>
  );
}

function HeapPart({ heap, end_ns }: { heap: Heap; end_ns: number }) {
  const processes = useMemo(
    () =>
      heap.processes
        .filter((process) => process.mode !== "off" && process.peak_bytes > 0)
        .sort((a, b) => b.peak_bytes - a.peak_bytes),
    [heap],
  );
  const [pid, setPid] = useState(processes[0]?.pid ?? 0);
  const process = processes.find((each) => each.pid === pid);
  const points = useMemo(() => heap.timeline.filter((point) => point.pid === pid), [heap, pid]);
  const stacks = useMemo(() => heap.stacks.filter((stack) => stack.pid === pid), [heap, pid]);
  const columns = useMemo(() => columnsOf("heap", "stacks", "", stacks, STACKS), [stacks]);
  const [picked, setPicked] = useState<HeapStack | null>(null);
  if (process === undefined) return null;
  return (
    <section>
      <div class="head">
        <h2>
          Heap
          <small>
            {process.name} {process.pid}, {process.mode}; peak at{" "}
            {position(process.peak_time_ns, end_ns)}
          </small>
        </h2>
        {processes.length > 1 && (
          <Segments
            label="Process"
            options={processes
              .slice(0, 6)
              .map((each) => [String(each.pid), `${each.name.slice(0, 24)} ${each.pid}`] as const)}
            value={String(pid)}
            onChange={(next) => setPid(Number(next))}
          />
        )}
      </div>
      <Figures figures={heapFigures(process)} />
      <div style={{ marginTop: "12px" }}>
        <MemoryChart
          name={`Heap of ${process.name.slice(0, 80)}`}
          points={points}
          peak={{ time_ns: process.peak_time_ns, bytes: process.peak_bytes }}
          end_ns={end_ns}
        />
      </div>
      <Table
        rows={stacks}
        columns={columns}
        noun={nounOf("heap", "stacks")}
        sort="peak_bytes"
        height="360px"
        picked={picked}
        onPick={setPicked}
        extra={<a href={hashOf("stacks", { by: "heap_peak" })}>As a flame graph</a>}
      />
      {picked === null ? (
        <p class="quiet small">A click on a row, or Enter, opens its call stack.</p>
      ) : (
        <StackOf stack={picked} heap={heap} />
      )}
    </section>
  );
}

/** Returns the capacity of a device by the name that frameworks give it; null: not known. */
export function capacityOf(
  tensor: { readonly name: string; readonly pid: number },
  memory: DeviceMemory | null,
): number | null {
  const device = /^(?:cuda|tpu):(\d+)$/.exec(tensor.name)?.[1];
  const found = memory?.devices.find(
    (each) => each.pid === tensor.pid && String(each.device) === device,
  );
  return found?.capacity_bytes ?? null;
}

function TensorPart(props: { heap: Heap; memory: DeviceMemory | null; end_ns: number }) {
  const { heap, end_ns } = props;
  const tensors = useMemo(
    () =>
      heap.tensors
        .filter((each) => each.peak_bytes > 0)
        .sort((a, b) => b.peak_bytes - a.peak_bytes),
    [heap],
  );
  const [chosen, setChosen] = useState(0);
  const tensor = tensors[chosen];
  const isOf = (row: { pid: number; device?: string }) =>
    tensor !== undefined && row.pid === tensor.pid && row.device === tensor.name;
  const points = useMemo(() => heap.tensor_timeline.filter(isOf), [heap, tensor]);
  const ops = useMemo(() => heap.tensor_ops.filter(isOf), [heap, tensor]);
  const history = useMemo(
    () => heap.tensor_histories.find((each) => isOf(each) && each.owners.length > 0),
    [heap, tensor],
  );
  const layers = useMemo(() => (history === undefined ? [] : layersOf(history)), [history]);
  const columns = useMemo(() => columnsOf("heap", "tensor_ops", "", ops, TENSOR_OPS), [ops]);
  const parts = useMemo(() => {
    const named = history?.by === "operation" ? layers : [];
    const looks = new Map(named.map((layer) => [layer.name, layer.look]));
    return peakParts(ops).map((part) => ({ ...part, look: looks.get(part.name) ?? part.look }));
  }, [ops, history, layers]);
  if (tensor === undefined) return null;
  const reserved = tensor.reserved_peak_bytes;
  return (
    <section class="section">
      <div class="head">
        <h2>
          Tensors on {tensor.name}
          <small>
            allocated by operations, exact; peak at {position(tensor.peak_time_ns, end_ns)}
          </small>
        </h2>
        {tensors.length > 1 && (
          <Segments
            label="Device"
            options={tensors
              .slice(0, 6)
              .map((each, index) => [String(index), `${each.name} of ${each.pid}`] as const)}
            value={String(chosen)}
            onChange={(next) => setChosen(Number(next))}
          />
        )}
      </div>
      {tensor.reported_peak_bytes !== null && tensor.reported_peak_bytes > tensor.peak_bytes && (
        <Remark>
          The allocator reports a peak of {bytes(tensor.reported_peak_bytes)}. The difference was
          there before the capture.
        </Remark>
      )}
      <Figures figures={tensorFigures(tensor, capacityOf(tensor, props.memory))} />
      <div style={{ marginTop: "12px" }}>
        {history === undefined ? (
          <MemoryChart
            name={`Tensors on ${tensor.name}`}
            points={points}
            peak={{ time_ns: tensor.peak_time_ns, bytes: tensor.peak_bytes }}
            end_ns={end_ns}
            reserved_bytes={reserved}
          />
        ) : (
          <OwnersChart
            name={`Tensors on ${tensor.name}`}
            history={history}
            by={history.by}
            layers={layers}
            peak={{ time_ns: tensor.peak_time_ns, bytes: tensor.peak_bytes }}
            end_ns={end_ns}
            reserved_bytes={reserved}
          />
        )}
      </div>
      <h2 style={{ marginTop: "12px" }}>
        At the peak<small>{bytes(tensor.peak_bytes)} by the operation that allocated it</small>
      </h2>
      <WallBar parts={parts} whole={tensor.peak_bytes} rest="No operation" write={bytes} />
      <Table
        rows={ops}
        columns={columns}
        noun={nounOf("heap", "tensor_ops")}
        sort="peak_bytes"
        height="360px"
      />
    </section>
  );
}

function DevicePart({ memory }: { memory: DeviceMemory }) {
  const columns = useMemo(
    () => columnsOf("device_memory", "uses", memory.by, memory.uses),
    [memory],
  );
  if (memory.uses.length === 0) return null;
  return (
    <section class="section">
      <h2 style={{ marginBottom: "8px" }}>
        Memory that CUDA gave
        <small>
          {memory.devices
            .map(
              (device) =>
                `GPU ${device.device}: peak ${bytes(device.peak_bytes)}${
                  device.capacity_bytes === null ? "" : ` of ${bytes(device.capacity_bytes)}`
                }`,
            )
            .join("; ")}
        </small>
      </h2>
      <Table
        rows={memory.uses}
        columns={columns}
        noun={nounOf("device_memory", "uses")}
        sort="peak_bytes"
      />
    </section>
  );
}

export function Memory() {
  const heap = useResult("heap");
  const device = useResult("device_memory");
  if (heap.state === "loading" || device.state === "loading") return <Loading what="memory" />;
  const hasHeap =
    heap.state === "ready" && heap.value.processes.some((each) => each.peak_bytes > 0);
  const hasTensors =
    heap.state === "ready" && heap.value.tensors.some((each) => each.peak_bytes > 0);
  const hasDevice = device.state === "ready" && device.value.uses.length > 0;
  const skipped = heap.state === "ready" ? heap.value.meta.skipped : [];
  const { why, option } = whyNot(skipped, ["heap"], {
    why: heap.state === "absent" ? heap.reason : "No allocation was seen in the capture.",
    option: heap.state === "absent" ? "--trace heap" : "",
  });
  if (!hasHeap && !hasTensors && !hasDevice) {
    return (
      <NotRecorded
        title="No memory was recorded"
        why={why}
        option={option}
        would="The heap, tensors and device memory over time, what lived at the peak, and where it was allocated."
      />
    );
  }
  const end_ns = heap.state === "ready" ? Math.max(1, heap.value.meta.window_end_ns) : 1;
  return (
    <div class="page">
      {!hasHeap && option !== "" && (
        <Remark>
          The heap was not recorded. {why} <code>gpuprof run {option} -- COMMAND</code>
        </Remark>
      )}
      {heap.state === "ready" && <HeapPart heap={heap.value} end_ns={end_ns} />}
      {heap.state === "ready" && (
        <TensorPart
          heap={heap.value}
          memory={device.state === "ready" ? device.value : null}
          end_ns={end_ns}
        />
      )}
      {device.state === "ready" && <DevicePart memory={device.value} />}
      <p class="quiet small" style={{ marginTop: "12px" }}>
        Of {duration(end_ns)}.
      </p>
    </div>
  );
}
