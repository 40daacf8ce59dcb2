// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Kernels of GPUs, with their class, launch shape and use of tensor cores.

import { useMemo, useState } from "preact/hooks";
import { hashOf, replaceParams, route } from "../app/state";
import { useResult } from "../app/use_result";
import { bytes, count, duration, NOT_MEASURED, percent } from "../base/format";
import { kernelName, launchShape, opName } from "../base/names";
import { KERNEL_FAMILIES, type Word } from "../base/vocabulary";
import type { Kernel, Kernels as KernelsResult } from "../data/results";
import { Legend, Swatch, TensorCoreTag } from "../parts/bars";
import type { Column } from "../parts/columns";
import { columnsOf, type Own } from "../parts/described";
import { Segments } from "../parts/segments";
import { Loading } from "../parts/states";
import { Table } from "../parts/table";
import { wordOfKernel } from "./families";
import { NoGpuWork } from "./no_gpu_work";

type By = "kernels" | "kernels:signature" | "kernels:op";

const CHOICES: readonly (readonly [By, string])[] = [
  ["kernels:signature", "Kernel and shape"],
  ["kernels", "Kernel"],
  ["kernels:op", "Operator"],
];

function lookOf(kernel: Kernel) {
  return wordOfKernel(kernel).look;
}

function nameOf(kernel: Kernel): string {
  return kernelName(kernel.short_name || kernel.name);
}

/** The full name as far as a page can show it. */
function fullName(kernel: Kernel): string {
  return kernel.name.length > 8000 ? `${kernel.name.slice(0, 8000)}…` : kernel.name;
}

function sharedBytes(kernel: Kernel): number | null {
  if (kernel.static_shared_bytes === null && kernel.dynamic_shared_bytes === null) return null;
  return (kernel.static_shared_bytes ?? 0) + (kernel.dynamic_shared_bytes ?? 0);
}

/** What the page adds to the columns of kernels. */
function ownOf(by: By): Own<Kernel> {
  const hasShape = by === "kernels:signature";
  const shape = (field: "grid" | "block"): Partial<Column<Kernel>> => ({
    value: (kernel) => launchShape(kernel[field]) ?? NOT_MEASURED,
    title: (kernel) =>
      kernel[field] ?? "Launches of several shapes are one row here; see “Kernel and shape”",
    isNumber: true,
    isSearched: false,
    isHidden: !hasShape,
  });
  const opOf = (kernel: Kernel) => (kernel.op === null ? null : opName(kernel.op));
  return {
    bar: { color: lookOf, width: "10%" },
    cells: {
      name: {
        width: "20%",
        value: nameOf,
        cell: (kernel) => (
          <>
            <Swatch look={lookOf(kernel)} />
            {nameOf(kernel).slice(0, 300)}
          </>
        ),
      },
      op: {
        width: "12%",
        value: opOf,
        title: (kernel) => kernel.op ?? "no operation launched it, or the grouping joins several",
      },
      tensor_cores: {
        value: (kernel) =>
          kernel.tensor_cores === "yes" ? "used" : kernel.is_tensor_core_eligible ? "could be" : "",
        cell: (kernel) => (
          <TensorCoreTag
            isUsed={kernel.tensor_cores === "yes"}
            isEligible={kernel.is_tensor_core_eligible}
            why={kernel.tensor_cores_evidence}
          />
        ),
      },
      grid: shape("grid"),
      block: shape("block"),
      dynamic_shared_bytes: { value: sharedBytes, cell: (kernel) => bytes(sharedBytes(kernel)) },
      occupancy_ratio: {
        title: (kernel) =>
          kernel.occupancy_ratio === null
            ? "the recording does not tell it"
            : `limited by ${kernel.occupancy_limit.replaceAll("_", " ")}`,
      },
    },
  };
}

/** Returns the families that occur, in the order of the vocabulary. */
function familiesOf(rows: readonly Kernel[]): Word[] {
  const found = new Set(rows.map(wordOfKernel));
  return Object.values(KERNEL_FAMILIES).filter((word) => found.has(word));
}

