// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Live memory over time by who allocated it: stacked, stepped areas, and their legend.

import { useMemo, useState } from "preact/hooks";
import uPlot from "uplot";
import { timelineHash } from "../app/state";
import { bytes, position } from "../base/format";
import { opName } from "../base/names";
import { hueOf, type Look } from "../base/vocabulary";
import type { TensorHistory } from "../data/results";
import { Legend } from "./bars";
import { hideCard, showCard } from "./card";
import { levelLine, peakMark } from "./memory_chart";
import { axis, color, Plot } from "./plot";
import { unitOnTop } from "./step_chart";

/** The colours that mean no wait, in the order of the owners. */
const LOOKS: readonly Look[] = [
  "d_backward",
  "d_forward",
  "d_optim",
  "d_copy",
  "d_reduce",
  "d_comm",
];

export interface Layer {
  readonly name: string;
  readonly look: Look;
  readonly live_bytes: readonly number[];
}

/** Returns the areas from the ground up. Owners that have no colour are part of the others. */
export function layersOf(history: TensorHistory): Layer[] {
  const nobody = history.by === "module" ? "No module" : "No operation";
  const layers: Layer[] = [];
  const others = history.time_ns.map(() => 0);
  let hasOthers = false;
  for (const owner of history.owners) {
    const look = LOOKS[layers.length];
    if (owner.is_others || look === undefined) {
      hasOthers = true;
      owner.live_bytes.forEach((each, i) => {
        others[i] = (others[i] ?? 0) + each;
      });
    } else {
      const name = owner.name === "" ? nobody : opName(owner.name);
      layers.push({ name, look, live_bytes: owner.live_bytes });
    }
  }
  if (hasOthers) layers.push({ name: "Others", look: "d_other", live_bytes: others });
  return layers;
}

/** Returns the upper edges of the areas: each is the sum of the layers up to it. */
export function edgesOf(layers: readonly Layer[], moments: number): number[][] {
  const sums = new Array<number>(moments).fill(0);
  return layers.map((layer) =>
    sums.map((sum, i) => {
      const edge = sum + (layer.live_bytes[i] ?? 0);
      sums[i] = edge;
      return edge;
    }),
  );
}

/** Returns the time that the chart shows: the whole run, unless all changes lie close together. */
export function shownTime(times: readonly number[], end_ns: number): [number, number] {
  const first = times[0] ?? 0;
  const last = times[times.length - 1] ?? end_ns;
  const margin = (last - first) * 0.03;
  if (margin === 0 || (last - first) * 2 > end_ns) return [0, end_ns];
  return [Math.max(0, first - margin), Math.min(end_ns, last + margin)];
}

/** A moment that is drawn from `time_ns` until the next one. */
export interface Drawn {
  readonly time_ns: number;
  /** Its number in the history. */
  readonly at: number;
}

/** Parts of the chart's width: two pixels or so. */
const COLUMNS = 500;

/** Returns the moments to draw. Of those that share a column the greatest fills it: peaks survive. */
export function drawnMoments(history: History, from: number, to: number): Drawn[] {
  const { time_ns: times, live_bytes: live } = history;
  const width = Math.max(1, (to - from) / COLUMNS);
  const columnOf = (time: number) => Math.floor((time - from) / width);
  const drawn: Drawn[] = [];
  for (let first = 0; first < times.length; ) {
    const start = times[first] ?? 0;
    let greatest = first;
    let next = first;
    for (; next < times.length && columnOf(times[next] ?? 0) === columnOf(start); next++)
      if ((live[next] ?? 0) > (live[greatest] ?? 0)) greatest = next;
    drawn.push({ time_ns: start, at: greatest });
    const last = next - 1;
    if (last !== greatest) {
      drawn.push({ time_ns: from + (columnOf(start) + 1) * width, at: last });
    }
    first = next;
  }
  return drawn;
}

/** Live memory at moments. Each value holds until the next. */
export interface History {
  readonly time_ns: readonly number[];
  readonly live_bytes: readonly number[];
}

export interface OwnersChartProps {
  readonly name: string;
  readonly history: History;
  /** What the areas stand for: "operation". */
  readonly by: string;
  /** The areas, from the ground up. */
  readonly layers: readonly Layer[];
  readonly peak: { readonly time_ns: number; readonly bytes: number };
  readonly end_ns: number;
  /** The most that the allocator held. */
  readonly reserved_bytes: number | null;
  /** What it held at each moment of the history, if that is known. */
  readonly reserved?: readonly (number | null)[];
  /** What the device has. */
  readonly capacity_bytes?: number | null;
}

/** A capacity that is higher than this many peaks would leave the areas flat: it is no line. */
const MOST_PEAKS = 1.6;

