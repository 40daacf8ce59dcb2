// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The roofline of a device: operations as points on logarithmic axes, below what it can reach.

import { useMemo, useState } from "preact/hooks";
import { duration, percent, perSecond, significant } from "../base/format";
import { opName } from "../base/names";
import { hueOf, type Word } from "../base/vocabulary";
import type { RooflinePeak, RooflineRow } from "../data/results";
import { fillOf } from "./bars";
import { hideCard, showCard } from "./card";
import { plainWord } from "./described";
import "./pictures.css";
import {
  type Box,
  labelled,
  placeLabels,
  powersOf,
  type Roof,
  roofsOf,
  ticksOf,
} from "./roofline_points";
import { useWidth } from "./use_width";

const LEFT = 46;
const RIGHT = 12;
const TOP = 22;
const BOTTOM = 30;
/** The width of a letter, on average. */
const LETTER = 6.2;
/** A pointer so near to a point means it. */
const NEAR = 6;
const LEAST_RADIUS = 3;

/** Writes an intensity: three digits, and more only of large ones. */
export function intensity(value: number | null): string {
  if (value === null) return "—";
  return value > 0 && value < 0.1 ? value.toPrecision(2) : significant(value);
}

/** Returns what is known of an operation, as names and values. */
export function factsOf(row: RooflineRow): [string, string][] {
  const of = (share: number | null, whole: string) =>
    share === null ? "" : `, ${percent(share)} of ${whole}`;
  const facts: [string, string | null][] = [
    ["time", `${duration(row.total_ns)}, ${percent(row.total_ratio)}`],
    ["FLOP a byte", row.flop_per_byte === null ? null : intensity(row.flop_per_byte)],
    [
      "computes",
      row.flop_per_s === null
        ? null
        : perSecond(row.flop_per_s, "FLOP") + of(row.peak_flop_ratio, "peak"),
    ],
    [
      "moves",
      row.gb_per_s === null
        ? null
        : perSecond(row.gb_per_s * 1e9, "B") + of(row.peak_gb_ratio, "peak"),
    ],
    ["bound by", plainWord(row.bound)],
    [
      "of its roof",
      row.roof_ratio === null || row.roof_flop_per_s === null
        ? null
        : `${percent(row.roof_ratio)} of ${perSecond(row.roof_flop_per_s, "FLOP")}`,
    ],
    ["type of numbers", plainWord(row.precision)],
    ["FLOP known by", plainWord(row.flop_evidence)],
    ["bytes known by", plainWord(row.bytes_evidence)],
    ["operation known by", plainWord(row.op_evidence)],
    ["known", row.known_ratio < 0.9995 ? `${percent(row.known_ratio)} of its time` : null],
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== null);
}

/** Writes a power of ten of operations a second, in units of 10^12. */
function teraLabel(power: number): string {
  const value = 10 ** (power - 12);
  return value >= 1 ? value.toLocaleString("en-US") : value.toFixed(Math.min(12, 12 - power));
}

function plainPower(power: number): string {
  return power >= 0 ? (10 ** power).toLocaleString("en-US") : (10 ** power).toFixed(-power);
}

interface Frame {
  readonly width: number;
  readonly height: number;
  readonly xs: readonly [number, number];
  readonly ys: readonly [number, number];
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
}

/** Returns the place of the chart's axes: what is drawn fits between them. */
function frameOf(
  width: number,
  points: readonly RooflineRow[],
  roofs: readonly Roof[],
  memory: number | null,
): Frame {
  const height = width < 560 ? 280 : 340;
  const xs = powersOf(
    [...points.map((row) => row.flop_per_byte ?? 0), ...roofs.map(({ from }) => from ?? 0)],
    0.4,
    0.6,
  );
  const ys = powersOf(
    [
      ...points.map((row) => row.flop_per_s ?? 0),
      ...roofs.map(({ flop_per_s }) => flop_per_s),
      // Without a roof of computing, that of memory ends at the right edge.
      ...(roofs.length === 0 && memory !== null ? [memory * 10 ** xs[1]] : []),
    ],
    0.5,
    0.3,
  );
  const place = (value: number, [from, to]: readonly [number, number]) =>
    (Math.log10(value) - from) / (to - from);
  return {
    width,
    height,
    xs,
    ys,
    x: (value) => LEFT + place(value, xs) * (width - LEFT - RIGHT),
    y: (value) => height - BOTTOM - place(value, ys) * (height - TOP - BOTTOM),
  };
}

function Axes({ frame }: { frame: Frame }) {
  const { width, height, xs, ys, x, y } = frame;
  return (
    <>
      {ticksOf(xs, Math.floor(width / 60)).map((power) => (
        <g key={power}>
          <line
            class="grid"
            x1={x(10 ** power)}
            x2={x(10 ** power)}
            y1={TOP}
            y2={height - BOTTOM}
          />
          <text x={x(10 ** power)} y={height - BOTTOM + 14} text-anchor="middle">
            {plainPower(power)}
          </text>
        </g>
      ))}
      {ticksOf(ys, 7).map((power) => (
        <g key={power}>
          <line class="grid" x1={LEFT} x2={width - RIGHT} y1={y(10 ** power)} y2={y(10 ** power)} />
          <text x={LEFT - 6} y={y(10 ** power) + 4} text-anchor="end">
            {teraLabel(power)}
          </text>
        </g>
      ))}
      <text x={2} y={11}>
        TFLOP/s
      </text>
      <text x={width - RIGHT} y={height - 2} text-anchor="end">
        FLOP a byte
      </text>
    </>
  );
}

