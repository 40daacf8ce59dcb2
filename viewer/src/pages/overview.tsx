// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The answer first: a sentence, findings, key figures, where the step went, what cost most.

import { useMemo } from "preact/hooks";
import { useResult, useSmallResult } from "../app/use_result";
import { bytes, count, duration, percent, plural } from "../base/format";
import { PHASES, STEP_CATEGORIES, wordOf } from "../base/vocabulary";
import { whyLossesUnknown } from "../data/losses";
import type { OverviewProcess, Overview as OverviewResult } from "../data/results";
import { type Part, WallBar } from "../parts/bars";
import { StepCategoryTable } from "../parts/category_table";
import { Figures } from "../parts/figures";
import { Broken, Loading, Remark } from "../parts/states";
import { StepChart } from "../parts/step_chart";
import { AssistantFindings } from "./assistant_findings";
import { DeviceTime } from "./device_time";
import { Findings } from "./findings";
import { FailedRequest } from "./memory_profile";
import { locksOf, TopFunctions, TopLocks, TopSites } from "./overview_host";
import { Families, TopKernels, TopOps } from "./overview_tables";
import { figuresOf, leadingPeriod, sentenceOf } from "./overview_words";

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
    <div class="third">
      <h2>Environment</h2>
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
    </div>
  );
}

function Foot({ overview }: { overview: OverviewResult }) {
  const { meta, cost } = overview;
  const rows = meta.inputs.reduce((sum, input) => sum + input.count, 0);
  const words = [
    `${count(rows)} events in ${plural(overview.processes.length, "process", "processes")}`,
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
      ? "Losses are not known"
      : "Nothing lost";
  return (
    <div class="foot">
      <span class={isLost ? "bad" : isUnknown ? "" : "good"}>{lead}</span> · {words.join(" · ")} ·{" "}
      <a href="#health">capture health</a>
    </div>
  );
}

/** Fewer steps make no chart. */
const LEAST_STEPS = 3;

/** Shows the sentence, and at the right whose run it is. */
function Head({ overview }: { overview: OverviewResult }) {
  const { headline, because } = sentenceOf(overview);
  const environment = overview.environment;
  const wall = environment?.wall_ns ?? overview.meta.window_end_ns;
  const steps =
    overview.steps === null ? "" : `${plural(overview.steps.count, "step", "steps")} in `;
  const status = environment?.exit_status == null ? "" : `, exit status ${environment.exit_status}`;
  const command = environment?.command ?? "";
  return (
    <div class="lede">
      <div>
        <h1>{headline}</h1>
        {because !== "" && <p>{because}</p>}
      </div>
      <div class="who">
        {command !== "" && (
          <div>
            <code title={command}>
              {command.length > 60 ? `${command.slice(0, 60)}…` : command}
            </code>
          </div>
        )}
        {steps}
        {duration(wall)}
        {status}
      </div>
    </div>
  );
}

/** Returns whether the run is its steps and hardly anything else. */
function isOfSteps(overview: OverviewResult): boolean {
  const steps = overview.phases.find((phase) => phase.phase === "steps");
  return (steps?.total_ratio ?? 0) > 0.98;
}

/** Shows where the run went: phases, and the steps by category. */
function RunBar({ overview }: { overview: OverviewResult }) {
  if (overview.phases.length === 0) return null;
  const wall = overview.environment?.wall_ns ?? overview.meta.window_end_ns;
  const whole = overview.run_ns > 0 ? overview.run_ns : wall;
  return (
    <section class="section">
      <h2>
        Where the run went
        <small>
          wall time, {duration(whole)}; every nanosecond is in one part{ofProcess(overview)}
        </small>
      </h2>
      <WallBar parts={wallParts(overview)} whole={whole} rest="Not explained" />
    </section>
  );
}

function StepTimes({ overview }: { overview: OverviewResult }) {
  const series = overview.steps;
  const points = useMemo(
    () =>
      overview.step_points.filter(
        (step) => series === null || (step.pid === series.pid && step.host === series.host),
      ),
    [overview, series],
  );
  if (series === null || points.length < LEAST_STEPS) return null;
  return (
    <section class="section">
      <h2>
        Step time
        <small>
          ms, stacked by category; found by <code>{series.marker}</code>, confidence{" "}
          {series.confidence?.level ?? "none"}
        </small>
      </h2>
      <StepChart steps={points} series={series} height={212} />
      <StepCategoryTable series={series} />
    </section>
  );
}

/** Shows the tables of what cost most, side by side. Without families, the environment is third. */
function Costs({ overview }: { overview: OverviewResult }) {
  const loaded = useSmallResult("kernels");
  const kernels = loaded.state === "ready" ? loaded.value.kernels : null;
  const families = overview.gpu?.families ?? [];
  const environment = <Environment overview={overview} />;
  const hasGpu = (overview.gpu?.kernel_count ?? 0) > 0;
  const functions = overview.functions?.functions ?? [];
  const locks = useMemo(() => (hasGpu ? [] : locksOf(overview)), [overview, hasGpu]);
  return (
    <>
      <section class="section">
        <div class="columns thirds">
          {!hasGpu && functions.length > 0 && <TopFunctions functions={functions} />}
          <TopKernels overview={overview} kernels={kernels} />
          <TopOps overview={overview} />
          {locks.length > 0 && <TopLocks locks={locks} />}
          {!hasGpu && <TopSites overview={overview} />}
          {families.length > 0 ? <Families families={families} /> : environment}
        </div>
      </section>
      {families.length > 0 && <section class="section">{environment}</section>}
    </>
  );
}

function Ready({ overview }: { overview: OverviewResult }) {
  const leading = leadingPeriod(overview) ?? overview.device_series[0];
  const devices = leading === undefined ? [] : [leading];
  return (
    <div class="page">
      <Head overview={overview} />
      {overview.meta.inputs
        .filter((input) => input.fault !== "")
        .map((input) => (
          <Remark key={input.name}>
            {input.name} is cut: {input.fault}. What could be read is shown.
          </Remark>
        ))}
      <FailedRequest />
      <h2 class="visually-hidden">Findings</h2>
      <Findings findings={overview.findings} />
      <AssistantFindings />
      <h2 class="visually-hidden">Key figures</h2>
      <Figures figures={figuresOf(overview)} />
      {devices.map((each) => (
        <DeviceTime
          key={`${each.host} ${each.pid} ${each.device}`}
          series={each}
          host={each.window === "period" || each.window === "mark" ? overview.steps : null}
        />
      ))}
      {devices.length === 0 && <RunBar overview={overview} />}
      <Costs overview={overview} />
      <StepTimes overview={overview} />
      {devices.length > 0 && !isOfSteps(overview) && <RunBar overview={overview} />}
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
