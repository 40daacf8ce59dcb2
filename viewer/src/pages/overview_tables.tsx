// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The tables at the foot of the overview: what ran most on the GPU, which operations cost most.

import { useMemo } from "preact/hooks";
import { hashOf } from "../app/state";
import { useSmallResult } from "../app/use_result";
import { duration } from "../base/format";
import { kernelName, opName } from "../base/names";
import { KERNEL_FAMILIES, wordOf } from "../base/vocabulary";
import type { Kernel, KernelFamilyTime, Op, Overview } from "../data/results";
import { Swatch } from "../parts/bars";
import { countColumn, percentColumn, textColumn, timeColumn, unitOfTimes } from "../parts/columns";
import { Table } from "../parts/table";
import { wordOfKernel } from "./families";
import { leadingPeriod } from "./overview_words";

const MOST_ROWS = 8;

/** Returns whether the GPU computes for half of the time: then its time is what bounds. */
export function isBoundByGpu(overview: Overview): boolean {
  const period = leadingPeriod(overview);
  return (period?.busy_ratio ?? overview.gpu?.busy_ratio ?? 0) >= 0.5;
}

/** Shows the kernels that take most time. `kernels`: all of them, if they could be read. */
export function TopKernels(props: { overview: Overview; kernels: readonly Kernel[] | null }) {
  const { overview, kernels } = props;
  const rows = useMemo(() => {
    // Rows of several devices repeat a name: the overview has each once.
    const isOne = (overview.gpu?.device_count ?? 0) <= 1 && overview.processes.length <= 1;
    const all = isOne && kernels !== null ? kernels : (overview.gpu?.top_kernels ?? []);
    return [...all].sort((a, b) => b.total_ns - a.total_ns).slice(0, MOST_ROWS);
  }, [overview, kernels]);
  const all = overview.gpu?.kernel_ns ?? 0;
  const columns = useMemo(() => {
    const unit = unitOfTimes(rows[0]?.total_ns ?? 0);
    const shown = (kernel: Kernel) => kernelName(kernel.short_name || kernel.name);
    return [
      textColumn<Kernel>("name", "Kernel", shown, {
        width: "52%",
        title: (kernel) => kernel.name,
        cell: (kernel) => (
          <>
            <Swatch look={wordOfKernel(kernel).look} />
            <a href={hashOf("kernels", { q: shown(kernel).slice(0, 200) })}>
              {shown(kernel).slice(0, 300)}
            </a>
          </>
        ),
      }),
      timeColumn<Kernel>("total", "", unit, (kernel) => kernel.total_ns),
      percentColumn<Kernel>("share", "of kernels", (kernel) =>
        all === 0 ? null : kernel.total_ns / all,
      ),
      countColumn<Kernel>("count", "calls", (kernel) => kernel.count, { leaves: 3 }),
    ];
  }, [rows, all]);
  if (rows.length === 0) return null;
  return (
    <div class="third">
      <h2>
        Top kernels<small>by GPU time</small>
      </h2>
      <Table rows={rows} columns={columns} noun={["kernel", "kernels"]} sort="total" isSide />
      <p>
        <a href="#kernels">All kernels</a>
      </p>
    </div>
  );
}

/** Shows the operations that cost most of what bounds: the GPU's time, or the host's own. */
export function TopOps({ overview }: { overview: Overview }) {
  // The overview has those with most time on the host alone.
  const all = useSmallResult("ops");
  const ops = all.state === "ready" ? all.value.ops : overview.top_ops;
  const hasGpu = ops.some((op) => (op.device_self_ns ?? 0) > 0);
  const isOfGpu = hasGpu && isBoundByGpu(overview);
  const rows = useMemo(() => {
    const time = (op: Op) => timeOfOp(op, isOfGpu) ?? -1;
    const marker = overview.steps?.marker ?? "";
    return ops
      .filter((op) => !isStep(op.name, marker))
      .sort((a, b) => time(b) - time(a))
      .slice(0, MOST_ROWS);
  }, [ops, isOfGpu, overview]);
  const columns = useMemo(() => {
    const unitOf = (ofGpu: boolean) =>
      unitOfTimes(Math.max(0, ...rows.map((op) => timeOfOp(op, ofGpu) ?? 0)));
    const share = (op: Op) => (isOfGpu ? op.device_self_ratio : (op.step_ratio ?? op.self_ratio));
    const base = isOfGpu ? "of GPU" : overview.steps === null ? "share" : "of steps";
    return [
      textColumn<Op>("name", "Operation", (op) => opName(op.short_name), {
        width: "52%",
        title: (op) => op.name,
        cell: (op) => (
          <a href={hashOf("ops", { q: opName(op.short_name).slice(0, 200) })}>
            {opName(op.short_name).slice(0, 300)}
          </a>
        ),
      }),
      timeColumn<Op>("self", "", unitOf(isOfGpu), (op) => timeOfOp(op, isOfGpu)),
      percentColumn<Op>("share", base, share),
      // The other side's time tells how the two are related.
      ...(hasGpu
        ? [
            timeColumn<Op>(
              "other",
              isOfGpu ? "host" : "GPU",
              unitOf(!isOfGpu),
              (op) => timeOfOp(op, !isOfGpu),
              { leaves: 3 },
            ),
          ]
        : [countColumn<Op>("count", "calls", (op) => op.count, { leaves: 3 })]),
    ];
  }, [rows, isOfGpu, hasGpu, overview]);
  if (rows.length === 0) return null;
  const by = isOfGpu
    ? "by GPU time"
    : overview.steps === null
      ? "by own time on the host"
      : "by own time on the host, within steps";
  return (
    <div class="third">
      <h2>
        Top operations<small>{by}</small>
      </h2>
      <Table
        key={by}
        rows={rows}
        columns={columns}
        noun={["operation", "operations"]}
        sort="self"
        isSide
      />
      <p>
        <a href="#ops">All operations</a>
      </p>
    </div>
  );
}

/** Returns whether an operation is the range of a step itself: "step 7", "ProfilerStep#6". */
function isStep(name: string, marker: string): boolean {
  return marker !== "" && name.startsWith(marker) && /^[#:_ ]*\d*$/.test(name.slice(marker.length));
}

function timeOfOp(op: Op, isOfGpu: boolean): number | null {
  return isOfGpu ? op.device_self_ns : (op.step_self_ns ?? op.self_ns);
}

/** Shows the families of kernels. They are summed over all kernels, so they add up. */
export function Families({ families }: { families: readonly KernelFamilyTime[] }) {
  const all = families.reduce((sum, family) => sum + family.total_ns, 0);
  const columns = useMemo(() => {
    const unit = unitOfTimes(families[0]?.total_ns ?? 0);
    return [
      textColumn<KernelFamilyTime>(
        "name",
        "Family",
        (family) => wordOf(KERNEL_FAMILIES, family.family).name,
        {
          width: "52%",
          cell: (family) => (
            <>
              <Swatch look={wordOf(KERNEL_FAMILIES, family.family).look} />
              {wordOf(KERNEL_FAMILIES, family.family).name}
            </>
          ),
        },
      ),
      timeColumn<KernelFamilyTime>("total", "", unit, (family) => family.total_ns),
      percentColumn<KernelFamilyTime>("share", "share", (family) => family.total_ratio),
      countColumn<KernelFamilyTime>("count", "kernels", (family) => family.count),
    ];
  }, [families]);
  return (
    <div class="third">
      <h2>
        Families of kernels<small>of {duration(all)} of kernels</small>
      </h2>
      <Table rows={families} columns={columns} noun={["family", "families"]} sort="total" isSide />
    </div>
  );
}
