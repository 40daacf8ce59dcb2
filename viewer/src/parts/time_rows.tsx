// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rows of one step on one axis: what the host did, what each device did. Every row sums to the step.

import { duration, percent } from "../base/format";
import { hueOf, strengthOf } from "../base/vocabulary";
import { fillOf, type Part } from "./bars";
import { unitOfTimes } from "./columns";
import { useWidth } from "./use_width";

export interface TimeRow {
  readonly name: string;
  readonly below: string;
  readonly parts: readonly Part[];
}

/** Widths in pixels: of a letter, of a label's padding, and what a tick keeps. */
const LETTER = 6.2;
const PADDING = 12;
const TICK = 52;
/** A label of fewer letters says nothing. */
const LEAST_LETTERS = 5;

/** Returns round places on an axis, at most one for so many pixels. */
export function ticksOf(whole: number, width: number): number[] {
  const most = Math.max(1, Math.floor(width / TICK));
  const rough = whole / most;
  if (!(rough > 0)) return [];
  const ten = 10 ** Math.floor(Math.log10(rough));
  const round = ([1, 2, 5, 10].find((each) => each * ten >= rough) ?? 10) * ten;
  const ticks: number[] = [];
  // The end has a label of its own.
  const last = whole * (1 - TICK / width) - round / 2;
  for (let at = 0; at === 0 || at <= last; at += round) ticks.push(at);
  return ticks;
}

/** Returns the label that fits a part: with its time, without it, or none. */
function labelOf(name: string, value: number, room: number): string {
  const letters = (room - PADDING) / LETTER;
  const long = `${name}, ${duration(value)}`;
  if (long.length <= letters) return long;
  if (name.length <= letters) return name;
  return letters >= LEAST_LETTERS + 1 ? `${name.slice(0, Math.floor(letters) - 1)}…` : "";
}

/** Returns the colour of a label: that of the hue it stands on. */
function inkOf(look: Part["look"]): string {
  const hue = hueOf(look);
  const isStrong = hue.startsWith("d_") && strengthOf(look) > 70;
  return isStrong ? `var(--on_${hue.slice(2)})` : "var(--text)";
}

function Row(props: { row: TimeRow; whole: number; width: number }) {
  const { row, whole, width } = props;
  const sum = row.parts.reduce((total, part) => total + part.value, 0);
  const scale = Math.max(whole, sum);
  let begin = 0;
  const words = row.parts.map((part) => `${part.name} ${duration(part.value)}`).join(", ");
  return (
    <div class="time-row">
      <span>
        <b>{row.name}</b>
        {row.below}
      </span>
      <div class="time-track" role="img" aria-label={`${row.name}: ${words}`}>
        {row.parts.map((part) => {
          const from = begin;
          begin += part.value;
          const room = (part.value / scale) * width;
          const label = labelOf(part.name, part.value, room);
          const fill = fillOf(part.look);
          const isStriped = fill.class !== undefined;
          return (
            <i
              key={part.name}
              class={fill.class}
              title={`${part.name}: ${duration(part.value)}, ${percent(part.value / scale)}`}
              style={{
                ...fill.style,
                left: `${(from / scale) * 100}%`,
                width: `${(part.value / scale) * 100}%`,
                color: isStriped ? undefined : inkOf(part.look),
              }}
            >
              {label !== "" && <span class={isStriped ? "plate" : undefined}>{label}</span>}
            </i>
          );
        })}
      </div>
    </div>
  );
}

/** Shows the rows above their axis. `whole`: the step's nanoseconds. */
export function TimeRows({ rows, whole }: { rows: readonly TimeRow[]; whole: number }) {
  const [place, width] = useWidth<HTMLDivElement>();
  const unit = unitOfTimes(whole);
  const ticks = ticksOf(whole / unit.ns, width);
  const end = whole / unit.ns;
  return (
    <div class="time-rows">
      {rows.map((row) => (
        <Row key={row.name} row={row} whole={whole} width={width} />
      ))}
      <div class="time-row">
        <span />
        <div class="time-axis" ref={place} aria-hidden="true">
          {ticks.map((at) => (
            <i key={at} style={{ left: `${(at / end) * 100}%` }}>
              {Number(at.toPrecision(6))}
              {at === 0 && ` ${unit.name}`}
            </i>
          ))}
          {width > 2 * TICK && <i class="end">{duration(whole)}</i>}
        </div>
      </div>
    </div>
  );
}
