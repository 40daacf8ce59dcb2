// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Steps as columns, stacked by what they are made of: one column a rank, or one a step.

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { duration, percent } from "../base/format";
import { hueOf, strengthOf } from "../base/vocabulary";
import { Swatch } from "./bars";
import { hideCard, showCard } from "./card";
import "./pictures.css";
import { POD_STACK, POD_WORDS, type PodTimes, podTime } from "./rank_columns";
import { useWidth } from "./use_width";

const LEFT = 46;
const RIGHT = 8;
const TOP = 26;
const BOTTOM = 20;

export interface StackColumn {
  readonly x: number;
  readonly width: number;
  readonly times: PodTimes;
  readonly title: string;
  readonly pairs?: readonly (readonly [ComponentChildren, string])[];
}

export interface ColumnMark {
  /** The column's place in the list. */
  readonly at: number;
  readonly text: string;
  /** A line through the chart, where something begins. */
  readonly isLine?: true;
}

/** Returns values of an axis from 0 on: round, at most five. */
export function axisValues(most: number): number[] {
  if (!(most > 0)) return [0];
  const rough = most / 4;
  const ten = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * ten).find((each) => each >= rough) ?? ten * 10;
  const values: number[] = [];
  for (let value = 0; value <= most * 1.0001; value += step) values.push(value);
  return values;
}

/** Says what a column is, for people who do not see it. */
function wordsOf({ title, times }: StackColumn): string {
  const parts = POD_STACK.filter((name) => podTime(times, name) > 0).map(
    (name) => `${POD_WORDS[name].name} ${duration(podTime(times, name))}`,
  );
  return `${title}: ${duration(times.step_ns)}; ${parts.join(", ")}`;
}

function card(column: StackColumn, x: number, y: number, click: string): void {
  const { times } = column;
  showCard({
    x,
    y,
    title: `${column.title} · ${duration(times.step_ns)}`,
    pairs: [
      ...[...POD_STACK]
        .reverse()
        .filter((name) => podTime(times, name) > 0)
        .map((name) => {
          const word = POD_WORDS[name];
          const ns = podTime(times, name);
          return [
            <>
              <Swatch look={word.look} />
              {word.name}
            </>,
            `${duration(ns)} · ${percent(ns / times.step_ns)}`,
          ] as const;
        }),
      ...(column.pairs ?? []),
    ],
    click,
  });
}

/** Returns the outlines of one part of all columns, as one path. */
function pathOf(columns: readonly StackColumn[], level: number, y: (ns: number) => number): string {
  let path = "";
  for (const { x, width, times } of columns) {
    let below = 0;
    for (let i = 0; i < level; ++i) below += podTime(times, POD_STACK[i] ?? "other");
    const own = podTime(times, POD_STACK[level] ?? "other");
    if (own <= 0) continue;
    const [from, to] = [y(below), y(below + own)];
    path += `M${(LEFT + x).toFixed(2)} ${from.toFixed(2)}h${width.toFixed(2)}V${to.toFixed(2)}h${(-width).toFixed(2)}z`;
  }
  return path;
}

/**
 * Draws columns. `place`: returns them for so many pixels. `ticks`: places of columns with a label
 * below them.
 */
