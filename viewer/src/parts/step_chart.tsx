// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Time of each step, stacked by category, with median, p90, the typical and the worst step.

import { useMemo, useState } from "preact/hooks";
import uPlot from "uplot";
import { timelineHash } from "../app/state";
import { count, duration, percent, position } from "../base/format";
import { hueOf, STEP_CATEGORIES, wordOf } from "../base/vocabulary";
import type { Step, StepSeries } from "../data/results";
import { Swatch } from "./bars";
import { hideCard, showCard } from "./card";
import { axis, color, Plot, stripes, writeLabel } from "./plot";
import { foldSteps, labelledPlaces, STACK, stackedMs, timeOf } from "./step_bars";

const MOST_BARS = 600;

/** Marks median and p90 across the chart, and the typical and the worst step above their bars. */
function marks(drawn: readonly Step[], series: StepSeries): uPlot.Plugin {
  const typical = drawn.reduce((best, step) =>
    Math.abs(step.duration_ns - series.median_ns) < Math.abs(best.duration_ns - series.median_ns)
      ? step
      : best,
  );
  const settled = drawn.filter((step) => !step.warmup);
  const worst = (settled.length > 0 ? settled : drawn).reduce((best, step) =>
    step.duration_ns > best.duration_ns ? step : best,
  );
  const draw = (plot: uPlot) => {
    const { ctx, bbox } = plot;
    const line = (ns: number, words: string, dashes: number[], below: string) => {
      const y = plot.valToPos(ns / 1e6, "y", true);
      ctx.save();
      ctx.strokeStyle = color("text");
      ctx.lineWidth = devicePixelRatio;
      ctx.setLineDash(dashes.map((each) => each * devicePixelRatio));
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
      ctx.restore();
      const x = bbox.left + bbox.width + 6 * devicePixelRatio;
      writeLabel(plot, `${words} ${duration(ns)}`, x, y, "left");
      if (below !== "") writeLabel(plot, below, x, y + 15 * devicePixelRatio, "left", "text3");
    };
    const apart =
      plot.valToPos(series.median_ns / 1e6, "y") - plot.valToPos(series.p90_ns / 1e6, "y");
    line(series.median_ns, "median", [], `typical: step ${typical.number}`);
    if (apart > 14) line(series.p90_ns, "p90", [2, 3], "");
    const place = (step: Step) => plot.valToPos(drawn.indexOf(step), "x", true);
    const top = plot.valToPos(worst.duration_ns / 1e6, "y", true);
    const x = place(worst);
    const isLeft = x - bbox.left < bbox.width / 2;
    const half = Math.min(20 * devicePixelRatio, (bbox.width / drawn.length) * 0.41);
    const shift = (half + 4 * devicePixelRatio) * (isLeft ? 1 : -1);
    writeLabel(
      plot,
      `worst: step ${worst.number}, ${duration(worst.duration_ns)}`,
      x + shift,
      top + 6 * devicePixelRatio,
      isLeft ? "left" : "right",
    );
    const size = 4 * devicePixelRatio;
    const mark = plot.valToPos(typical.duration_ns / 1e6, "y", true) - size;
    ctx.fillStyle = color("text");
    ctx.beginPath();
    ctx.moveTo(place(typical), mark);
    ctx.lineTo(place(typical) - size, mark - 1.5 * size);
    ctx.lineTo(place(typical) + size, mark - 1.5 * size);
    ctx.fill();
  };
  return { hooks: { draw } };
}

/** The highest time of the scale. Warm-up steps do not set it: their bars are cut off at the top. */
function scaleTop(drawn: readonly Step[], series: StepSeries): number {
  let most = series.p90_ns;
  for (const step of drawn) if (!step.warmup) most = Math.max(most, step.duration_ns);
  return Math.max(1, most) * 1.08;
}

