// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Findings of advise: evidence, fix, caveat, gain, confidence, and links to the place.

import type { ComponentChildren } from "preact";
import { hashOf, placeHash } from "../app/state";
import { duration, percent, SPACE } from "../base/format";
import type { Finding, Place } from "../data/results";

const OPEN = 3;

/** Where the subject of a rule is shown, by the letters of its number. */
const PLACES: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  IN: [
    ["Steps that waited", "steps"],
    ["Threads", "threads"],
  ],
  TH: [["Threads", "threads"]],
  LK: [["Locks", "locks"]],
  LO: [["Locks", "locks"]],
  ME: [["Memory", "memory"]],
  LA: [["Kernels", "kernels"]],
  GP: [
    ["Kernels", "kernels"],
    ["Streams", "streams"],
  ],
  ID: [["Idle", "idle"]],
  SY: [["Idle", "idle"]],
  CO: [["Streams", "streams"]],
  ST: [["Steps", "steps"]],
  CP: [["Critical path", "critical_path"]],
};

const NUMBER = /(\d[\d.,]*)( (?:ns|us|µs|ms|s|%|KiB|MiB|GiB)(?![\w/])|(?= of \d+ steps))/g;

/** Makes figures of a sentence bold, with a space that does not break before the unit. */
export function emphasize(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const match of text.matchAll(NUMBER)) {
    const unit = (match[2] ?? "").trim().replace("us", "µs");
    parts.push(text.slice(end, match.index));
    parts.push(
      <strong key={match.index}>
        {match[1]}
        {unit === "" ? "" : SPACE + unit}
      </strong>,
    );
    end = match.index + match[0].length;
  }
  parts.push(text.slice(end));
  return parts;
}

/** Shows parts between backticks as code. */
function withCode(text: string): ComponentChildren[] {
  return text
    .split("`")
    .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}

/** What is at a place, for people. */
const PLACE_WORDS: Readonly<Record<Place["kind"], string>> = {
  none: "",
  longest_gap: "the longest gap",
  longest_call: "the longest call",
  longest_copy: "the longest copy",
  longest_wait: "the longest wait",
  longest_read: "the longest read",
  longest_kernel: "a launch in the typical step",
  longest_collective: "the longest collective",
  longest_run: "the longest run",
  longest_move: "the longest move",
  typical_step: "a typical step",
  longest_step: "the longest step",
  memory_peak: "the peak",
  start: "the start",
};

/** Tells what a link to a place shows: "the longest gap, 1.38 ms, in step 7". */
export function placeWords(place: Place): string {
  const length = place.end_ns - place.start_ns;
  const isStep = place.kind === "typical_step" || place.kind === "longest_step";
  return [
    PLACE_WORDS[place.kind],
    length > 0 ? duration(length) : "",
    place.step === null ? "" : `${isStep ? "" : "in "}step ${place.step}`,
  ]
    .filter((part) => part !== "")
    .join(", ");
}

function One(props: { finding: Finding; number: number }) {
  const { finding } = props;
  const { place } = finding;
  const gain = finding.recoverable_per_step_ns;
  return (
    <li class="finding">
      <span class="quiet">{props.number}</span>
      <div>
        <h3>{finding.name}</h3>
        {finding.evidence.map((sentence) => (
          <p key={sentence}>{emphasize(sentence)}</p>
        ))}
        {finding.fix.map((sentence, index) => (
          <p class="fix" key={sentence}>
            <strong>{index === 0 ? "Try" : "Or"}</strong> {withCode(sentence)}
          </p>
        ))}
        {finding.caveat !== "" && (
          <p>
            <strong>But</strong> {finding.caveat}
          </p>
        )}
        <div class="links">
          {place !== null && (
            <span>
              <a href={placeHash(place)}>Show in timeline</a>{" "}
              <span class="quiet">{placeWords(place)}</span>
            </span>
          )}
          {(PLACES[finding.id.slice(0, 2)] ?? []).map(([words, page]) => (
            <a key={page} href={hashOf(page)}>
              {words}
            </a>
          ))}
          <span title={finding.confidence?.reason}>
            {finding.id} · confidence {finding.confidence?.level ?? "none"}
          </span>
        </div>
      </div>
      <div class="gain">
        {gain === null ? (
          "gain not measured: compare step times"
        ) : (
          <>
            <b>{duration(gain)}</b>
            of each step, {percent(finding.recoverable_ratio)}
          </>
        )}
      </div>
    </li>
  );
}

export function Findings(props: { findings: readonly Finding[] }) {
  const { findings } = props;
  if (findings.length === 0) {
    return <p class="quiet">No rule of advice has something to say about this recording.</p>;
  }
  const list = (some: readonly Finding[], from: number) => (
    <ol class="findings">
      {some.map((finding, index) => (
        <One key={`${finding.id} ${finding.name}`} finding={finding} number={from + index} />
      ))}
    </ol>
  );
  const more = findings.slice(OPEN);
  return (
    <>
      {list(findings.slice(0, OPEN), 1)}
      {more.length > 0 && (
        <details>
          <summary>{more.length} more</summary>
          {list(more, OPEN + 1)}
        </details>
      )}
    </>
  );
}
