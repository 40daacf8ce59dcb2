// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Two runs of a program beside each other: whether it is slower now, and what changed most.

import { useMemo, useState } from "preact/hooks";
import { useResult } from "../app/use_result";
import { count, duration, percent, plural, signed } from "../base/format";
import { kernelName, opName } from "../base/names";
import { DEVICE_CATEGORIES, wordOf } from "../base/vocabulary";
import type { CategoryDiff, Diff as DiffResult, RowDiff } from "../data/results";
import { Swatch } from "../parts/bars";
import { ChangeScale, changeColumns } from "../parts/change";
import { type Column, fixedColumn, percentColumn, textColumn, usColumn } from "../parts/columns";
import { type Figure, Figures } from "../parts/figures";
import { Segments } from "../parts/segments";
import { Broken, Loading, Remark } from "../parts/states";
import { Table } from "../parts/table";
import { change, reasonWords, runFacts, runName, verdictWords } from "./diff_words";

function categoryColumns(rows: readonly CategoryDiff[]): Column<CategoryDiff>[] {
  const word = (row: CategoryDiff) => wordOf(DEVICE_CATEGORIES, row.category);
  return [
    textColumn("category", "Category", (row) => word(row).name, {
      width: "24%",
      cell: (row) => (
        <>
          <Swatch look={word(row).look} />
          {word(row).name}
        </>
      ),
    }),
    usColumn("before", "before, µs", (row) => row.before_ns),
    usColumn("after", "after, µs", (row) => row.after_ns),
    ...changeColumns(rows, (row) => row.change_ns),
  ];
}

/** Returns whether a change lies outside of what repeats may differ by; null: not known. */
function isBeyondNoise(row: RowDiff): boolean | null {
  if (row.change_low_ns === null || row.change_high_ns === null) return null;
  return row.change_low_ns > 0 || row.change_high_ns < 0;
}

function rowColumns(rows: readonly RowDiff[], noun: string): Column<RowDiff>[] {
  const isKernel = noun === "Kernel";
  const name = (row: RowDiff) =>
    isKernel ? kernelName(row.short_name || row.name) : opName(row.short_name || row.name);
  const gone = (row: RowDiff) => (row.after_ns === null ? "it does not run any more" : "");
  const fresh = (row: RowDiff) => (row.before_ns === null ? "it did not run before" : "");
  return [
    textColumn("name", noun, name, { width: "26%", title: (row) => row.name }),
    usColumn("before", "before, µs", (row) => row.before_ns, { title: fresh }),
    usColumn("after", "after, µs", (row) => row.after_ns, { title: gone }),
    ...changeColumns(rows, (row) => row.change_ns),
    percentColumn("share", "of the step", (row) => row.change_ratio, {
      cell: (row) => change(row.change_ratio),
    }),
    textColumn(
      "noise",
      "beyond noise",
      (row) => {
        const isBeyond = isBeyondNoise(row);
        return isBeyond === null ? null : isBeyond ? "yes" : "no";
      },
      {
        isSearched: false,
        tip: "Resampled from the steps, 95 % of the changes have this sign",
        title: (row) =>
          row.change_low_ns === null
            ? "too few steps, or too little time"
            : `between ${signed(row.change_low_ns, duration)} and ${signed(row.change_high_ns, duration)}`,
      },
    ),
    fixedColumn("count_before", "count before", (row) => row.before_count, 1),
    fixedColumn("count_after", "count after", (row) => row.after_count, 1),
  ];
}

const FACTS = ["Recorded", "Length", "Events", "Lost"];

