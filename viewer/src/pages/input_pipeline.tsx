// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How long steps wait for data, for which stage, and how many workers would suffice.

import { useMemo, useState } from "preact/hooks";
import { hashOf, timelineHash } from "../app/state";
import { useResult } from "../app/use_result";
import { count, duration, fixed, NOT_MEASURED, percent, plural } from "../base/format";
import type {
  InputBatch,
  InputPipeline as InputResult,
  InputSource,
  InputStageTime,
} from "../data/results";
import { BatchLife, WaitBars } from "../parts/batch_charts";
import { inOrder, longestAt } from "../parts/batch_life";
import { Choice } from "../parts/choice";
import { columnsOf, layoutOf, nounOf, plainWord } from "../parts/described";
import { type Figure, Figures } from "../parts/figures";
import { Loading, NotRecorded, whyNot } from "../parts/states";
import { Table } from "../parts/table";
import { Verdict } from "../parts/verdict";

/** Batches whose life is shown at once. */
const SHOWN = 12;

function isOf(source: InputSource) {
  return (row: { readonly pid: number; readonly host: string }) =>
    row.pid === source.pid && row.host === source.host;
}

/** Returns the stage that gives the fewest batches a second, of those that are work. */
export function slowest(stages: readonly InputStageTime[]): InputStageTime | null {
  const rates = stages.filter((stage) => stage.batches_per_s > 0);
  return rates.reduce<InputStageTime | null>(
    (least, stage) => (least === null || stage.batches_per_s < least.batches_per_s ? stage : least),
    null,
  );
}

function figuresOf(source: InputSource, stages: readonly InputStageTime[]): Figure[] {
  const none = "not known";
  const least = slowest(stages);
  const enough = source.workers_suffice;
  const figures: Figure[] = [
    {
      label: "Bound by input",
      value: source.input_bound ? "yes" : "no",
      below: source.stage_detail || (plainWord(source.stage) ?? "no stage"),
      isCause: source.input_bound,
    },
    {
      label: "Step",
      value: duration(source.step_ns),
      below: `mean of ${plural(source.step_count, "step", "steps")}`,
    },
    {
      label: "Waits",
      value: duration(source.wait_ns),
      below: `${percent(source.wait_ratio)} of a step`,
    },
    {
      label: "A batch takes",
      value: source.service_ns === 0 ? NOT_MEASURED : duration(source.service_ns),
      below: source.service_ns === 0 ? none : "all work on it, mean",
    },
    {
      label: "Workers",
      value: count(source.worker_count),
      below:
        enough === null
          ? "no number is known to suffice"
          : `${count(enough)} ${source.limited_by_processors ? "by the processors" : "would suffice"}`,
    },
    { label: "First batch", value: duration(source.first_ns), below: "of an epoch, mean wait" },
  ];
  if (source.life_count > 0) {
    figures.push({
      label: "Ready before asked",
      value: duration(source.margin_median_ns),
      below: `median; ${duration(source.margin_p5_ns)} at p5`,
    });
  }
  if (least !== null) {
    figures.push({
      label: "Smallest rate",
      value: `${fixed(least.batches_per_s, 1)} /s`,
      below: `${plainWord(least.work) ?? none}, batches of all workers`,
    });
  }
  return figures;
}

