// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The recording itself: losses and their causes, cost, clock, what was not looked for.

import { useMemo } from "preact/hooks";
import { useResult } from "../app/use_result";
import { bytes, count, duration, NOT_MEASURED, percent, plural } from "../base/format";
import { isImported, whyLossesUnknown } from "../data/losses";
import type {
  BudgetUse,
  HealthProcess,
  Health as HealthResult,
  Meta,
  Overview,
} from "../data/results";
import { columnsOf, nounOf, type Own } from "../parts/described";
import { Figures } from "../parts/figures";
import { Broken, Loading, Remark } from "../parts/states";
import { Table } from "../parts/table";

/** The trace of another tool has zeros for what it does not know. */
const UNKNOWN = { value: () => null, cell: () => NOT_MEASURED };
const OF_OTHERS: Own<HealthProcess> = {
  bar: false,
  cells: {
    lost_count: UNKNOWN,
    lost_ratio: UNKNOWN,
    slowdown_ratio: UNKNOWN,
    background_ratio: UNKNOWN,
    hook_ns: UNKNOWN,
    stack_ns: UNKNOWN,
    op_ns: UNKNOWN,
    memory_bytes: UNKNOWN,
    clock_residual_ns: UNKNOWN,
  },
};

/** What the windows of a recording with a limit cost, of the process that they cost most. */
function budgetFigures(processes: readonly HealthProcess[]) {
  const budgets = processes.map((process) => process.budget).filter((each) => each !== null);
  const cost = (each: BudgetUse) => each.cost_ratio ?? 0;
  const [budget] = budgets.sort((a, b) => cost(b) - cost(a));
  if (budget === undefined || budget.cost_ratio === null) return [];
  const error =
    budget.cost_error_ratio === null ? "" : `give or take ${percent(budget.cost_error_ratio)}; `;
  const part =
    budget.step_count === 0
      ? `${duration(budget.recorded_ns)} of ${duration(budget.elapsed_ns)}`
      : `${count(budget.recorded_step_count)} of ${count(budget.step_count)} steps`;
  return [
    {
      label: "Measured cost",
      value: percent(budget.cost_ratio),
      below: `${error}${part} recorded`,
    },
  ];
}

/** What was lost, each with its remedy. */
function Losses({ meta }: { meta: Meta }) {
  if (meta.lost_count === 0 && meta.losses.length === 0) return null;
  return (
    <Remark>
      <b>{count(meta.lost_count)} events were lost.</b>
      {meta.losses.map((loss) => (
        <div key={loss.name}>
          {count(loss.count)} by {loss.name.replaceAll("_", " ")}
          {loss.fix !== "" && `: ${loss.fix}`}
        </div>
      ))}
    </Remark>
  );
}

function Ready({ result, overview }: { result: HealthResult; overview: Overview | null }) {
  const isOwn = overview === null || !isImported(overview);
  const { meta, processes } = result;
  const columns = useMemo(
    () => columnsOf("health", "processes", "", processes, isOwn ? { bar: false } : OF_OTHERS),
    [processes, isOwn],
  );
  const events = processes.reduce((sum, process) => sum + process.count, 0);
  const size = processes.reduce((sum, process) => sum + process.file_bytes, 0);
  const costs = processes.map((process) => process.slowdown_ratio).filter((each) => each !== null);
  // The trace of another tool has zeros here: they are not known.
  const isMeasured = isOwn && costs.length > 0;
  const unknown = overview === null ? "" : whyLossesUnknown(overview);
  const figures = [
    {
      label: "Lost",
      value: unknown !== "" && meta.lost_count === 0 ? "unknown" : count(meta.lost_count),
      below:
        unknown === ""
          ? `of ${count(events + meta.lost_count)} events`
          : meta.lost_count === 0
            ? unknown
            : `at least: ${unknown}`,
      isCause: meta.lost_count > 0,
    },
    {
      label: "Cost in the program",
      value: isMeasured ? percent(Math.max(...costs)) : "—",
      below: isMeasured ? "in the costliest process" : "not measured",
    },
    {
      label: "Events",
      value: count(events),
      below: `in ${plural(processes.length, "process", "processes")}`,
    },
    {
      label: "Size",
      value: size === 0 ? "—" : bytes(size),
      below:
        size === 0
          ? "not measured"
          : events === 0
            ? ""
            : `${(size / Math.max(1, events)).toFixed(1)} bytes an event`,
    },
    {
      label: "Captured",
      value: duration(processes.reduce((sum, process) => sum + process.captured_ns, 0)),
      below: "time of all processes",
    },
    ...budgetFigures(processes),
  ];
  const notes = [...meta.notes, ...processes.flatMap((process) => process.notes)];
  return (
    <div class="page">
      <h2>Capture health</h2>
      <Figures figures={figures} />
      <section class="section">
        <Losses meta={meta} />
        {meta.inputs
          .filter((input) => input.fault !== "" || input.recovered)
          .map((input) => (
            <Remark key={input.name}>
              {input.name}{" "}
              {input.fault === ""
                ? "was recovered from the ring of a process that was killed."
                : `is cut: ${input.fault}. What could be read is shown.`}
            </Remark>
          ))}
        <Table
          rows={processes}
          columns={columns}
          noun={nounOf("health", "processes")}
          sort="count"
        />
      </section>
      {meta.skipped.length > 0 && (
        <section class="section">
          <h2>
            Not in this recording<small>figures about these are missing, not zero</small>
          </h2>
          <dl class="pairs" style={{ gridTemplateColumns: "160px minmax(0, 1fr)" }}>
            {meta.skipped.map((each) => [
              <dt key={each.name}>{each.name.replaceAll("_", " ")}</dt>,
              <dd key={`${each.name} fix`}>
                <code>{each.fix}</code>{" "}
                <span class="quiet">
                  {each.reason === "not_in_source"
                    ? "the trace of the other tool does not hold it"
                    : "it was not asked for"}
                </span>
              </dd>,
            ])}
          </dl>
        </section>
      )}
      {notes.length > 0 && (
        <section class="section">
          <h2>Notes</h2>
          <ul class="prose" style={{ margin: "4px 0 0", paddingLeft: "16px" }}>
            {notes.map((note, index) => (
              <li key={index} style={{ overflowWrap: "anywhere" }}>
                {note.slice(0, 2000)}
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

export function Health() {
  const loaded = useResult("health");
  const overview = useResult("overview");
  if (loaded.state === "loading" || overview.state === "loading")
    return <Loading what="capture health" />;
  if (loaded.state === "absent") {
    return (
      <div class="page">
        <Broken title="The health of the capture is not there">{loaded.reason}</Broken>
      </div>
    );
  }
  return (
    <Ready result={loaded.value} overview={overview.state === "ready" ? overview.value : null} />
  );
}
