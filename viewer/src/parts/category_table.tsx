// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Small tables of categories beside a bar or a chart. They sum up to the whole.

import { hashOf } from "../app/state";
import { fixed, percent } from "../base/format";
import {
  DEVICE_CATEGORIES,
  DEVICE_MEANINGS,
  hueOf,
  STEP_CATEGORIES,
  wordOf,
} from "../base/vocabulary";
import type { CategoryTime, StepSeries } from "../data/results";
import { Swatch } from "./bars";
import { isNothing, unitOfTimes } from "./columns";

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

/** Returns the page that tells more of a part of a device's time. */
function pageOf(category: string): string {
  if (category.startsWith("copy")) return "memcpy";
  if (category === "collective") return "overlap";
  if (category === "graph") return "graphs";
  return category.startsWith("compute") ? "kernels" : "idle";
}

/** Categories of a device's time, the largest first: how long a step, and what each is. */
export function DeviceCategoryTable(props: {
  rows: readonly CategoryTime[];
  /** What shares are of: "of 383 ms". */
  base: string;
  /** Steps that the times are shared out to; absent: they are sums. */
  steps?: number;
  /** The table stands beside something else: no bars, no words. */
  isNarrow?: boolean;
}) {
  const steps = Math.max(1, props.steps ?? 0);
  const of = props.steps === undefined ? "time" : "step";
  const rows = [...props.rows]
    .filter((row) => row.total_ns > 0)
    .sort((a, b) => b.total_ns - a.total_ns);
  const sum = rows.reduce((total, row) => total + row.total_ns, 0) / steps;
  const largest = rows[0]?.total_ns ?? 1;
  const isWide = props.isNarrow !== true;
  const unit = unitOfTimes(sum);
  const write = (ns: number) => fixed(ns / unit.ns, unit.decimals);
  return (
    <table class="side parts">
      <thead>
        <tr>
          <th class="plain" scope="col">
            Part of the {of}
          </th>
          <th class="plain number sorted" scope="col">
            {unit.name}
          </th>
          <th class="plain number" scope="col">
            {props.base}
          </th>
          {isWide && (
            <th class="plain hide3" scope="col">
              <span class="visually-hidden">as a bar</span>
            </th>
          )}
          {isWide && (
            <th class="plain hide3" scope="col">
              what it is
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => {
          const word = wordOf(DEVICE_CATEGORIES, row.category);
          const meaning = DEVICE_MEANINGS[row.category] ?? "";
          const width = `${((row.total_ns / largest) * 100).toFixed(1)}%`;
          return (
            <tr key={row.category} title={meaning}>
              <td class="name">
                <Swatch look={word.look} />
                {isWide ? <a href={hashOf(pageOf(row.category))}>{word.name}</a> : word.name}
              </td>
              <Figure text={write(row.total_ns / steps)} />
              <Figure text={percent(row.total_ratio)} />
              {isWide && (
                <td class="bar hide3">
                  <div>
                    <u style={{ width, background: `var(--${hueOf(word.look)})` }} />
                  </div>
                </td>
              )}
              {isWide && <td class="hide3 prose">{meaning}</td>}
            </tr>
          );
        })}
        <tr class="sum">
          <td>
            <b>{of === "step" ? "Step" : "Sum"}</b>
          </td>
          <Figure text={write(sum)} />
          <Figure text={percent(rows.length === 0 ? 0 : 1)} />
          {isWide && <td class="hide3" />}
          {isWide && <td class="hide3" />}
        </tr>
      </tbody>
    </table>
  );
}
