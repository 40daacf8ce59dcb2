// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Small tables of categories beside a bar or a chart. They sum up to the whole.

import { fixed, percent } from "../base/format";
import { DEVICE_CATEGORIES, DEVICE_MEANINGS, STEP_CATEGORIES, wordOf } from "../base/vocabulary";
import type { CategoryTime, StepSeries } from "../data/results";
import { Swatch } from "./bars";
import { isNothing } from "./columns";

function Figure({ text }: { text: string }) {
  return <td class={isNothing(text) ? "number nothing" : "number"}>{text}</td>;
}

const QUANTILES = ["mean_ns", "p10_ns", "median_ns", "p90_ns"] as const;

/** The categories of a step with their quantiles. */
export function StepCategoryTable({ series }: { series: StepSeries }) {
  const order = Object.keys(STEP_CATEGORIES);
  const rows = series.categories
    .filter((row) => row.total_ns > 0)
    .sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
  return (
    <table class="side">
      <thead>
        <tr>
          <th class="plain" scope="col">
            Category
          </th>
          {["share", "mean, ms", "p10", "median", "p90"].map((name) => (
            <th key={name} class="plain number" scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => {
          const word = wordOf(STEP_CATEGORIES, row.name);
          return (
            <tr key={row.name} title={row.meaning}>
              <td>
                <Swatch look={word.look} />
                {word.name}
              </td>
              <Figure text={row.share_ratio === 0 ? "0" : percent(row.share_ratio)} />
              {QUANTILES.map((key) => (
                <Figure key={key} text={fixed(row[key] / 1e6, 1)} />
              ))}
            </tr>
          );
        })}
        <tr class="sum">
          <td>
            <b>Step</b>
          </td>
          <Figure text={percent(1)} />
          {QUANTILES.map((key) => (
            <Figure key={key} text={fixed(series[key] / 1e6, 1)} />
          ))}
        </tr>
      </tbody>
    </table>
  );
}

/** Categories of a device's time, the largest first. */
export function DeviceCategoryTable(props: { rows: readonly CategoryTime[]; whole: string }) {
  const rows = [...props.rows].sort((a, b) => b.total_ns - a.total_ns);
  const sum = rows.reduce((total, row) => total + row.total_ns, 0);
  return (
    <table class="side">
      <thead>
        <tr>
          <th class="plain" scope="col">
            Category
          </th>
          <th class="plain number" scope="col">
            total, ms
          </th>
          <th class="plain number" scope="col">
            {props.whole}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => {
          const word = wordOf(DEVICE_CATEGORIES, row.category);
          return (
            <tr key={row.category} title={DEVICE_MEANINGS[row.category]}>
              <td>
                <Swatch look={word.look} />
                {word.name}
              </td>
              <Figure text={fixed(row.total_ns / 1e6, 2)} />
              <Figure text={percent(row.total_ratio)} />
            </tr>
          );
        })}
        <tr class="sum">
          <td>
            <b>Sum</b>
          </td>
          <Figure text={fixed(sum / 1e6, 2)} />
          <Figure text={percent(rows.length === 0 ? 0 : 1)} />
        </tr>
      </tbody>
    </table>
  );
}