function Detail({ kernel }: { kernel: Kernel }) {
  const shape = launchShape(kernel.grid);
  const facts: (readonly [string, string])[] = [
    ["Launches", count(kernel.count)],
    ["Total", `${duration(kernel.total_ns)} · ${percent(kernel.total_ratio)}`],
    ["Least, mean, most", [kernel.min_ns, kernel.mean_ns, kernel.max_ns].map(duration).join(" · ")],
    ["Median", duration(kernel.median_ns)],
    ["Type of numbers", kernel.precision],
    ["Tensor cores", tensorCoreWords(kernel)],
    [
      "Grid, block",
      shape === null ? "several or unknown" : `${shape}, ${launchShape(kernel.block)}`,
    ],
    [
      "Registers, shared",
      `${count(kernel.registers_per_thread_count)}, ${bytes(sharedBytes(kernel))}`,
    ],
    ["Waves on the device", kernel.wave_count === null ? "—" : kernel.wave_count.toFixed(1)],
  ];
  if (kernel.op !== null) facts.push(["Operator", kernel.op]);
  if (kernel.launched_by !== null) facts.push(["Launched by", kernel.launched_by]);
  return (
    <section class="section">
      <h2>
        <Swatch look={lookOf(kernel)} />
        {nameOf(kernel).slice(0, 300)}
        <small>{wordOfKernel(kernel).name}</small>
      </h2>
      <p
        class="mono prose"
        style={{ margin: "8px 0", overflowWrap: "anywhere", maxHeight: "54px", overflow: "auto" }}
      >
        {fullName(kernel)}
      </p>
      <dl class="pairs" style={{ gridTemplateColumns: "136px minmax(0,1fr) 136px minmax(0,1fr)" }}>
        {facts.map(([name, value]) => [
          <dt key={name}>{name}</dt>,
          <dd key={`${name} is`}>{value}</dd>,
        ])}
      </dl>
      <p class="links" style={{ marginTop: "8px" }}>
        <a href={hashOf("timeline", { q: kernel.name.slice(0, 200) })}>Find in the timeline</a>
        {kernel.op !== null && <a href={hashOf("ops", { q: opName(kernel.op) })}>Its operator</a>}
      </p>
    </section>
  );
}

function tensorCoreWords(kernel: Kernel): string {
  const why = kernel.tensor_cores_evidence === "" ? "" : ` (${kernel.tensor_cores_evidence})`;
  if (kernel.tensor_cores === "yes") return `used${why}`;
  if (kernel.tensor_cores === "unknown") return "unknown";
  return `${kernel.is_tensor_core_eligible ? "could be used, are not" : "not used"}${why}`;
}

function headWords(result: KernelsResult): string {
  const share = result.total_ns > 0 ? result.tensor_cores_ns / result.total_ns : 0;
  return `${count(result.count)} launches, ${duration(result.total_ns)}; ${percent(
    share,
  )} of it in kernels that use tensor cores`;
}

export function Kernels() {
  const params = route.value.params;
  const asked = CHOICES.find(([key]) => key === `kernels:${params.get("by")}`)?.[0] ?? "kernels";
  const [by, setBy] = useState<By>(asked);
  const [picked, setPicked] = useState<Kernel | null>(null);
  const loaded = useResult(by);
  const rows = loaded.state === "ready" ? loaded.value.kernels : null;
  const key = loaded.state === "ready" ? loaded.value.by : "";
  const columns = useMemo(
    () => columnsOf("kernels", "kernels", key, rows ?? [], ownOf(by)),
    [rows, key, by],
  );
  if (loaded.state === "loading") return <Loading what="kernels" />;
  if (loaded.state === "absent" || rows === null || (rows.length === 0 && by === "kernels")) {
    return (
      <NoGpuWork
        loaded={loaded}
        what="kernels"
        would="Kernels with their class, launch shape, registers, occupancy and use of tensor cores, and the operator that launched them."
      />
    );
  }
  return (
    <div class="page">
      <div class="head">
        <h2>
          Kernels<small>{headWords(loaded.value)}</small>
        </h2>
        <span class="wide">
          <Legend parts={familiesOf(rows)} />
        </span>
      </div>
      <Table
        key={by}
        rows={rows}
        columns={columns}
        noun={["kernel", "kernels"]}
        sort="total_ns"
        height={
          picked === null
            ? "calc(100vh - var(--tabs, 0px) - 170px)"
            : "calc(100vh - var(--tabs, 0px) - 400px)"
        }
        initialFilter={params.get("q") ?? ""}
        picked={picked}
        onPick={setPicked}
        extra={
          <Segments
            label="Group by"
            options={CHOICES}
            value={by}
            onChange={(next) => {
              setBy(next);
              setPicked(null);
              replaceParams({ by: next === "kernels" ? "" : next.slice("kernels:".length) });
            }}
          />
        }
      />
      {picked !== null && <Detail kernel={picked} />}
    </div>
  );
}
