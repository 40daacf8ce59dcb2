// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Waits for locks and conditions, and who waited for whom.

import { useMemo, useState } from "preact/hooks";
import { placeHash, timelineHash } from "../app/state";
import { useResult } from "../app/use_result";
import { count, duration, plural } from "../base/format";
import type { Lock, LockEdge, Locks as LocksResult } from "../data/results";
import { columnsOf, nounOf, type Own } from "../parts/described";
import { frameName, framesOf } from "../parts/flame_tree";
import { Broken, Loading, NotRecorded, whyNot } from "../parts/states";
import { Table } from "../parts/table";
import { WaitGraph } from "./wait_graph";

const LOCKS: Own<Lock> = {
  bar: { color: (lock) => (lock.contended ? "d_lock" : "bar") },
  cells: { threads: { width: "12%" }, holders: { width: "12%" } },
};

const EDGES: Own<LockEdge> = {
  bar: { color: () => "d_lock" },
  cells: {
    waiter: { value: (edge) => `${edge.waiter} ${edge.waiter_tid}`, width: "22%" },
    holder: { value: (edge) => `${edge.holder} ${edge.holder_tid}`, width: "22%" },
  },
};

function Detail({ lock, result }: { lock: Lock; result: LocksResult }) {
  const frames =
    result.call_stacks === null ? [] : framesOf(result.call_stacks, lock.call_stack).reverse();
  return (
    <section class="section">
      <h2>
        {lock.short_name || lock.name}
        <small>
          {plural(lock.count, "wait", "waits")}, {duration(lock.total_ns)}
        </small>
      </h2>
      <p class="links">
        <a
          href={placeHash({
            start_ns: lock.max_start_ns,
            end_ns: lock.max_start_ns + lock.max_ns,
            pid: lock.pid,
            tid: lock.max_tid,
          })}
        >
          The longest wait in the timeline, {duration(lock.max_ns)}
        </a>
      </p>
      <ol class="mono prose" style={{ margin: "8px 0 0", paddingLeft: "24px" }}>
        {frames.slice(0, 24).map((frame, index) => (
          <li key={index} style={{ overflowWrap: "anywhere" }}>
            {frameName(frame).slice(0, 300)}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Ready({ result }: { result: LocksResult }) {
  const locks = useMemo(() => columnsOf("locks", "locks", "", result.locks, LOCKS), [result]);
  const edges = useMemo(() => columnsOf("locks", "edges", "", result.edges, EDGES), [result]);
  const [picked, setPicked] = useState<Lock | null>(null);
  return (
    <div class="page">
      {result.deadlocks.map((deadlock) => (
        <Broken key={`${deadlock.pid} ${deadlock.start_ns}`} title="Threads block each other">
          {count(deadlock.blocked_thread_count)} threads of process {deadlock.pid} wait for each
          other for {duration(deadlock.length_ns)}.{" "}
          <a href={timelineHash(deadlock.start_ns, deadlock.start_ns + deadlock.length_ns)}>
            Show in timeline
          </a>
        </Broken>
      ))}
      <div class="head">
        <h2>
          Locks and waits
          <small>
            {count(result.contended_count)} contended, {duration(result.contended_ns)}
            {result.step_contended_ns !== null &&
              `; ${duration(result.step_contended_ns)} of it in steps`}
          </small>
        </h2>
      </div>
      <Table
        rows={result.locks}
        columns={locks}
        noun={nounOf("locks", "locks")}
        sort="total_ns"
        height="max(240px, calc(50vh - 100px))"
        picked={picked}
        onPick={setPicked}
      />
      {picked !== null && <Detail lock={picked} result={result} />}
      {result.edges.length > 0 && (
        <section class="section">
          <h2>
            Who waited for whom
            <small>lines are as thick as the time; the holder is known for these</small>
          </h2>
          <WaitGraph edges={result.edges} />
          <Table
            rows={result.edges}
            columns={edges}
            noun={nounOf("locks", "edges")}
            sort="total_ns"
          />
        </section>
      )}
    </div>
  );
}

export function Locks() {
  const loaded = useResult("locks");
  if (loaded.state === "loading") return <Loading what="locks" />;
  if (loaded.state === "absent" || loaded.value.locks.length === 0) {
    const skipped = loaded.state === "ready" ? loaded.value.meta.skipped : [];
    const { why, option } = whyNot(skipped, ["locks"], {
      why:
        loaded.state === "absent" ? loaded.reason : "No thread waited long enough to be recorded.",
      option: loaded.state === "absent" ? "--trace locks" : "",
    });
    return (
      <NotRecorded
        title="No waits were recorded"
        why={why}
        option={option}
        would="Waits for locks and conditions, where they wait, and which thread held what they waited for."
      />
    );
  }
  return <Ready result={loaded.value} />;
}
