// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Memory over time in a range, from the events. Who allocated it is known of whole recordings and of
// the parts that have results.

import { OfScope } from "../app/of_scope";
import { selectionOf } from "../app/open_trace";
import type { OfRangeProps } from "../app/pages";
import { scope, scopeWords } from "../app/scope";
import { bytes, position } from "../base/format";
import { Figures } from "../parts/figures";
import { MemoryChart } from "../parts/memory_chart";
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
  /** Exact: the curve of the chart has about one value a pixel. */
  readonly begin: number;
  readonly end: number;
  readonly peak: { readonly time_ns: number; readonly bytes: number };
}

/** Returns the value that holds at a moment; 0: nothing was allocated yet. */
async function valueAt(trace: Trace, track: number, time: number): Promise<number> {
  const { time_ns, most } = await trace.counter(track, time, time + 1, 0.001);
  let value = 0;
  time_ns.forEach((each, i) => {
    if (each <= time) value = most[i] as number;
  });
  return value;
}

/** Returns the first place of the greatest value. */
function greatest(values: Float64Array): number {
  return values.reduce((best, each, i) => (each > (values[best] as number) ? i : best), 0);
}

interface Uses {
  readonly uses: readonly Use[];
}

/** Returns what was live in the range. Null: no memory was recorded in it. */
async function usesOf(trace: Trace, selection: Selection): Promise<Uses | null> {
  const { start_ns, end_ns } = selection;
  const uses: Use[] = [];
  for (const track of trace.info.tracks) {
    if (track.kind !== "memory" || !isSelected(track, selection)) continue;
    const curve = await trace.counter(track.id, start_ns, end_ns, (end_ns - start_ns) / POINTS);
    if (curve.time_ns.length === 0) continue;
    const begin = await valueAt(trace, track.id, start_ns);
    const end = await valueAt(trace, track.id, end_ns - 1);
    // The value before the range is in the first point of the chart: it counts while it holds.
    const at = greatest(curve.most);
    const from = Math.max(curve.time_ns[at] as number, start_ns);
    const until = Math.min(curve.time_ns[at + 1] ?? end_ns, end_ns);
    const near = await trace.counter(track.id, from, until, 0.001);
    const top = greatest(near.most);
    const time_ns = Math.max(near.time_ns[top] ?? from, start_ns);
    uses.push({ track, curve, begin, end, peak: { time_ns, bytes: near.most[top] ?? begin } });
  }
  return uses.length === 0 ? null : { uses };
}

function UseOf({ trace, track, curve, begin, end, peak }: Use & { trace: Trace }) {
  const { start_ns, end_ns } = selectionOf(trace);
  const { time_ns, most, least } = curve;
  const low = least.reduce((one, other) => Math.min(one, other), begin);
  const points = [...time_ns].map((time, i) => ({
    time_ns: Math.max(time, start_ns),
    live_bytes: most[i] as number,
  }));
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
          { label: "At the end", value: bytes(end), below: "of the range" },
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

/** Shows the memory of the scope. */
export function MemoryOfRange({ source, otherwise }: OfRangeProps) {
  return (
    <OfScope source={source} ask={usesOf} otherwise={otherwise}>
      {({ uses }, trace) => (
        <div class="page">
          <p class="quiet">
            This page is of {scopeWords(scope.value)}. Who allocated the memory is known of the
            whole run, of processes and of devices.
          </p>
          {uses.map((use) => (
            <UseOf key={use.track.id} trace={trace} {...use} />
          ))}
        </div>
      )}
    </OfScope>
  );
}
