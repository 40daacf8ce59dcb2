// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The answer first: a sentence, key figures, where the time went, steps, findings, top operations.

import { useMemo } from "preact/hooks";
import { useResult } from "../app/use_result";
import { bytes, count, duration, percent, plural } from "../base/format";
import { opName } from "../base/names";
import { PHASES, STEP_CATEGORIES, wordOf } from "../base/vocabulary";
import { whyLossesUnknown } from "../data/losses";
import type { Op, OverviewProcess, Overview as OverviewResult } from "../data/results";
import { type Part, WallBar } from "../parts/bars";
import { StepCategoryTable } from "../parts/category_table";
import { barColumn, fixedColumn, percentColumn, textColumn } from "../parts/columns";
import { Figures } from "../parts/figures";
import { Broken, Loading, Remark } from "../parts/states";
import { StepChart } from "../parts/step_chart";
import { Table } from "../parts/table";
import { DeviceTime } from "./device_time";
import { Findings } from "./findings";
import { figuresOf, sentenceOf } from "./overview_words";

/** The parts of the wall time: phases, with the steps split into their categories. */
export function wallParts(overview: OverviewResult): Part[] {
  const parts: Part[] = [];
  const split = overview.steps?.categories ?? [];
  for (const phase of overview.phases) {
    const sum = split.reduce((total, each) => total + each.total_ns, 0);
    const isSteps = phase.phase === "steps" && sum > 0;
    if (!isSteps) {
      parts.push({ ...wordOf(PHASES, phase.phase), value: phase.total_ns });
      continue;
    }
    for (const name of Object.keys(STEP_CATEGORIES)) {
      const time = split.find((each) => each.name === name)?.total_ns ?? 0;
      // Several threads may have steps: the bar shares out the phase.
      parts.push({ ...wordOf(STEP_CATEGORIES, name), value: (time / sum) * phase.total_ns });
    }
  }
  return parts;
}

/** Returns whose phases these are, if there are several processes. */
function ofProcess(overview: OverviewResult): string {
  const main = overview.main;
  if (main === null || main.process_count < 2) return "";
  return `; the phases are those of ${main.name} (${main.pid}), one of ${main.process_count} processes`;
}

function roleOf(process: OverviewProcess): string {
  const words = process.role.replaceAll("_", " ");
  const isNamed = process.name !== "" && process.name !== String(process.pid);
  return words === "loader worker" || !isNamed ? words : process.name;
}

function Environment({ overview }: { overview: OverviewResult }) {
  const environment = overview.environment;
  if (environment === null) return null;
  const machine = [
    environment.cpu_model,
    environment.core_count > 0 ? plural(environment.core_count, "processor", "processors") : "",
    environment.memory_bytes > 0 ? bytes(environment.memory_bytes) : "",
  ].filter((words) => words !== "");
  const devices = environment.devices.map(
    (device) =>
      `${device.device_count > 1 ? `${device.device_count} × ` : ""}${device.name}${
        device.memory_bytes > 0 ? `, ${bytes(device.memory_bytes)}` : ""
      }`,
  );
  const shown = overview.processes.slice(0, 6);
  const pairs: (readonly [string, string])[] = [
    ["Machine", machine.join(", ")],
    ["System", environment.kernel],
    ["GPU", devices.join("; ")],
    ["Driver", environment.gpu_driver],
    ["Framework", environment.frameworks.join(", ")],
    ["Recorded with", environment.writer_version],
  ];
  return (
    <>
      <h2 style={{ marginTop: "24px" }}>Environment</h2>
      <dl class="pairs">
        {pairs
          .filter(([, value]) => value !== "")
          .map(([name, value]) => [
            <dt key={name}>{name}</dt>,
            <dd key={`${name} is`}>{value}</dd>,
          ])}
        <dt>Processes</dt>
        <dd>
          {shown.map((process) => (
            <div key={`${process.host} ${process.pid}`}>
              {roleOf(process)}{" "}
              <span class="quiet">
                {process.pid}
                {process.cpu_ratio !== null && `, ${process.cpu_ratio.toFixed(2)} processors`}
                {process.ended !== "" && `, ${process.ended}`}
              </span>
            </div>
          ))}
          {overview.processes.length > shown.length && (
            <a href="#processes">All {count(overview.processes.length)} processes</a>
          )}
        </dd>
      </dl>
    </>
  );
}

function TopOps({ overview }: { overview: OverviewResult }) {
  const rows = overview.top_ops.slice(0, 9);
  const hasDevice = rows.some((op) => op.device_self_ns !== null);
  const columns = useMemo(() => {
    const time = (op: Op) => op.step_self_ns ?? op.self_ns;
    return [
      textColumn<Op>("name", "Operation", (op) => opName(op.short_name), {
        width: hasDevice ? "40%" : "46%",
        title: (op) => op.name,
      }),
      fixedColumn<Op>("self", "self, ms", (op) => time(op) / 1e6, 0),
      percentColumn<Op>("share", "of steps", (op) => op.step_ratio ?? op.self_ratio),
      ...(hasDevice ? [fixedColumn<Op>("gpu", "GPU, ms", (op) => msOf(op.device_self_ns), 1)] : []),
      barColumn<Op>("bar", "", rows, time, { width: "20%" }),
    ];
  }, [rows, hasDevice]);
  if (rows.length === 0) return null;
  return (
    <>
      <h2>
        Top operations
        <small>{overview.steps === null ? "own time" : "own time within steps"}</small>
      </h2>
      <Table rows={rows} columns={columns} noun={["operation", "operations"]} sort="self" isSide />
      <p style={{ marginTop: "8px" }}>
        <a href="#ops">All operations</a>
      </p>
    </>
  );
}

