// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Changes between two runs. The side and the sign say the direction; blue and orange only repeat it.

import { fixed, percent, signed } from "../base/format";
import type { Column } from "./columns";

function lookOf(change: number): string {
  return change > 0 ? "d_input" : "d_forward";
}

/** Returns columns of changes of time: the number with its sign, and a bar from the middle. */
export function changeColumns<Row>(
  rows: readonly Row[],
  value: (row: Row) => number,
): Column<Row>[] {
  const greatest = Math.max(1, ...rows.map((row) => Math.abs(value(row))));
  return [
    {
      id: "change",
      header: "change, µs",
      isNumber: true,
      value: (row) => value(row) / 1e3,
      cell: (row) => signed(value(row) / 1e3, (size) => fixed(size, 1)),
    },
    {
      id: "bar",
      header: "less · more",
      isBar: true,
      width: "18%",
      tip: "Bars to the left: less time than before; to the right: more",
      value: (row) => Math.abs(value(row)),
      cell: (row) => {
        const change = value(row);
        const width = (Math.abs(change) / greatest) * 50;
        return (
          <div class="change">
            {change !== 0 && (
              <u
                style={{
                  background: `var(--${lookOf(change)})`,
                  width: `${width}%`,
                  left: `${change > 0 ? 50 : 50 - width}%`,
                }}
              />
            )}
          </div>
        );
      },
    },
  ];
}

export interface ChangeScaleProps {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** Changes within so much of 0 count as none. */
  readonly neutral: number;
}

/** Returns round places on a scale: at most six, with 0. */
export function scaleTicks(least: number, most: number): number[] {
  const rough = (most - least) / 5;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * unit).find((each) => each >= rough) ?? rough;
  const ticks: number[] = [];
  for (let place = Math.ceil(least / step); place * step <= most + step * 1e-9; place++) {
    ticks.push(place * step);
  }
  return ticks;
}

/** Draws a change with its interval beside the band that counts as no change. */
export function ChangeScale({ value, low, high, neutral }: ChangeScaleProps) {
  const margin = Math.max(neutral, (Math.max(high, 0) - Math.min(low, 0)) * 0.08);
  const least = Math.min(low, value, -neutral) - margin;
  const most = Math.max(high, value, neutral) + margin;
  const place = (ratio: number) => `${(((ratio - least) / (most - least)) * 100).toFixed(2)}%`;
  const wide = (from: number, to: number) =>
    `${(((to - from) / (most - least)) * 100).toFixed(2)}%`;
  const look = `var(--${Math.abs(value) <= neutral ? "d_other" : lookOf(value)})`;
  const words = `${signed(value, percent)}, between ${signed(low, percent)} and ${signed(high, percent)}`;
  return (
    <div class="scale" role="img" aria-label={`Change of the step: ${words}`}>
      <i
        class="hatch"
        style={{ left: place(-neutral), width: wide(-neutral, neutral) }}
        title={`No change: less than ${percent(neutral)}`}
      />
      <i class="zero" style={{ left: place(0) }} />
      <i
        class="interval"
        style={{ left: place(low), width: wide(low, high), background: look }}
        title={words}
      />
      <i class="dot" style={{ left: place(value), background: look }} title={words} />
      {scaleTicks(least, most).map((tick) => (
        <span key={tick} style={{ left: place(tick) }} aria-hidden="true">
          {Math.abs(tick) < 1e-9
            ? "0"
            : signed(tick * 100, (size) => `${+size.toPrecision(3)}\u202f%`)}
        </span>
      ))}
    </div>
  );
}