interface Label extends Box {
  readonly text: string;
}

/** Returns the labels of the roofs of computing. One that would cover another is left out. */
function roofLabels(frame: Frame, roofs: readonly Roof[]): Label[] {
  const labels: Label[] = [];
  for (const { name, flop_per_s } of roofs) {
    const words = name === "unknown" ? "computing" : name;
    const text = `${words} ${perSecond(flop_per_s, "FLOP")}`;
    const bottom = frame.y(flop_per_s) - 3;
    const right = frame.width - RIGHT - 2;
    const box = { left: right - text.length * LETTER, right, top: bottom - 12, bottom };
    if (labels.every((other) => box.top > other.bottom || box.bottom < other.top)) {
      labels.push({ ...box, text });
    }
  }
  return labels;
}

/** The line of the roof of memory, and the middle of its label. */
interface Slope {
  readonly ends: readonly [number, number, number, number];
  readonly label: { readonly x: number; readonly y: number; readonly angle: number };
}

/** Returns where the roof of memory is drawn: it rises until the highest roof of computing. */
function slopeOf(frame: Frame, roofs: readonly Roof[], memory: number | null): Slope | null {
  if (memory === null) return null;
  const { x, y, xs, ys } = frame;
  const from = Math.max(10 ** xs[0], 10 ** ys[0] / memory);
  const to = Math.min(roofs[0]?.from ?? Number.POSITIVE_INFINITY, 10 ** xs[1]);
  const [x1, y1, x2, y2] = [x(from), y(from * memory), x(to), y(to * memory)];
  const angle = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
  const label = { x: x1 + (x2 - x1) * 0.4, y: y1 + (y2 - y1) * 0.4 - 6, angle };
  return { ends: [x1, y1, x2, y2], label };
}

/** Returns boxes along the label of the roof of memory, which is turned. */
function slopeBoxes(slope: Slope | null): Box[] {
  if (slope === null) return [];
  const { x, y, angle } = slope.label;
  const turn = (angle * Math.PI) / 180;
  return [-48, -32, -16, 0, 16, 32, 48].map((off) => {
    const [left, top] = [x + off * Math.cos(turn) - 10, y + off * Math.sin(turn) - 13];
    return { left, right: left + 20, top, bottom: top + 18 };
  });
}

/** Draws the roofs, and where the highest ones meet. */
function Roofs(props: {
  frame: Frame;
  roofs: readonly Roof[];
  slope: Slope | null;
  memory: number | null;
}) {
  const { frame, roofs, slope, memory } = props;
  const { x, y, xs, width, height } = frame;
  const [first] = roofs;
  const least = 10 ** xs[0];
  return (
    <>
      {roofs.map(({ name, flop_per_s, from }) => (
        <line
          key={name}
          class="roof"
          x1={x(Math.max(least, from ?? 0))}
          x2={width - RIGHT}
          y1={y(flop_per_s)}
          y2={y(flop_per_s)}
        />
      ))}
      {slope !== null && (
        <>
          <line
            class="roof"
            x1={slope.ends[0]}
            y1={slope.ends[1]}
            x2={slope.ends[2]}
            y2={slope.ends[3]}
          />
          <text
            class="halo"
            transform={`translate(${slope.label.x},${slope.label.y}) rotate(${slope.label.angle})`}
            text-anchor="middle"
          >
            memory {perSecond(memory, "B")}
          </text>
        </>
      )}
      {first?.from != null && (
        <>
          <line
            class="ridge"
            x1={x(first.from)}
            x2={x(first.from)}
            y1={y(first.flop_per_s)}
            y2={height - BOTTOM}
          />
          <text class="halo" x={x(first.from) - 4} y={height - BOTTOM - 6} text-anchor="end">
            {width > 560 && "bound by memory ← "}
            {intensity(first.from)}
          </text>
          {width > 560 && x(first.from) < width - 100 && (
            <text class="halo" x={x(first.from) + 4} y={height - BOTTOM - 6}>
              → by computing
            </text>
          )}
        </>
      )}
    </>
  );
}

export interface RooflineChartProps {
  /** Those with the most time first. */
  readonly points: readonly RooflineRow[];
  /** Roofs belong to the device of the points. */
  readonly peaks: readonly RooflinePeak[];
  readonly words: ReadonlyMap<string, Word>;
  readonly picked: RooflineRow | null;
  readonly onPick: (row: RooflineRow) => void;
}