function Runs({ result }: { result: DiffResult }) {
  const before = result.baseline_name || runName(result.before);
  const sides = [
    { side: "Before", name: before, facts: runFacts(result.before) },
    { side: "After", name: runName(result.after), facts: runFacts(result.after) },
  ];
  return (
    <table class="side">
      <thead>
        <tr>
          <th class="plain" scope="col">
            Run
          </th>
          <th class="plain" scope="col">
            <span class="visually-hidden">Name</span>
          </th>
          {FACTS.map((fact) => (
            <th key={fact} class="plain number" scope="col">
              {fact}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {sides.map(({ side, name, facts }) => (
          <tr key={side}>
            <td>{side}</td>
            <td class="tight" style={{ width: "40%" }} title={name.slice(0, 2000)}>
              <b>{name.slice(0, 300)}</b>
            </td>
            {facts.map((fact, index) => (
              <td key={FACTS[index]} class="number">
                {fact}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function figuresOf(result: DiffResult): Figure[] {
  const { steps, comparability } = result;
  const hasChange = steps.change_ratio !== null;
  return [
    {
      label: "Median step before",
      value: hasChange ? duration(steps.before_median_ns) : "—",
      below: `of ${plural(steps.before_count, "step", "steps")}`,
    },
    {
      label: "Median step after",
      value: hasChange ? duration(steps.after_median_ns) : "—",
      below: `of ${plural(steps.after_count, "step", "steps")}`,
    },
    {
      label: "Change",
      value: change(steps.change_ratio),
      below:
        steps.change_low_ratio !== null
          ? `${change(steps.change_low_ratio)} to ${change(steps.change_high_ratio)}`
          : hasChange
            ? "one step tells no spread"
            : steps.differs_in_window
              ? "different measures"
              : "a side has no steps",
      isCause: result.verdict === "regression",
    },
    {
      label: "Verdict",
      value: result.verdict === "none" ? "—" : result.verdict,
      below: `less than ${percent(result.neutral_ratio)} is neutral`,
    },
    {
      label: "Comparable",
      value: percent(comparability.score_ratio),
      below: reasonWords(comparability) || "nothing differs that should not",
    },
    {
      label: "Same shapes",
      value: percent(comparability.same_shape_ratio),
      below:
        comparability.shapes === "inputs"
          ? "of operations’ inputs, by time"
          : comparability.shapes === "grids"
            ? "of kernels’ grids, by time"
            : "the recordings do not both tell them",
    },
  ];
}

type What = "kernels" | "ops";

function Ready({ result }: { result: DiffResult }) {
  const [what, setWhat] = useState<What>(result.kernels.length > 0 ? "kernels" : "ops");
  const rows = result[what];
  const categories = useMemo(() => categoryColumns(result.categories), [result]);
  const columns = useMemo(
    () => rowColumns(rows, what === "kernels" ? "Kernel" : "Operation"),
    [rows, what],
  );
  const { headline, because } = verdictWords(result);
  const reasons = reasonWords(result.comparability);
  const { steps } = result;
  const hasSteps = steps.change_ratio !== null;
  return (
    <div class="page">
      <h1>{headline}</h1>
      <p class="prose">{because}</p>
      <Figures figures={figuresOf(result)} />
      {reasons !== "" && (
        <div style={{ marginTop: "16px" }}>
          <Remark>
            The runs are comparable to {percent(result.comparability.score_ratio)}, because{" "}
            {reasons}.
          </Remark>
        </div>
      )}
      <section class="section">
        <div class="columns even">
          <div>
            <h2>The two runs</h2>
            <Runs result={result} />
          </div>
          {hasSteps && (
            <div>
              <h2>
                Change of the median step
                <small>the line: where it lies with a probability of 95 %</small>
              </h2>
              <ChangeScale
                value={steps.change_ratio ?? 0}
                low={steps.change_low_ratio ?? steps.change_ratio ?? 0}
                high={steps.change_high_ratio ?? steps.change_ratio ?? 0}
                neutral={result.neutral_ratio}
              />
            </div>
          )}
        </div>
      </section>
      {result.categories.length > 0 && (
        <section class="section">
          <h2>
            {steps.window === "none" ? "Time of the mean step" : "The GPU’s time in the mean step"}
            <small>
              {duration(steps.before_mean_ns)} before, {duration(steps.after_mean_ns)} after
            </small>
          </h2>
          <Table
            rows={result.categories}
            columns={categories}
            noun={["category", "categories"]}
            sort="bar"
            isSide
          />
        </section>
      )}
      <section class="section">
        <h2 style={{ marginBottom: "8px" }}>
          What changed
          <small>
            {hasSteps ? "time a step" : "time in the whole recording"};{" "}
            {what === "ops" ? "own time of operations" : "time of kernels"}, the greatest change
            first
          </small>
        </h2>
        <Table
          key={what}
          rows={rows}
          columns={columns}
          noun={what === "kernels" ? ["kernel", "kernels"] : ["operation", "operations"]}
          sort="bar"
          height="max(320px, calc(100vh - var(--tabs, 0px) - 200px))"
          extra={
            <Segments
              label="What changed"
              options={[
                ["kernels", `Kernels ${count(result.kernels.length)}`],
                ["ops", `Operations ${count(result.ops.length)}`],
              ]}
              value={what}
              onChange={setWhat}
            />
          }
        />
      </section>
    </div>
  );
}

export function Diff() {
  const loaded = useResult("diff");
  if (loaded.state === "loading") return <Loading what="the comparison" />;
  if (loaded.state === "absent") {
    return (
      <div class="page">
        <Broken title="The runs cannot be compared">{loaded.reason}</Broken>
      </div>
    );
  }
  return <Ready result={loaded.value} />;
}
