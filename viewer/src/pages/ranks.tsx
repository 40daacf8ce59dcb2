// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a step of a job is made of, by rank and by step, and which ranks are equal.

import { useCallback, useMemo, useState } from "preact/hooks";
import { narrowTo } from "../app/scope";
import { useResult } from "../app/use_result";
import { count, duration, percent, plural } from "../base/format";
import type { PodGroup, PodRank, PodStep, Pods } from "../data/results";
import { Legend, Swatch } from "../parts/bars";
import { columnsOf, nounOf } from "../parts/described";
import { type Figure, Figures } from "../parts/figures";
import { StackChart, type StackColumn } from "../parts/rank_chart";
import { occurringTimes, POD_WORDS, placeColumns, roundRanks } from "../parts/rank_columns";
import { Loading, NotRecorded } from "../parts/states";
import { labelledPlaces } from "../parts/step_bars";
import { Table } from "../parts/table";
import { Verdict } from "../parts/verdict";

/** Steps that are drawn at once. With more, each column is the longest of some in a row. */
const MOST_STEPS = 300;

function figuresOf(result: Pods): Figure[] {
  const transfer =
    result.groups.reduce((sum, group) => sum + group.transfer_ns * group.rank_count, 0) /
    Math.max(1, result.rank_count);
  const figures: Figure[] = [
    {
      label: "Ranks",
      value: count(result.rank_count),
      below: plural(result.host_count, "host", "hosts"),
    },
    {
      label: "Step",
      value: duration(result.step_ns),
      below: `mean of ${plural(result.step_count, "step", "steps")} that all ranks have`,
    },
    {
      label: "Wait for other ranks",
      value: result.arrivals === "matched" ? duration(result.wait_ns) : "—",
      below:
        result.arrivals === "matched"
          ? `${percent(result.wait_ratio)} of a step`
          : "nothing tells when ranks arrived",
      isCause: result.arrivals === "matched" && result.wait_ratio >= 0.05,
    },
    {
      label: "Transfer",
      value: duration(transfer),
      below: `${percent(transfer / Math.max(1, result.step_ns))} of a step, nothing computed`,
    },
    {
      label: "Kinds of ranks",
      value: count(result.groups.length),
      below: `${count(result.groups[0]?.rank_count ?? 0)} are in the largest group`,
    },
  ];
  if (result.clock_spread_ns !== null) {
    figures.push({
      label: "Clocks",
      value: duration(result.clock_spread_ns),
      below: `apart; aligned within ${duration(result.clock_error_ns)}`,
    });
  }
  return figures;
}

function titleOf(rank: PodRank): string {
  const device = rank.device === null ? "" : `, device ${rank.device}`;
  return `${rank.name}${device}${rank.host === "" ? "" : ` on ${rank.host}`}`;
}

/** Names the time in which ranks differ from most others. */
function timeName({ outlier_time }: { readonly outlier_time: string }): string {
  return POD_WORDS[outlier_time as keyof typeof POD_WORDS].name;
}

function ByRank({ ranks }: { ranks: readonly PodRank[] }) {
  const place = useCallback(
    (width: number): StackColumn[] =>
      placeColumns(ranks, width).map(({ row, count: many, x, width: wide }) => ({
        x,
        width: wide,
        times: row,
        title: many > 1 ? `${titleOf(row)}, longest of ${many}` : titleOf(row),
        pairs: row.outlier
          ? [[`${timeName(row)} differs by`, duration(row.outlier_ns)] as const]
          : [],
      })),
    [ranks],
  );
  const rowOf = (columns: readonly StackColumn[], at: number) => columns[at]?.times as PodRank;
  // A click needs the columns as they are drawn.
  const [drawn] = useState<{ columns: readonly StackColumn[] }>({ columns: [] });
  const odd = ranks
    .filter((rank) => rank.outlier)
    .reduce<PodRank | null>(
      (most, rank) =>
        most === null || Math.abs(rank.outlier_ns) > Math.abs(most.outlier_ns) ? rank : most,
      null,
    );
  return (
    <StackChart
      id="by-rank"
      height={230}
      place={place}
      ticks={(columns) => {
        drawn.columns = columns;
        return roundRanks(
          columns.map((_, at) => rowOf(columns, at).rank),
          8,
        ).map((at, index) => {
          const number = String(rowOf(columns, at).rank);
          return [at, index === 0 ? `rank ${number}` : number] as const;
        });
      }}
      mark={(columns) => {
        const at = columns.findIndex((column) => column.times === odd);
        if (odd === null || at < 0) return null;
        const more = `${duration(Math.abs(odd.outlier_ns))} ${odd.outlier_ns > 0 ? "more" : "less"}`;
        return { at, text: `${titleOf(odd)}: ${timeName(odd).toLowerCase()}, ${more}` };
      }}
      label={`The mean step of each of ${ranks.length} ranks, stacked by what it is made of. Arrow keys move, Enter narrows all pages to a rank.`}
      click="Click: narrow all pages to this rank"
      onPick={(at) => {
        const rank = rowOf(drawn.columns, at);
        if (rank !== undefined) narrowTo({ pid: rank.pid, device: rank.device });
      }}
    />
  );
}