export function RooflineChart(props: RooflineChartProps) {
  const { points, peaks, words, picked, onPick } = props;
  const [place, width] = useWidth<HTMLDivElement>();
  const [at, setAt] = useState<number | null>(null);
  const roofs = useMemo(() => roofsOf(peaks), [peaks]);
  const gb = peaks.find((peak) => peak.peak_gb_per_s !== null)?.peak_gb_per_s ?? null;
  const memory = gb === null ? null : gb * 1e9;
  const drawn = useMemo(() => {
    const frame = frameOf(width, points, roofs, memory);
    const most = Math.max(1, ...points.map((row) => row.total_ns));
    const largest = width < 560 ? 13 : 18;
    const dots = points.map((row) => ({
      row,
      x: frame.x(row.flop_per_byte ?? 1),
      y: frame.y(row.flop_per_s ?? 1),
      radius: Math.max(LEAST_RADIUS, Math.sqrt(row.total_ns / most) * largest),
    }));
    const tops = roofLabels(frame, roofs);
    const slope = slopeOf(frame, roofs, memory);
    const named = labelled(points).map((row) => {
      const name = opName(row.name);
      const cut = name.length > 28 ? `${name.slice(0, 27)}…` : name;
      const text = row.roof_ratio === null ? cut : `${cut} ${percent(row.roof_ratio)}`;
      const dot = dots[points.indexOf(row)];
      return {
        text,
        x: dot?.x ?? 0,
        y: dot?.y ?? 0,
        radius: dot?.radius ?? 0,
        width: text.length * LETTER,
      };
    });
    const chart = {
      left: LEFT,
      right: width - RIGHT,
      top: TOP - 4,
      bottom: frame.height - BOTTOM - 16,
    };
    const boxes = placeLabels(named, chart, [...tops, ...slopeBoxes(slope)]);
    const labels = named.flatMap(({ text }, i): Label[] => {
      const box = boxes[i];
      return box == null ? [] : [{ ...box, text }];
    });
    return { frame, dots, tops, slope, labels };
  }, [points, roofs, memory, width]);
  const { frame, dots, tops, slope, labels } = drawn;

  const show = (index: number | null, x: number, y: number) => {
    setAt(index);
    const row = index === null ? undefined : points[index];
    if (row === undefined) {
      hideCard();
      return;
    }
    showCard({
      x,
      y,
      title: opName(row.name),
      pairs: factsOf(row),
      click: "Click: show its row and its kernels",
    });
  };
  const onMove = (event: PointerEvent) => {
    const box = place.current?.getBoundingClientRect();
    if (box === undefined) return;
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let nearest: number | null = null;
    let least = NEAR;
    // Small points lie upon large ones.
    dots.forEach((dot, index) => {
      const off = Math.hypot(dot.x - x, dot.y - y) - dot.radius;
      if (Math.max(0, off) <= least) {
        least = Math.max(0, off);
        nearest = index;
      }
    });
    show(nearest, event.clientX, event.clientY);
  };
  const pick = () => {
    const row = at === null ? undefined : points[at];
    if (row !== undefined) onPick(row);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step !== undefined && points.length > 0) {
      event.preventDefault();
      const next = at === null ? 0 : Math.max(0, Math.min(points.length - 1, at + step));
      const box = place.current?.getBoundingClientRect();
      const dot = dots[next];
      if (box !== undefined && dot !== undefined) show(next, box.left + dot.x, box.top + dot.y);
    } else if (event.key === "Enter") {
      pick();
    } else if (event.key === "Escape") {
      show(null, 0, 0);
    }
  };
  const now = at === null ? undefined : points[at];
  return (
    <>
      <div
        class="chart roofline"
        role="application"
        aria-label={`Roofline with ${points.length} operations as points, the longest first; arrow keys go through them, and the table below has all figures`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the chart takes arrow keys.
        tabIndex={0}
        ref={place}
        style={{ height: `${frame.height}px` }}
        onPointerMove={onMove}
        onPointerLeave={() => show(null, 0, 0)}
        onBlur={() => show(null, 0, 0)}
        onKeyDown={onKey}
        onClick={pick}
      >
        {width > 0 && (
          <svg width={width} height={frame.height} aria-hidden="true">
            <Axes frame={frame} />
            <Roofs frame={frame} roofs={roofs} slope={slope} memory={memory} />
            {dots.map(({ row, x, y, radius }, index) => (
              <circle
                key={index}
                class={row === picked ? "picked" : index === at ? "now" : undefined}
                cx={x}
                cy={y}
                r={radius}
                style={{
                  fill:
                    fillOf(words.get(row.category)?.look ?? "d_other").style?.background ??
                    `var(--${hueOf("d_other")})`,
                }}
              />
            ))}
            {tops.map((label) => (
              <text
                key={label.text}
                class="halo"
                x={label.right}
                y={label.bottom - 1}
                text-anchor="end"
              >
                {label.text}
              </text>
            ))}
            {labels.map((label, index) => (
              <text key={index} class="halo name" x={label.left} y={label.bottom - 3}>
                {label.text}
              </text>
            ))}
          </svg>
        )}
      </div>
      <span class="visually-hidden" aria-live="polite">
        {now !== undefined &&
          `${opName(now.name)}: ${factsOf(now)
            .map((pair) => pair.join(" "))
            .join("; ")}`}
      </span>
    </>
  );
}