export function OwnersChart(props: OwnersChartProps) {
  const { history, layers, by, peak, end_ns, name } = props;
  const reserved = props.reserved_bytes ?? 0;
  const held = props.reserved ?? null;
  const highest = Math.max(peak.bytes, reserved);
  const capacity = (props.capacity_bytes ?? 0) <= highest * MOST_PEAKS ? props.capacity_bytes : 0;
  const [from, to] = shownTime(history.time_ns, end_ns);
  const timeUnit = to - from < 1e9 ? 1e6 : 1e9;
  const [unitName, unit] =
    peak.bytes >= 2 ** 30 ? (["GiB", 2 ** 30] as const) : (["MiB", 2 ** 20] as const);
  const drawn = useMemo(() => drawnMoments(history, from, to), [history, from, to]);
  const data = useMemo(() => {
    const times = drawn.map((moment) => moment.time_ns / timeUnit);
    // The highest edge is drawn first: each area covers what is below its edge.
    const edges = edgesOf(layers, history.time_ns.length).map((edge) =>
      drawn.map((moment) => (edge[moment.at] ?? 0) / unit),
    );
    const line = drawn.map(({ at }) => {
      const size = held?.[at] ?? null;
      return size === null ? null : size / unit;
    });
    if ((times[times.length - 1] ?? 0) < to / timeUnit) {
      times.push(to / timeUnit);
      for (const edge of edges) edge.push(edge[edge.length - 1] ?? 0);
      line.push(line[line.length - 1] ?? null);
    }
    const rows = [...edges.reverse(), ...(held === null ? [] : [line])];
    return [times, ...rows] as uPlot.AlignedData;
  }, [history, drawn, layers, held, timeUnit, unit, to]);
  const options = useMemo(() => {
    const stepped = uPlot.paths.stepped?.({ align: 1 });
    const areas = [...layers].reverse().map((layer) => ({
      fill: () => color(hueOf(layer.look)),
      width: 0,
      points: { show: false },
      ...(stepped && { paths: stepped }),
    }));
    return {
      scales: {
        x: { time: false, range: [from / timeUnit, to / timeUnit] },
        y: { range: () => [0, (Math.max(highest, capacity ?? 0) / unit) * 1.1] },
      },
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      padding: [12, 24, 0, 0],
      axes: [
        axis({
          grid: { show: false },
          size: 22,
          values: (_plot, values) => unitOnTop(values, timeUnit === 1e6 ? "ms" : "s"),
        }),
        axis({ size: 60, values: (_plot, values) => unitOnTop(values, unitName) }),
      ],
      series: [
        {},
        ...areas,
        ...(held === null
          ? []
          : [
              {
                stroke: () => color("text3"),
                width: 1,
                dash: [4, 3],
                points: { show: false },
                ...(stepped && { paths: stepped }),
              },
            ]),
      ],
      plugins: [
        ...(reserved > 0 && held === null
          ? [levelLine(reserved, unit, `reserved, at most ${bytes(reserved)}`)]
          : []),
        ...(capacity ? [levelLine(capacity, unit, `the device has ${bytes(capacity)}`)] : []),
        peakMark(peak, unit, timeUnit),
      ],
    } as Omit<uPlot.Options, "width" | "height">;
  }, [layers, held, peak.bytes, peak.time_ns, reserved, capacity, from, to]);
  const [spoken, setSpoken] = useState("");
  const onCursor = (index: number | null, x: number, y: number) => {
    // The last place is the end: the moment before it holds until then.
    const at = index === null ? -1 : (drawn[Math.min(index, drawn.length - 1)]?.at ?? -1);
    const time = history.time_ns[at];
    if (time === undefined) {
      hideCard();
      return;
    }
    const live = history.live_bytes[at];
    const owned = layers
      .filter((layer) => (layer.live_bytes[at] ?? 0) > 0)
      .map((layer) => [layer.name, bytes(layer.live_bytes[at])] as const);
    setSpoken(
      `${bytes(live)} at ${position(time, end_ns)}: ${owned.map((pair) => pair.join(" ")).join(", ")}`,
    );
    showCard({
      x,
      y,
      title: name,
      pairs: [
        ["live", bytes(live)],
        ...owned.slice(0, 7),
        ...(held?.[at] == null ? [] : [["reserved", bytes(held[at])] as const]),
        ["at", position(time, end_ns)],
      ],
      click: "Click: show the moment in the timeline",
    });
  };
  return (
    <>
      <div class="head" style={{ margin: 0 }}>
        <Legend parts={layers} />
        {held !== null && <span class="quiet">dashed: reserved, at most {bytes(reserved)}</span>}
      </div>
      <Plot
        data={data}
        options={options}
        height={200}
        label={`${name} over time by ${by}; peak ${bytes(peak.bytes)} at ${position(peak.time_ns, end_ns)}`}
        onCursor={onCursor}
        onPick={(index) => {
          const moment = drawn[Math.min(index, drawn.length - 1)];
          const time = history.time_ns[moment?.at ?? 0] ?? 0;
          const around = (to - from) / 200;
          location.hash = timelineHash(Math.max(0, time - around), time + around);
        }}
      />
      <span class="visually-hidden" aria-live="polite">
        {spoken}
      </span>
    </>
  );
}