/** Returns at most so many steps: of neighbours the longest. */
function folded(steps: readonly PodStep[]): { drawn: PodStep[]; group: number } {
  const group = Math.max(1, Math.ceil(steps.length / MOST_STEPS));
  const drawn: PodStep[] = [];
  for (let begin = 0; begin < steps.length; begin += group) {
    drawn.push(
      steps
        .slice(begin, begin + group)
        .reduce((best, step) => (step.step_ns > best.step_ns ? step : best)),
    );
  }
  return { drawn, group };
}

function BySteps({ steps }: { steps: readonly PodStep[] }) {
  const { drawn, group } = useMemo(() => folded(steps), [steps]);
  const place = useCallback(
    (width: number): StackColumn[] => {
      const each = Math.min(40, width / drawn.length);
      return drawn.map((step, at) => ({
        x: at * each,
        width: each >= 3 ? each - 1 : each,
        times: step,
        title: `Step ${step.number}`,
        pairs: [
          [`most done by ${step.slowest_name}`, `+${duration(step.slowest_ns)}`] as const,
          ["ranks from", `${duration(step.min_ns)} to ${duration(step.max_ns)}`] as const,
        ],
      }));
    },
    [drawn],
  );
  return (
    <div>
      <h2>
        Steps<small>mean of the ranks</small>
      </h2>
      <StackChart
        id="by-step"
        height={190}
        place={place}
        ticks={() =>
          labelledPlaces(drawn.map((step) => step.number)).map((at, index) => {
            const number = String(drawn[at]?.number ?? "");
            return [at, index === 0 ? `step ${number}` : number] as const;
          })
        }
        label={`Each of ${steps.length} steps, mean of the ranks, stacked by what it is made of. Arrow keys move, Enter narrows all pages to a step.`}
        click="Click: narrow all pages to this step"
        onPick={(at) => {
          const step = drawn[at];
          if (step !== undefined) {
            narrowTo({
              step: step.number,
              range: { start_ns: step.start_ns, end_ns: step.start_ns + step.max_ns },
            });
          }
        }}
      />
      {group > 1 && <p class="quiet small">Each column is the longest of {group} steps.</p>}
    </div>
  );
}

function GroupTable({ result }: { result: Pods }) {
  const columns = useMemo(
    () =>
      columnsOf<PodGroup>("pods", "groups", "", result.groups, {
        cells: {
          name: {
            width: "24%",
            cell: (group) => (
              <>
                {group.outlier && <Swatch look="wait" />}
                {group.name}
              </>
            ),
          },
          outlier_time: {
            value: (group) => (group.outlier_time === "" ? "" : timeName(group)),
          },
        },
      }),
    [result],
  );
  return <Table rows={result.groups} columns={columns} noun={nounOf("pods", "groups")} sort="" />;
}

function Ready({ result }: { result: Pods }) {
  const ranks = useMemo(() => columnsOf<PodRank>("pods", "ranks", "", result.ranks), [result]);
  const steps = useMemo(() => columnsOf<PodStep>("pods", "steps", "", result.steps), [result]);
  const [isOfSteps, setOfSteps] = useState(false);
  return (
    <div class="page">
      <div class="head">
        <h2>
          Ranks
          <small>
            {plural(result.rank_count, "rank", "ranks")} on{" "}
            {plural(result.host_count, "host", "hosts")}
          </small>
        </h2>
      </div>
      <Verdict text={result.verdict} />
      <Figures figures={figuresOf(result)} />
      <section class="section">
        <h2>
          A step by rank
          <small>
            mean step, {result.time === "device" ? "time of the devices" : "time of the hosts"}; a
            column is a rank
          </small>
        </h2>
        <ByRank ranks={result.ranks} />
        <Legend parts={occurringTimes(result.ranks)} />
      </section>
      <section class="section">
        <h2 style={{ marginBottom: "8px" }}>Groups of equal ranks</h2>
        <GroupTable result={result} />
      </section>
      {result.steps.length > 0 && (
        <section class="section">
          <BySteps steps={result.steps} />
        </section>
      )}
      <section class="section">
        <p class="links">
          <button type="button" class="button" onClick={() => setOfSteps(!isOfSteps)}>
            {isOfSteps ? "Show every rank" : "Show every step"}
          </button>
        </p>
        {isOfSteps ? (
          <Table
            rows={result.steps}
            columns={steps}
            noun={nounOf("pods", "steps")}
            sort="number"
            height="480px"
          />
        ) : (
          <Table
            rows={result.ranks}
            columns={ranks}
            noun={nounOf("pods", "ranks")}
            sort=""
            height="480px"
          />
        )}
      </section>
    </div>
  );
}

export function Ranks() {
  const loaded = useResult("pods");
  if (loaded.state === "loading") return <Loading what="ranks" />;
  if (loaded.state === "absent" || loaded.value.ranks.length < 2) {
    return (
      <NotRecorded
        title="Ranks were not compared"
        why={
          loaded.state === "absent"
            ? "This file does not have the result."
            : "The recording has steps of one rank, or of no rank. Read the folder of a whole job."
        }
        option=""
        would="Steps of all ranks of a job, by what they are made of, and the ranks that differ."
      />
    );
  }
  return <Ready result={loaded.value} />;
}
