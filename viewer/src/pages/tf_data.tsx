// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Pipelines of tf.data as chains of iterators, with the one that the program waited for.

import { useMemo, useState } from "preact/hooks";
import { hashOf, placeHash } from "../app/state";
import { useResult } from "../app/use_result";
import { duration, percent, plural } from "../base/format";
import type { DataIterator, DataPipeline, TfData as TfDataResult } from "../data/results";
import { type ChainNode, chainOf } from "../parts/batch_life";
import { Choice } from "../parts/choice";
import { columnsOf, layoutOf, nounOf, type Own, plainWord } from "../parts/described";
import { type Figure, Figures } from "../parts/figures";
import { Loading, NotRecorded, whyNot } from "../parts/states";
import { Table } from "../parts/table";
import { Verdict } from "../parts/verdict";

const ITERATORS: Own<DataIterator> = {
  bar: { color: () => "d_input", width: "10%" },
  sort: "waited_ns",
  cells: {
    name: {
      width: "24%",
      title: (row) => row.path,
      cell: (row) => <span style={{ paddingLeft: `${row.depth * 14}px` }}>{row.name}</span>,
    },
  },
};

function figuresOf(pipeline: DataPipeline): Figure[] {
  return [
    {
      label: "Waited",
      value: duration(pipeline.waited_ns),
      below: `${percent(pipeline.waited_ratio)} of ${duration(pipeline.window_ns)}`,
    },
    {
      label: "Most for",
      value: pipeline.blamed || "none",
      below: `${percent(pipeline.blamed_ratio)} of the wait`,
      isCause: pipeline.blamed !== "",
    },
    {
      label: "Median",
      value: duration(pipeline.median_ns),
      below: `of ${plural(pipeline.count, "call", "calls")}`,
    },
    { label: "p95", value: duration(pipeline.p95_ns), below: "of the calls" },
    { label: "Longest", value: duration(pipeline.max_ns), below: "call" },
    { label: "Python", value: duration(pipeline.python_ns), below: "ran while the program waited" },
  ];
}

function NodeBox({ node }: { node: ChainNode }) {
  const { iterator, isBlocking } = node;
  const kind = [plainWord(iterator.iterator_class), iterator.asynchronous ? "other threads" : ""];
  return (
    <div class={isBlocking ? "node blocks" : "node"} title={iterator.path}>
      <b>{iterator.name}</b>
      {kind.filter(Boolean).join(", ")}
      <br />
      own {duration(iterator.self_ns)} in {plural(iterator.count, "call", "calls")}
      <br />
      waited for {duration(iterator.waited_ns)}, {percent(iterator.waited_ratio)}
    </div>
  );
}

/** The iterators from the one that reads to the program; what blocks has thick edges. */
function Chain({ pipeline, levels }: { pipeline: DataPipeline; levels: readonly ChainNode[][] }) {
  return (
    <ol class="chain" aria-label={`${pipeline.name}, from what reads to the program`}>
      {levels.map((level, index) => (
        <li key={index} class={level.some(({ isBlocking }) => isBlocking) ? "blocks" : undefined}>
          <span>
            {level.map((node) => (
              <NodeBox key={node.iterator.path} node={node} />
            ))}
          </span>
          <span class="arrow" aria-hidden="true">
            →
          </span>
        </li>
      ))}
      <li>
        <div class={pipeline.blamed === "" ? "node" : "node blocks"}>
          <b>the program</b>
          asks {plural(pipeline.count, "time", "times")}
          <br />
          waits {duration(pipeline.mean_ns)} each, mean
          <br />
          {percent(pipeline.waited_ratio)} of its time
        </div>
      </li>
    </ol>
  );
}

function Ready({ result }: { result: TfDataResult }) {
  const { pipelines, iterators } = result;
  const [chosen, setChosen] = useState(0);
  const pipeline = pipelines[chosen] ?? (pipelines[0] as DataPipeline);
  const levels = useMemo(() => chainOf(pipeline, iterators), [pipeline, iterators]);
  const columns = useMemo(
    () => ({
      iterators: columnsOf("tf_data", "iterators", "", iterators, ITERATORS),
      pipelines: columnsOf("tf_data", "pipelines", "", pipelines, { sort: "waited_ns" }),
    }),
    [iterators, pipelines],
  );
  return (
    <div class="page">
      <div class="head">
        <h2>
          tf.data
          <small>
            {pipeline.name} of process {pipeline.pid}
          </small>
        </h2>
        <Choice
          label="Pipeline"
          names={pipelines.map((each) => `${each.name} ${each.pid}`)}
          value={chosen}
          onChange={setChosen}
        />
        <span class="links">
          <a href={hashOf("input_pipeline")}>Steps and their waits</a>
          <a
            href={placeHash({
              start_ns: pipeline.max_start_ns,
              end_ns: pipeline.max_start_ns + pipeline.max_ns,
              pid: pipeline.pid,
              tid: pipeline.max_tid,
            })}
          >
            The longest call
          </a>
        </span>
      </div>
      <Verdict text={pipeline.verdict} />
      <Figures figures={figuresOf(pipeline)} />
      <section class="section">
        <h2>
          From the data to the program
          <small>thick edges: what the program waited for most, and what asks it</small>
        </h2>
        <Chain pipeline={pipeline} levels={levels} />
      </section>
      <section class="section">
        <h2 style={{ marginBottom: "8px" }}>{layoutOf("tf_data", "iterators")?.title}</h2>
        <Table
          rows={iterators}
          columns={columns.iterators}
          noun={nounOf("tf_data", "iterators")}
          sort=""
          height="480px"
        />
      </section>
      <section class="section">
        <h2 style={{ marginBottom: "8px" }}>{layoutOf("tf_data", "pipelines")?.title}</h2>
        <Table
          rows={pipelines}
          columns={columns.pipelines}
          noun={nounOf("tf_data", "pipelines")}
          sort="waited_ns"
        />
      </section>
    </div>
  );
}

export function TfData() {
  const loaded = useResult("tf_data");
  if (loaded.state === "loading") return <Loading what="pipelines of tf.data" />;
  if (loaded.state === "absent" || loaded.value.pipelines.length === 0) {
    const { why, option } = whyNot(
      loaded.state === "ready" ? loaded.value.meta.skipped : [],
      ["ops"],
      {
        why:
          loaded.state === "absent"
            ? loaded.reason
            : "The program asked no iterator of tf.data, or asked it outside of the recording.",
        option: "",
      },
    );
    return (
      <NotRecorded
        title="No pipeline of tf.data was recorded"
        why={why}
        option={option}
        would="The chain of iterators, how long each worked, and which one the program waited for."
      />
    );
  }
  return <Ready result={loaded.value} />;
}
