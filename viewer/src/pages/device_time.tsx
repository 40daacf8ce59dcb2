// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Where the time of a device went, as one bar and a table that sum up to the window.

import { deviceWord } from "../app/state";
import { duration, percent, plural } from "../base/format";
import { DEVICE_CATEGORIES, wordOf } from "../base/vocabulary";
import type { DeviceSeries } from "../data/results";
import { WallBar } from "../parts/bars";
import { DeviceCategoryTable } from "../parts/category_table";

const WINDOWS: Readonly<Record<string, string>> = {
  mark: "from mark to mark on the host",
  device: "from first to last work of each step on the device",
  all: "the whole time of the device",
  none: "",
};

export function DeviceTime({ series }: { series: DeviceSeries }) {
  const order = Object.keys(DEVICE_CATEGORIES);
  const parts = [...series.categories]
    .sort((a, b) => order.indexOf(a.category) - order.indexOf(b.category))
    .map((row) => ({ ...wordOf(DEVICE_CATEGORIES, row.category), value: row.total_ns }));
  const steps = series.count > 0 ? `, ${plural(series.count, "step", "steps")}` : "";
  return (
    <section class="section">
      <h2>
        Where the time of {deviceWord} {series.device} went
        <small>
          {duration(series.total_ns)}
          {steps}, {WINDOWS[series.window] ?? series.window}; busy {percent(series.busy_ratio)}
        </small>
      </h2>
      <div class="columns">
        <div>
          <WallBar parts={parts} whole={series.total_ns} rest="Not explained" />
        </div>
        <DeviceCategoryTable rows={series.categories} whole="of window" />
      </div>
    </section>
  );
}