function makeOptions(
  drawn: readonly Step[],
  series: StepSeries,
): Omit<uPlot.Options, "width" | "height"> {
  const bars = uPlot.paths.bars?.({ size: [0.82, 40], align: 0 });
  const fills = [...STACK].reverse().map((category) => {
    const look = wordOf(STEP_CATEGORIES, category).look;
    return {
      fill: (plot: uPlot) =>
        look === "late" || look === "wait"
          ? stripes(plot.ctx, color(hueOf(look)))
          : color(hueOf(look)),
      width: 0,
      points: { show: false },
      ...(bars && { paths: bars }),
    };
  });
  return {
    scales: {
      x: { time: false, range: [-0.6, drawn.length - 0.4] },
      y: { range: () => [0, scaleTop(drawn, series) / 1e6] },
    },
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    padding: [8, 112, 0, 0],
    axes: [
      axis({
        grid: { show: false },
        size: 22,
        splits: () => labelledPlaces(drawn.map((step) => step.number)),
        values: (_plot, places) => places.map((place) => String(drawn[place]?.number ?? "")),
      }),
      axis({ size: 52, values: (_plot, values) => unitOnTop(values, "ms") }),
    ],
    series: [{}, ...fills],
    plugins: [marks(drawn, series)],
  };
}

/** Writes the values of an axis; its highest value carries the unit. */
export function unitOnTop(values: readonly number[], unit: string): string[] {
  return values.map((value, index) => {
    const text = value.toLocaleString("en-US");
    return index === values.length - 1 ? `${text} ${unit}` : text;
  });
}

export function StepChart(props: { steps: readonly Step[]; series: StepSeries; height: number }) {
  const { steps, series } = props;
  const { drawn, group } = useMemo(() => foldSteps(steps, MOST_BARS), [steps]);
  const data = useMemo(
    () => [drawn.map((_, index) => index), ...stackedMs(drawn)] as uPlot.AlignedData,
    [drawn],
  );
  const options = useMemo(() => makeOptions(drawn, series), [drawn, series]);
  const [spoken, setSpoken] = useState("");
  if (drawn.length === 0) return null;
  const traceNs = drawn[drawn.length - 1]?.start_ns ?? 0;
  const onCursor = (index: number | null, x: number, y: number) => {
    const step = index === null ? undefined : drawn[index];
    if (step === undefined) {
      hideCard();
      return;
    }
    setSpoken(`Step ${step.number}, ${duration(step.duration_ns)}`);
    const times = [...STACK].reverse().filter((category) => timeOf(step, category) > 0);
    showCard({
      x,
      y,
      title: `Step ${step.number} · ${duration(step.duration_ns)}`,
      pairs: [
        ...times.map((category) => {
          const word = wordOf(STEP_CATEGORIES, category);
          const time = timeOf(step, category);
          return [
            <>
              <Swatch look={word.look} />
              {word.name}
            </>,
            `${duration(time)} · ${percent(time / step.duration_ns)}`,
          ] as const;
        }),
        ["starts at", position(step.start_ns, traceNs)],
        ["operations", count(step.op_count)],
      ],
      click: "Click: show in the timeline",
    });
  };
  const cut = drawn.filter((step) => step.duration_ns > scaleTop(drawn, series));
  return (
    <>
      <Plot
        data={data}
        options={options}
        height={props.height}
        label={`Time of each of ${steps.length} steps, stacked by category. Median ${duration(
          series.median_ns,
        )}, 90th percentile ${duration(series.p90_ns)}, worst ${duration(
          series.max_ns,
        )}. Arrow keys move, Enter shows the step in the timeline.`}
        onCursor={onCursor}
        onPick={(index) => {
          const step = drawn[index];
          if (step !== undefined)
            location.hash = timelineHash(step.start_ns, step.start_ns + step.duration_ns);
        }}
      />
      <span class="visually-hidden" aria-live="polite">
        {spoken}
      </span>
      {cut.length > 0 && (
        <p class="quiet small">
          Warm-up steps are cut off at the top:{" "}
          {cut
            .slice(0, 4)
            .map((step) => `step ${step.number}, ${duration(step.duration_ns)}`)
            .join("; ")}
          .
        </p>
      )}
      {group > 1 && <p class="quiet small">Each bar is the longest of {group} steps in a row.</p>}
    </>
  );
}
