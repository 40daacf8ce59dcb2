// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Steps: each one by category, the typical and the worst.

import { useMemo, useState } from "preact/hooks";
import { narrowTo } from "../app/scope";
import { type Range, timelineHash } from "../app/state";
import { useResult } from "../app/use_result";
import { count, duration, fixed, percent, plural } from "../base/format";
import { STEP_CATEGORIES, wordOf } from "../base/vocabulary";
import type { Step, StepSeries, Steps as StepsResult } from "../data/results";
import { fillOf, Legend } from "../parts/bars";
import { StepCategoryTable } from "../parts/category_table";
import { type Column, fixedColumn } from "../parts/columns";
import { columnsOf, nounOf, type Own } from "../parts/described";
import { Loading, NotRecorded } from "../parts/states";
import { STACK, timeOf } from "../parts/step_bars";
import { StepChart } from "../parts/step_chart";
import { Table } from "../parts/table";
import { DeviceTime, shownSeries } from "./device_time";

/** A bar of the categories of a step, as wide as the step beside the longest. */
function StackBar({ step, longest }: { step: Step; longest: number }) {
  const scale = Math.max(longest, step.duration_ns);
  return (
    <div>
      {[...STACK].map((category) => {
        const time = timeOf(step, category);
        if (time <= 0) return null;
        const fill = fillOf(wordOf(STEP_CATEGORIES, category).look);
        return (
          <u
            key={category}
            class={fill.class}
            style={{ width: `${((time / scale) * 100).toFixed(2)}%`, ...fill.style }}
          />
        );
      })}
    </div>
  );
}

/** What the page adds to the columns of steps: how long each is beside the others. */
function ownOf(steps: readonly Step[], series: StepSeries): Own<Step> {
  // Warm-up steps do not set the scale: their bars end at the edge.
  let longest = 1;
  for (const step of steps) if (!step.warmup) longest = Math.max(longest, step.duration_ns);
  const factor = fixedColumn<Step>(
    "factor",
    "of median, ×",
    (step) => (series.median_ns === 0 ? null : step.duration_ns / series.median_ns),
    2,
  );
  const bar: Column<Step> = {
    id: "bar",
    header: "",
    value: (step) => step.duration_ns,
    cell: (step) => <StackBar step={step} longest={longest} />,
    isBar: true,
    width: "22%",
  };
  return {
    behind: { duration_ns: [factor, bar] },
    cells: {
      outlier_category: {
        value: (step) =>
          step.warmup
            ? "warm-up"
            : step.outlier
              ? `outlier by ${step.outlier_category.replaceAll("_", " ")}`
              : "",
      },
    },
  };
}

/** Returns the time of a step: devices do its work later than the host begins it. */
export function windowOf(result: StepsResult, step: Step): Range {
  let [start_ns, end_ns] = [step.start_ns, step.start_ns + step.duration_ns];
  for (const of of result.device_steps) {
    if (of.pid !== step.pid || of.host !== step.host || of.number !== step.number) continue;
    start_ns = Math.min(start_ns, of.start_ns);
    end_ns = Math.max(end_ns, of.start_ns + of.duration_ns);
  }
  return { start_ns, end_ns };
}

function SeriesPart({ result, series }: { result: StepsResult; series: StepSeries }) {
  const steps = useMemo(
    () => result.steps.filter((step) => step.pid === series.pid && step.host === series.host),
    [result, series],
  );
  const columns = useMemo(
    () => columnsOf("steps", "steps", "", steps, ownOf(steps, series)),
    [steps, series],
  );
  const [picked, setPicked] = useState<Step | null>(null);
  const isLeading = series === result.series[0];
  const occurring = Object.entries(STEP_CATEGORIES)
    .filter(([name]) => series.categories.some((each) => each.name === name && each.total_ns > 0))
    .map(([, word]) => word);
  return (
    <>
      <div class="head">
        <h2>
          Steps
          <small>
            {plural(series.count, "step", "steps")} of {series.name}
            {series.warmup_count > 0 && ` and ${count(series.warmup_count)} of warm-up`}, found by{" "}
            <code>{series.marker}</code>; confidence {series.confidence?.level ?? "none"}
          </small>
        </h2>
        <Legend parts={occurring} />
      </div>
      <div class="columns">
        <div>
          <StepChart steps={steps} series={series} height={248} />
        </div>
        <StepCategoryTable series={series} />
      </div>
      <section class="section">
        <Table
          rows={steps}
          columns={columns}
          noun={nounOf("steps", "steps")}
          sort="duration_ns"
          height="max(240px, calc(100vh - var(--tabs, 0px) - 500px))"
          picked={picked}
          onPick={setPicked}
          extra={
            picked !== null && (
              <>
                <a href={timelineHash(picked.start_ns, picked.start_ns + picked.duration_ns)}>
                  Show step {picked.number} in the timeline
                </a>
                <button
                  type="button"
                  class="button"
                  onClick={() =>
                    narrowTo({
                      range: windowOf(result, picked),
                      step: picked.number,
                      pid: isLeading ? null : picked.pid,
                    })
                  }
                >
                  Narrow all pages to it
                </button>
              </>
            )
          }
        />
      </section>
    </>
  );
}

export function Steps() {
  const loaded = useResult("steps");
  if (loaded.state === "loading") return <Loading what="steps" />;
  const result = loaded.state === "ready" ? loaded.value : null;
  const isEmpty =
    result === null || (result.series.length === 0 && result.device_series.length === 0);
  if (isEmpty) {
    return (
      <NotRecorded
        title="No steps were found"
        why={
          loaded.state === "absent"
            ? loaded.reason
            : loaded.value.advice ||
              "No optimizer, loader or range repeats in this recording. A range of NVTX around each step shows them to every pass."
        }
        option=""
        would="Each step by category, the typical and the worst step, and what the GPU did in them."
      />
    );
  }
  return (
    <div class="page">
      {result.series.map((series) => (
        <SeriesPart key={`${series.host} ${series.pid}`} result={result} series={series} />
      ))}
      {shownSeries(result.device_series).map((series) => (
        <DeviceTime
          key={`${series.host} ${series.pid} ${series.device} ${series.window}`}
          series={series}
        />
      ))}
      {result.iteration_series.length > 0 && (
        <section class="section">
          <h2>
            Iterations of a serving engine<small>by phase</small>
          </h2>
          <Table
            rows={result.iteration_series}
            columns={columnsOf("steps", "iteration_series", "", result.iteration_series)}
            noun={nounOf("steps", "iteration_series")}
            sort="total_ns"
            isSide
          />
        </section>
      )}
      {result.series.length > 0 && (
        <p class="quiet small" style={{ marginTop: "8px" }}>
          {result.series
            .map(
              (series) =>
                `${series.name}: steps cover ${percent(series.coverage_ratio)} of the captured ${duration(
                  series.captured_ns,
                )}, a ratio of p90 to median of ${fixed(series.p90_ns / Math.max(1, series.median_ns), 2)}.`,
            )
            .join(" ")}
        </p>
      )}
    </div>
  );
}
