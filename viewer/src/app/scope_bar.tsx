// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What all pages are narrowed to, and the parts that they can be narrowed to without a selection in
// the timeline.

import { duration } from "../base/format";
import type { Overview } from "../data/results";
import type { Source } from "../data/source";
import { hasPart, isWhole, narrowTo, parsePart, scope, scopeWords, WHOLE } from "./scope";
import { deviceWord, route, timelineHash } from "./state";
import { useResult, useSmallResult } from "./use_result";

/** Processes and devices are told by pages of their own: this many fit a list. */
const MOST_CHOICES = 64;

type Choice = readonly [part: string, words: string];

function Group({ label, choices }: { label: string; choices: readonly Choice[] }) {
  if (choices.length === 0) return null;
  return (
    <optgroup label={label}>
      {choices.slice(0, MOST_CHOICES).map(([part, words]) => (
        <option key={part} value={part}>
          {words.slice(0, 60)}
        </option>
      ))}
    </optgroup>
  );
}

/** Returns the steps that matter: those of a report, or the typical and the longest one. */
function stepsOf({ computes, manifest }: Source, overview: Overview | null): Choice[] {
  if (computes !== true) {
    return (manifest.parts ?? []).flatMap(({ name, step, start_ns, end_ns }): Choice[] =>
      step === undefined ? [] : [[`${start_ns},${end_ns};${name}`, `Step ${step}`]],
    );
  }
  const steps = (overview?.step_points ?? []).filter((step) => !step.warmup);
  const longest = steps.reduce((most, each) => Math.max(most, each.duration_ns), 0);
  const typical = overview?.device_series[0]?.typical_number;
  return steps.flatMap(({ number, start_ns, duration_ns }): Choice[] => {
    const why = number === typical ? "a typical one" : duration_ns === longest ? "the longest" : "";
    const part = `${start_ns},${start_ns + duration_ns};step=${number}`;
    return why === "" ? [] : [[part, `Step ${number}, ${why}`]];
  });
}

/** Offers steps, processes and devices, where there are several and the source has results of them. */
function Choices({ source }: { source: Source }) {
  const overview = useResult("overview");
  const overlap = useSmallResult("overlap");
  const has = ([part]: Choice) => hasPart(source, part);
  const run = overview.state === "ready" ? overview.value : null;
  const steps = stepsOf(source, run);
  const processes = (run?.processes ?? [])
    .map(({ pid, name }): Choice => [`pid=${pid}`, `${name} ${pid}`])
    .filter(has);
  const numbers = (overlap.state === "ready" ? overlap.value.devices : []).map(
    (each) => each.device,
  );
  const devices = [...new Set(numbers)]
    .map((each): Choice => [`device=${each}`, `${deviceWord.value} ${each}`])
    .filter(has);
  const groups = [
    ["Steps", steps],
    ["Processes", processes.length > 1 ? processes : []],
    [`${deviceWord.value}s`, devices.length > 1 ? devices : []],
  ] as const;
  if (groups.every(([, choices]) => choices.length === 0)) return null;
  return (
    <select
      class="input"
      aria-label="Narrow all pages"
      value=""
      onChange={({ currentTarget }) => {
        const { range, step, pid, device } = parsePart(currentTarget.value);
        narrowTo({
          ...(range !== null && { range, step }),
          ...(pid !== null && { pid }),
          ...(device !== null && { device }),
        });
        currentTarget.value = "";
        if (range !== null && route.value.page === "timeline")
          location.hash = timelineHash(range.start_ns, range.end_ns);
      }}
    >
      <option value="">Narrow</option>
      {groups.map(([label, choices]) => (
        <Group key={label} label={label} choices={choices} />
      ))}
    </select>
  );
}

/** Shows the scope. `window_ns`: the length of the run; null: not known yet. */
export function ScopeBar({ source, window_ns }: { source: Source; window_ns: number | null }) {
  const { range, step } = scope.value;
  const words = source.manifest.parts?.find(({ name }) => name === `step=${step}`)?.step;
  return (
    <span class="scope">
      Scope <b>{isWhole(scope.value) ? "whole run" : scopeWords(scope.value)}</b>
      {words?.slice(words.indexOf(","))} {range !== null && `from ${duration(range.start_ns)} `}
      {isWhole(scope.value) && window_ns !== null && `${duration(window_ns)} `}
      <Choices source={source} />
      {!isWhole(scope.value) && (
        <button
          type="button"
          class="button"
          onClick={() => {
            scope.value = WHOLE;
          }}
        >
          Whole run
        </button>
      )}
    </span>
  );
}