function msOf(ns: number | null): number | null {
  return ns === null ? null : ns / 1e6;
}

function Foot({ overview }: { overview: OverviewResult }) {
  const { meta, cost } = overview;
  const rows = meta.inputs.reduce((sum, input) => sum + input.count, 0);
  const words = [
    `of ${count(rows)} events in ${plural(overview.processes.length, "process", "processes")}`,
  ];
  if (cost?.slowdown_ratio != null) {
    words.push(`cost ${percent(cost.slowdown_ratio)} of the program’s time`);
  }
  if (cost?.background_ratio != null) {
    words.push(`${percent(cost.background_ratio)} of one processor beside it`);
  }
  if (cost !== null && cost.count > 0) {
    words.push(
      `${bytes(cost.file_bytes)}, ${(cost.file_bytes / cost.count).toFixed(1)} bytes an event`,
    );
  }
  const isLost = meta.lost_count > 0;
  const isUnknown = whyLossesUnknown(overview) !== "";
  const lead = isLost
    ? `${count(meta.lost_count)} events lost`
    : isUnknown
      ? "Losses unknown"
      : "Nothing lost";
  return (
    <div class="foot">
      <span class={isLost ? "bad" : isUnknown ? "" : "good"}>{lead}</span> {words.join(" · ")} ·{" "}
      <a href="#health">capture health</a>
    </div>
  );
}

/** Fewer steps make no chart. */
const LEAST_STEPS = 3;

function Ready({ overview }: { overview: OverviewResult }) {
  const { headline, because } = sentenceOf(overview);
  const environment = overview.environment;
  const series = overview.steps;
  const wall = environment?.wall_ns ?? overview.meta.window_end_ns;
  const whole = overview.run_ns > 0 ? overview.run_ns : wall;
  const steps = series === null ? "" : `${plural(series.count, "step", "steps")} in `;
  const status = environment?.exit_status == null ? "" : `, exit status ${environment.exit_status}`;
  const command = environment?.command ?? "";
  const points = useMemo(
    () =>
      overview.step_points.filter(
        (step) => series === null || (step.pid === series.pid && step.host === series.host),
      ),
    [overview, series],
  );
  return (
    <div class="page">
      <div class="head" style={{ alignItems: "flex-start", marginBottom: 0, flexWrap: "nowrap" }}>
        <div>
          <h1>{headline}</h1>
          {because !== "" && <p class="prose">{because}</p>}
        </div>
        <div class="quiet right" style={{ maxWidth: "44%" }}>
          <code class="command-line" title={command}>
            {command.length > 100 ? `${command.slice(0, 100)}…` : command}
          </code>
          <br />
          {steps}
          {duration(wall)}
          {status}
        </div>
      </div>
      {overview.meta.inputs
        .filter((input) => input.fault !== "")
        .map((input) => (
          <Remark key={input.name}>
            {input.name} is cut: {input.fault}. What could be read is shown.
          </Remark>
        ))}
      <Figures figures={figuresOf(overview)} />
      {overview.phases.length > 0 && (
        <section class="section">
          <h2>
            Where the run went
            <small>
              wall time, {duration(whole)}; every nanosecond is in one part{ofProcess(overview)}
            </small>
          </h2>
          <WallBar parts={wallParts(overview)} whole={whole} rest="Not explained" />
        </section>
      )}
      {overview.device_series.slice(0, 1).map((each) => (
        <DeviceTime key={`${each.host} ${each.pid} ${each.device}`} series={each} />
      ))}
      {series !== null && points.length >= LEAST_STEPS && (
        <section class="section">
          <div class="columns">
            <div>
              <h2>
                Step time
                <small>
                  ms, stacked by category; found by <code>{series.marker}</code>, confidence{" "}
                  {series.confidence?.level ?? "none"}
                </small>
              </h2>
              <StepChart steps={points} series={series} height={212} />
            </div>
            <div>
              <h2>In a step</h2>
              <StepCategoryTable series={series} />
            </div>
          </div>
        </section>
      )}
      <section class="section">
        <div class="columns">
          <div>
            <h2>
              Findings<small>by the time that the fix would win back</small>
            </h2>
            <Findings findings={overview.findings} />
          </div>
          <div>
            <TopOps overview={overview} />
            <Environment overview={overview} />
          </div>
        </div>
      </section>
      <Foot overview={overview} />
    </div>
  );
}

export function Overview() {
  const loaded = useResult("overview");
  if (loaded.state === "loading") return <Loading what="the overview" />;
  if (loaded.state === "absent") {
    return (
      <div class="page">
        <Broken title="The overview is not there">
          {loaded.reason} The other pages may still have their data.
        </Broken>
      </div>
    );
  }
  return <Ready overview={loaded.value} />;
}
