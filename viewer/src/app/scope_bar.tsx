// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What all pages are narrowed to, and the parts that they can be narrowed to without a selection in
// the timeline.

import { duration } from "../base/format";
import type { Source } from "../data/source";
import { isWhole, narrowTo, parsePart, partOf, scope, scopeWords, WHOLE } from "./scope";
import { deviceWord, route, timelineHash } from "./state";
import { useResult } from "./use_result";

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

/** Offers steps, processes and devices, where there are several. */
function Choices({ source }: { source: Source }) {
  const overview = useResult("overview");
  const overlap = useResult("overlap");
  const steps = (source.manifest.parts ?? []).flatMap(({ name, step }): Choice[] =>
    step === undefined ? [] : [[name, `Step ${step}`]],
  );
  const processes = (overview.state === "ready" ? overview.value.processes : []).map(
    ({ pid, name }): Choice => [`pid=${pid}`, `${name} ${pid}`],
  );
  const numbers = (overlap.state === "ready" ? overlap.value.devices : []).map(
    (each) => each.device,
  );
  const devices = [...new Set(numbers)].map(
    (each): Choice => [`device=${each}`, `${deviceWord.value} ${each}`],
  );
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
        const { range, pid, device } = parsePart(currentTarget.value);
        narrowTo({
          ...(range && { range }),
          ...(pid && { pid }),
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
  const { range } = scope.value;
  const part = partOf({ ...WHOLE, range });
  const step = source.manifest.parts?.find(({ name }) => name === part)?.step;
  return (
    <span class="scope">
      Scope <b>{isWhole(scope.value) ? "whole run" : scopeWords(scope.value)}</b>{" "}
      {range !== null &&
        (step === undefined ? `from ${duration(range.start_ns)} ` : `of step ${step} `)}
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
