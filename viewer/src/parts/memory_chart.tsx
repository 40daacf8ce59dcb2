// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Live memory over time as a stepped area, with its peak marked.

import { useMemo, useState } from "preact/hooks";
import uPlot from "uplot";
import { timelineHash } from "../app/state";
import { bytes, position } from "../base/format";
import { hideCard, showCard } from "./card";
import { axis, color, Plot, writeLabel } from "./plot";
import { unitOnTop } from "./step_chart";

export interface MemoryChartProps {
  readonly name: string;
  /** Sorted by time; each value holds until the next. */
  readonly points: readonly { readonly time_ns: number; readonly live_bytes: number }[];
  /** From the exact figures: points may miss it. */
  readonly peak: { readonly time_ns: number; readonly bytes: number };
  readonly start_ns?: number;
  readonly end_ns: number;
  /** The most that the allocator held, used or not. */
  readonly reserved_bytes?: number | null;
}

/** Draws what the allocator held at most, or what the device has, as a dashed line above what was used. */
export function levelLine(level: number, unit: number, words: string): uPlot.Plugin {
  const draw = (plot: uPlot) => {
    const { ctx, bbox } = plot;
    const y = plot.valToPos(level / unit, "y", true);
    ctx.save();
    ctx.strokeStyle = color("text3");
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.restore();
    const left = bbox.left + 4 * devicePixelRatio;
    const above = y - 9 * devicePixelRatio;
    writeLabel(plot, words, left, above, "left", "text2");
  };
  return { hooks: { draw } };
}

/** Marks the highest value. */
export function peakMark(
  peak: MemoryChartProps["peak"],
  unit: number,
  timeUnit: number,
): uPlot.Plugin {
  const draw = (plot: uPlot) => {
    const { ctx, bbox } = plot;
    const x = plot.valToPos(peak.time_ns / timeUnit, "x", true);
    const y = plot.valToPos(peak.bytes / unit, "y", true);
    ctx.save();
    ctx.strokeStyle = color("text");
    ctx.lineWidth = devicePixelRatio;
    // The line before it may be a dashed one.
    ctx.setLineDash([]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top + bbox.height);
    ctx.lineTo(x, y);
    ctx.stroke();
    ctx.restore();
    const isLeft = x < bbox.left + bbox.width / 2;
    const shift = (isLeft ? 6 : -6) * devicePixelRatio;
    writeLabel(plot, `peak ${bytes(peak.bytes)}`, x + shift, y, isLeft ? "left" : "right");
  };
  return { hooks: { draw } };
}

export function MemoryChart(props: MemoryChartProps) {
  const { points, peak, start_ns = 0, end_ns, name } = props;
  const reserved = props.reserved_bytes ?? 0;
  const isShort = end_ns < 1e9;
  const timeUnit = isShort ? 1e6 : 1e9;
  const [unitName, unit] =
    peak.bytes >= 2 ** 30 ? (["GiB", 2 ** 30] as const) : (["MiB", 2 ** 20] as const);
  const data = useMemo(() => {
    const times = points.map((point) => point.time_ns / timeUnit);
    const live = points.map((point) => point.live_bytes / unit);
    const last = live[live.length - 1];
    if (last !== undefined && (times[times.length - 1] ?? 0) < end_ns / timeUnit) {
      times.push(end_ns / timeUnit);
      live.push(last);
    }
    return [times, live] as uPlot.AlignedData;
  }, [points, timeUnit, unit, end_ns]);
  const options = useMemo(() => {
    const stepped = uPlot.paths.stepped?.({ align: 1 });
    return {
      scales: {
        x: { time: false, range: [start_ns / timeUnit, end_ns / timeUnit] },
        y: {
          range: (_plot: uPlot, _least: number, most: number) => [
            0,
            Math.max(most, peak.bytes / unit, reserved / unit) * 1.1,
          ],
        },
      },
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      padding: [12, 24, 0, 0],
      axes: [
        axis({
          grid: { show: false },
          size: 22,
          values: (_plot, values) => unitOnTop(values, isShort ? "ms" : "s"),
        }),
        axis({ size: 60, values: (_plot, values) => unitOnTop(values, unitName) }),
      ],
      series: [
        {},
        {
          fill: () => color("bar"),
          stroke: () => color("text3"),
          width: 1,
          points: { show: false },
          ...(stepped && { paths: stepped }),
        },
      ],
      plugins: [
        ...(reserved > 0
          ? [levelLine(reserved, unit, `reserved, at most ${bytes(reserved)}`)]
          : []),
        peakMark(peak, unit, timeUnit),
      ],
    } as Omit<uPlot.Options, "width" | "height">;
  }, [data, peak.bytes, peak.time_ns, start_ns, reserved]);
  const [spoken, setSpoken] = useState("");
  const onCursor = (index: number | null, x: number, y: number) => {
    const point = index === null ? undefined : points[index];
    if (point === undefined) {
      hideCard();
      return;
    }
    setSpoken(`${bytes(point.live_bytes)} at ${position(point.time_ns, end_ns)}`);
    showCard({
      x,
      y,
      title: name,
      pairs: [
        ["live", bytes(point.live_bytes)],
        ["at", position(point.time_ns, end_ns)],
      ],
      click: "Click: show the moment in the timeline",
    });
  };
  return (
    <>
      <Plot
        data={data}
        options={options}
        height={200}
        label={`${name} over time; peak ${bytes(peak.bytes)} at ${position(peak.time_ns, end_ns)}`}
        onCursor={onCursor}
        onPick={(index) => {
          const time = points[index]?.time_ns ?? 0;
          location.hash = timelineHash(Math.max(0, time - end_ns / 200), time + end_ns / 200);
        }}
      />
      <span class="visually-hidden" aria-live="polite">
        {spoken}
      </span>
    </>
  );
}
