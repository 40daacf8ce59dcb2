// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Memory over time in a range, from the events. Who allocated it is known of whole recordings and of
// the parts that have results.

import { WithTrace } from "../app/narrowed";
import { selectionOf, useAnswer } from "../app/open_trace";
import type { OfRangeProps } from "../app/pages";
import { scope, scopeWords } from "../app/scope";
import { bytes, position } from "../base/format";
import { Figures } from "../parts/figures";
import { MemoryChart } from "../parts/memory_chart";
import { Loading } from "../parts/states";
import {
  type CounterAnswer,
  isSelected,
  type Selection,
  type Trace,
  type TrackInfo,
} from "../trace/api";

/** Points of a chart. */
const POINTS = 1500;

interface Use {
  readonly track: TrackInfo;
  readonly curve: CounterAnswer;
}

async function usesOf(trace: Trace, selection: Selection): Promise<Use[]> {
  const { start_ns, end_ns } = selection;
  const uses: Use[] = [];
  for (const track of trace.info.tracks) {
    if (track.kind !== "memory" || !isSelected(track, selection)) continue;
    const curve = await trace.counter(track.id, start_ns, end_ns, (end_ns - start_ns) / POINTS);
    if (curve.time_ns.length > 0) uses.push({ track, curve });
  }
  return uses;
}

function UseOf({ trace, track, curve }: Use & { trace: Trace }) {
  const { start_ns, end_ns } = selectionOf(trace);
  const { time_ns, most, least } = curve;
  const last = time_ns.length - 1;
  let at = 0;
  most.forEach((each, i) => {
    if (each > (most[at] as number)) at = i;
  });
  const peak = { time_ns: Math.max(time_ns[at] as number, start_ns), bytes: most[at] as number };
  const low = least.reduce((one, other) => Math.min(one, other));
  const points = [...time_ns].map((time, i) => ({
    time_ns: Math.max(time, start_ns),
    live_bytes: most[i] as number,
  }));
  const begin = (time_ns[0] as number) <= start_ns ? (most[0] as number) : 0;
  return (
    <section class="section">
      <h2>
        {track.name}
        <small>
          process {trace.info.processes[track.process]?.pid}; peak at{" "}
          {position(peak.time_ns, end_ns)}
        </small>
      </h2>
      <Figures
        figures={[
          { label: "Peak", value: bytes(peak.bytes), below: "in the range" },
          { label: "Least", value: bytes(low), below: "in the range" },
          { label: "At the begin", value: bytes(begin), below: "of the range" },
          { label: "At the end", value: bytes(least[last] as number), below: "of the range" },
        ]}
      />
      <div style={{ marginTop: "12px" }}>
        <MemoryChart
          name={track.name}
          points={points}
          peak={peak}
          start_ns={start_ns}
          end_ns={end_ns}
        />
      </div>
    </section>
  );
}

function OfTrace({ trace, otherwise }: Pick<OfRangeProps, "otherwise"> & { trace: Trace }) {
  const uses = useAnswer(trace, usesOf);
  if (uses === null) return <Loading what="the events of the range" />;
  if (uses.length === 0) return otherwise;
  return (
    <div class="page">
      <p class="quiet">
        This page is of {scopeWords(scope.value)}. Who allocated the memory is known of the whole
        run, and of the parts that “Narrow” offers.
      </p>
      {uses.map((use) => (
        <UseOf key={use.track.id} trace={trace} {...use} />
      ))}
    </div>
  );
}

/** Shows the memory of the scope. */
export function MemoryOfRange({ source, otherwise }: OfRangeProps) {
  return (
    <WithTrace source={source}>
      {(trace) => <OfTrace trace={trace} otherwise={otherwise} />}
    </WithTrace>
  );
}