export function StackChart(props: {
  id: string;
  height: number;
  place: (width: number) => StackColumn[];
  ticks: (columns: readonly StackColumn[]) => readonly (readonly [number, string])[];
  mark?: (columns: readonly StackColumn[]) => ColumnMark | null;
  label: string;
  click: string;
  onPick: (place: number) => void;
}) {
  const [host, width] = useWidth<HTMLDivElement>();
  const [now, setNow] = useState<number | null>(null);
  const room = Math.max(1, width - LEFT - RIGHT);
  const columns = useMemo(() => props.place(room), [props.place, room]);
  if (columns.length === 0) return null;
  let most = 0;
  for (const { times } of columns) most = Math.max(most, times.step_ns);
  const base = props.height - BOTTOM;
  const y = (ns: number) => base - (ns / (most * 1.04)) * (base - TOP);
  const mark = props.mark?.(columns) ?? null;
  const marked = mark === null ? undefined : columns[mark.at];
  const tell = (place: number | null, clientX: number, clientY: number) => {
    setNow(place);
    const column = place === null ? undefined : columns[place];
    if (column === undefined) hideCard();
    else card(column, clientX, clientY, props.click);
  };
  const placeAt = (event: PointerEvent) => {
    const box = host.current?.getBoundingClientRect();
    if (box === undefined) return null;
    const x = event.clientX - box.left - LEFT;
    let best: number | null = null;
    let nearest = 24;
    columns.forEach((column, place) => {
      const away = Math.max(column.x - x, x - column.x - column.width, 0);
      if (away < nearest) {
        nearest = away;
        best = place;
      }
    });
    return best;
  };
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (event.key === "Enter" && now !== null) props.onPick(now);
    if (step === 0) return;
    event.preventDefault();
    const next = Math.min(columns.length - 1, Math.max(0, (now ?? (step > 0 ? -1 : 1)) + step));
    const box = host.current?.getBoundingClientRect();
    tell(next, (box?.left ?? 0) + LEFT + (columns[next]?.x ?? 0), (box?.top ?? 0) + 40);
  };
  const current = now === null ? undefined : columns[now];
  const markX = marked === undefined ? 0 : LEFT + marked.x + (mark?.isLine ? -1 : marked.width / 2);
  const isRight = markX > LEFT + room * 0.6;
  return (
    <div
      class="stack-chart"
      ref={host}
      role="application"
      aria-label={props.label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the chart takes arrow keys.
      tabIndex={0}
      onPointerMove={(event) => tell(placeAt(event), event.clientX, event.clientY)}
      onPointerLeave={() => tell(null, 0, 0)}
      onBlur={() => tell(null, 0, 0)}
      onKeyDown={onKey}
      onClick={() => {
        if (now !== null) props.onPick(now);
      }}
    >
      <svg width={width} height={props.height} aria-hidden="true">
        <defs>
          {(["late", "wait", "thin", "hatch"] as const).map((look) => (
            <pattern
              key={look}
              id={`${props.id}-${look}`}
              width="6"
              height="6"
              patternUnits="userSpaceOnUse"
              patternTransform="rotate(45)"
            >
              <rect width="6" height="6" style={{ fill: "var(--bg)" }} />
              <rect
                width="6"
                height="6"
                style={{ fill: `var(--${hueOf(look)})`, fillOpacity: 0.55 }}
              />
              <rect width="3" height="6" style={{ fill: `var(--${hueOf(look)})` }} />
            </pattern>
          ))}
        </defs>
        {axisValues(most / 1e6).map((value, index, all) => (
          <g key={value}>
            <line class="grid" x1={LEFT} x2={LEFT + room} y1={y(value * 1e6)} y2={y(value * 1e6)} />
            <text x={LEFT - 6} y={y(value * 1e6) + 4} text-anchor="end">
              {value.toLocaleString("en-US")}
              {index === all.length - 1 ? " ms" : ""}
            </text>
          </g>
        ))}
        {POD_STACK.map((name, level) => {
          const { look } = POD_WORDS[name];
          const isPattern =
            look === "late" || look === "wait" || look === "thin" || look === "hatch";
          const fill = isPattern ? `url(#${props.id}-${look})` : `var(--${hueOf(look)})`;
          const path = pathOf(columns, level, y);
          return path === "" ? null : (
            <path
              key={name}
              d={path}
              style={{ fill, fillOpacity: isPattern ? 1 : strengthOf(look) / 100 }}
            />
          );
        })}
        {current !== undefined && (
          <rect
            class="now"
            x={LEFT + current.x - 1}
            width={current.width + 2}
            y={y(current.times.step_ns)}
            height={base - y(current.times.step_ns)}
          />
        )}
        {props.ticks(columns).map(([place, text]) => {
          const column = columns[place];
          return column === undefined ? null : (
            <text
              key={place}
              x={LEFT + column.x + column.width / 2}
              y={props.height - 5}
              text-anchor={place === 0 ? "start" : "middle"}
            >
              {text}
            </text>
          );
        })}
        {mark !== null && marked !== undefined && (
          <g>
            <line
              class={mark.isLine ? "from" : "mark"}
              x1={markX}
              x2={markX}
              y1={14}
              y2={mark.isLine ? base : y(marked.times.step_ns) - 2}
            />
            <text
              class="halo name"
              x={markX + (isRight ? -5 : 5)}
              y={13}
              text-anchor={isRight ? "end" : "start"}
            >
              {mark.text}
            </text>
          </g>
        )}
      </svg>
      <span class="visually-hidden" aria-live="polite">
        {current === undefined ? "" : wordsOf(current)}
      </span>
    </div>
  );
}