/** What the result says of waits and lives, as a table of a few rows. */
function FromAskedToTaken({ source }: { source: InputSource }) {
  const cell = (ns: number, isKnown = true) => (isKnown ? duration(ns) : NOT_MEASURED);
  const hasLife = source.life_count > 0;
  const rows: [string, string, string, string][] = [
    ["A step waits", cell(source.median_ns), cell(source.p95_ns), cell(source.p99_ns)],
    [
      "A worker makes a batch",
      cell(source.service_median_ns, hasLife),
      cell(source.service_p95_ns, hasLife),
      cell(source.service_p99_ns, hasLife),
    ],
  ];
  return (
    <div>
      <h2 style={{ marginBottom: "8px" }}>
        From asked to taken<small>{plural(source.batch_count, "batch", "batches")}</small>
      </h2>
      <table class="side">
        <thead>
          <tr>
            <th class="plain" scope="col">
              Time
            </th>
            {["median", "p95", "p99"].map((name) => (
              <th key={name} class="plain number" scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, ...cells]) => (
            <tr key={name}>
              <td>{name}</td>
              {cells.map((text, index) => (
                <td key={index} class="number">
                  {text}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <dl class="pairs" style={{ gridTemplateColumns: "minmax(0,1fr) auto" }}>
        <dt>The rest of a step, mean</dt>
        <dd>{cell(source.rest_ns, source.rest_ns !== 0)}</dd>
        <dt>Waits for one late batch, mean of a step</dt>
        <dd>{cell(source.order_ns)}</dd>
        <dt>Waits while nobody works on a batch, mean</dt>
        <dd>{cell(source.passing_ns)}</dd>
      </dl>
    </div>
  );
}

/** A list of the result, as the command describes it. */
function Rows(props: {
  list: "stages" | "workers";
  rows: readonly object[];
  picked?: object | null;
}) {
  const { list, rows, picked = null } = props;
  const columns = useMemo(
    () =>
      columnsOf<object>("input_pipeline", list, "", rows, {
        sort: (list === "stages" ? "waited_ns" : "busy_ratio") as never,
        bar: { width: "14%" },
      }),
    [rows, list],
  );
  if (rows.length === 0) return null;
  return (
    <div>
      <h2 style={{ marginBottom: "8px" }}>{layoutOf("input_pipeline", list)?.title}</h2>
      <Table
        rows={rows}
        columns={columns}
        noun={nounOf("input_pipeline", list)}
        sort=""
        isSide
        picked={picked}
      />
    </div>
  );
}

function Pictures({ source, batches }: { source: InputSource; batches: readonly InputBatch[] }) {
  const [from, setFrom] = useState(() => Math.max(0, longestAt(batches) - SHOWN / 2));
  const last = Math.max(0, batches.length - SHOWN);
  const start = Math.min(from, last);
  const end = Math.min(batches.length, start + SHOWN);
  const hasLife = batches.some((batch) => batch.begin_ns !== 0);
  const move = (next: number) => setFrom(Math.max(0, Math.min(last, next)));
  if (batches.length === 0) return null;
  return (
    <>
      <section class="section">
        <h2>
          Waits of the steps
          <small>
            the first batch of an epoch is cut off; mean wait for it {duration(source.first_ns)}
          </small>
        </h2>
        <WaitBars
          batches={batches}
          from={start}
          count={end - start}
          onPick={(index) => move(index - SHOWN / 2)}
        />
      </section>
      <section class="section">
        <div class="head" style={{ margin: 0 }}>
          <h2>
            Life of the batches
            <small>
              batches {batches[start]?.number} to {batches[end - 1]?.number} of{" "}
              {count(source.batch_count)}
              {!hasLife && "; who made them is not known"}
            </small>
          </h2>
          <span>
            <button
              type="button"
              class="button"
              disabled={start === 0}
              onClick={() => move(start - SHOWN / 2)}
            >
              ‹ earlier
            </button>{" "}
            <button
              type="button"
              class="button"
              disabled={start === last}
              onClick={() => move(start + SHOWN / 2)}
            >
              later ›
            </button>
          </span>
        </div>
        <BatchLife
          batches={batches}
          from={start}
          count={end - start}
          onPick={(index) => {
            const batch = batches[index];
            if (batch === undefined) return;
            const around = Math.max(1e6, batch.wait_ns);
            const begin =
              batch.begin_ns === 0 ? batch.asked_ns : Math.min(batch.begin_ns, batch.asked_ns);
            location.hash = timelineHash(
              Math.max(0, begin - around),
              batch.asked_ns + batch.wait_ns + around,
            );
          }}
        />
      </section>
    </>
  );
}

function BatchTable({ result }: { result: InputResult }) {
  const columns = useMemo(
    () => columnsOf("input_pipeline", "batches", "", result.batches),
    [result],
  );
  return (
    <section class="section">
      <details>
        <summary>{layoutOf("input_pipeline", "batches")?.title}</summary>
        <Table
          rows={result.batches}
          columns={columns}
          noun={nounOf("input_pipeline", "batches")}
          sort="wait_ns"
          height="360px"
        />
      </details>
    </section>
  );
}

function Ready({ result }: { result: InputResult }) {
  const { sources } = result;
  const [chosen, setChosen] = useState(0);
  const source = sources[chosen] ?? (sources[0] as InputSource);
  const own = isOf(source);
  // Batches name their process alone: those of two loaders of one process cannot be told apart.
  const shares = sources.some((other) => other !== source && own(other));
  const batches = useMemo(
    () => (shares ? [] : inOrder(result.batches.filter(own))),
    [result, source, shares],
  );
  const stages = useMemo(() => result.stages.filter(own), [result, source]);
  const workers = useMemo(() => [...result.workers], [result]);
  const columns = useMemo(
    () => columnsOf("input_pipeline", "sources", "", sources, { sort: "wait_ns", bar: false }),
    [sources],
  );
  return (
    <div class="page">
      <div class="head">
        <h2>
          Input pipeline
          <small>
            {source.name} of process {source.pid}
            {source.host !== "" && ` on ${source.host}`}
          </small>
        </h2>
        <Choice
          label="Loader"
          names={sources.map((each) => `${each.name} ${each.pid}`)}
          value={chosen}
          onChange={setChosen}
        />
        {source.stage === "iterator" && <a href={hashOf("tf_data")}>Its iterators</a>}
      </div>
      <Verdict text={source.verdict} />
      <Figures figures={figuresOf(source, stages)} />
      {shares ? (
        <p class="quiet" style={{ marginTop: "12px" }}>
          Several loaders of this process took batches, and their batches cannot be told apart.
        </p>
      ) : (
        <Pictures key={chosen} source={source} batches={batches} />
      )}
      <section class="section columns even">
        <FromAskedToTaken source={source} />
        <Rows list="stages" rows={stages} picked={slowest(stages)} />
      </section>
      {workers.length > 0 && (
        <section class="section">
          <Rows list="workers" rows={workers} />
        </section>
      )}
      <section class="section">
        <h2 style={{ marginBottom: "8px" }}>{layoutOf("input_pipeline", "sources")?.title}</h2>
        <Table
          rows={sources}
          columns={columns}
          noun={nounOf("input_pipeline", "sources")}
          sort="wait_ns"
        />
      </section>
      {result.batches.length > 0 && <BatchTable result={result} />}
    </div>
  );
}

export function InputPipeline() {
  const loaded = useResult("input_pipeline");
  if (loaded.state === "loading") return <Loading what="the input of steps" />;
  if (loaded.state === "absent" || loaded.value.sources.length === 0) {
    const { why, option } = whyNot(
      loaded.state === "ready" ? loaded.value.meta.skipped : [],
      ["ops"],
      {
        why:
          loaded.state === "absent"
            ? loaded.reason
            : "The program asked no DataLoader and no tf.data for a batch, or did so outside of the recording.",
        option: "",
      },
    );
    return (
      <NotRecorded
        title="No input of steps was recorded"
        why={why}
        option={option}
        would="How long steps wait for data, the life of batches, which stage is at fault, and how many workers would suffice."
      />
    );
  }
  return <Ready result={loaded.value} />;
}
