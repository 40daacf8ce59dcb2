// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Where the time of a step went: host and device on one axis, and a table that sums to the step.

import { deviceWord } from "../app/state";
import { duration, percent, plural } from "../base/format";
import { DEVICE_CATEGORIES, STEP_CATEGORIES, wordOf } from "../base/vocabulary";
import type { DeviceSeries, StepSeries } from "../data/results";
import { Legend, type Part } from "../parts/bars";
import { DeviceCategoryTable } from "../parts/category_table";
import { type TimeRow, TimeRows } from "../parts/time_rows";

const WINDOWS: Readonly<Record<string, string>> = {
  mark: "from mark to mark on the host",
  device: "from first to last work of each step on the device",
  all: "the whole time of the device",
  period: "from mark to mark",
  none: "",
};

/** Returns the parts of a device's mean step, in the order of stacking. Waits come first. */
export function deviceParts(series: DeviceSeries): Part[] {
  const order = Object.keys(DEVICE_CATEGORIES);
  const isWork = (category: string) => wordOf(DEVICE_CATEGORIES, category).look.startsWith("d_");
  const place = (category: string) => order.indexOf(category) + (isWork(category) ? 100 : 0);
  const steps = Math.max(1, series.count);
  return [...series.categories]
    .filter((row) => row.total_ns > 0)
    .sort((a, b) => place(a.category) - place(b.category))
    .map((row) => ({ ...wordOf(DEVICE_CATEGORIES, row.category), value: row.total_ns / steps }));
}

/** Returns the parts of the mean step of a thread. */
export function hostParts(series: StepSeries): Part[] {
  return Object.keys(STEP_CATEGORIES).flatMap((name) => {
    const value = series.categories.find((each) => each.name === name)?.mean_ns ?? 0;
    return value > 0 ? [{ ...wordOf(STEP_CATEGORIES, name), value }] : [];
  });
}

/** Returns the series of devices that pages show: of the program's period, if there are such. */
export function shownSeries(all: readonly DeviceSeries[]): readonly DeviceSeries[] {
  const periods = all.filter((series) => series.window === "period");
  return periods.length > 0 ? periods : all;
}

/** Returns the step that a device's series is of: its mean, or all of its time. */
function wholeOf(series: DeviceSeries): number {
  return series.total_ns / Math.max(1, series.count);
}

/** A host whose step differs by more from the device's does not stand on its axis. */
const MOST_APART = 0.03;

/** Returns whether the mean step of the host is the one that the axis shows. */
function isOnAxis(host: StepSeries | null, whole: number): boolean {
  return host !== null && Math.abs(host.mean_ns - whole) <= whole * MOST_APART;
}

export function DeviceTime(props: {
  series: DeviceSeries;
  /** The steps of the thread that leads: a row of its own on the same axis. */
  host?: StepSeries | null;
}) {
  const { series } = props;
  const whole = wholeOf(series);
  const host = isOnAxis(props.host ?? null, whole) ? (props.host ?? null) : null;
  const isOfSteps = series.count > 0;
  const device = `${deviceWord.value} ${series.device}`;
  const parts = deviceParts(series);
  const rows: TimeRow[] = [{ name: device, below: `busy ${percent(series.busy_ratio)}`, parts }];
  if (host !== null) rows.unshift({ name: "Host", below: host.name, parts: hostParts(host) });
  const steps = isOfSteps ? `, mean of ${plural(series.count, "step", "steps")}` : "";
  return (
    <section class="section">
      <h2>
        {isOfSteps ? "Where the step went" : `Where the time of ${device} went`}
        <small>
          {duration(whole)}
          {steps}, {WINDOWS[series.window] ?? series.window}
          {host === null ? isOfSteps && `; ${device}` : ", host and device on one axis"}
        </small>
      </h2>
      <TimeRows rows={rows} whole={whole} />
      {host !== null && <Legend parts={hostParts(host)} />}
      <DeviceCategoryTable
        rows={series.categories}
        base={`of ${duration(whole)}`}
        {...(isOfSteps && { steps: series.count })}
      />
    </section>
  );
}
