// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Findings of advise: what it is, what to try, what that wins. Evidence and doubts are folded.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { hashOf, placeHash } from "../app/state";
import { duration, plural, SPACE } from "../base/format";
import { gainWords } from "../base/gain";
import type { Finding, Place } from "../data/results";

const OPEN = 3;

type Places = readonly (readonly [string, string])[];

/** Where the subject of a rule is shown, by the letters of its number. */
const PLACES: Readonly<Record<string, Places>> = {
  IN: [
    ["Input", "input_pipeline"],
    ["Steps", "steps"],
    ["Threads", "threads"],
  ],
  TH: [["Threads", "threads"]],
  RU: [["Threads", "threads"]],
  ME: [["Memory", "memory"]],
  LA: [["Kernels", "kernels"]],
  GP: [["Kernels", "kernels"]],
  SY: [["Waits", "sync"]],
  CO: [["Overlap", "overlap"]],
  CP: [["Copies", "memcpy"]],
  ST: [["Steps", "steps"]],
  HO: [["Operations", "ops"]],
  OP: [["Operations", "ops"]],
  OV: [["Steps", "steps"]],
  PY: [["Functions", "python"]],
  EN: [["Capture health", "health"]],
};

/** Rules whose subject is elsewhere than that of their letters. */
const PLACES_OF_RULES: Readonly<Record<string, Places>> = {
  "CP-007": [["Memory", "memory"]],
  "GP-001": [["Idle", "idle"]],
  "GP-002": [["Idle", "idle"]],
  "GP-016": [["Processes", "processes"]],
  "IN-003": [["File reads", "files"]],
  "IN-007": [["Operations", "ops"]],
  "IN-008": [["File reads", "files"]],
  "LA-001": [["Idle", "idle"]],
  "LA-004": [["Calls", "api"]],
  "LA-005": [["Calls", "api"]],
  "LA-007": [["Calls", "api"]],
  "ST-003": [["Flame graph", "stacks"]],
  "SY-002": [["Calls", "api"]],
  "SY-003": [["Streams", "streams"]],
  "SY-004": [["Locks", "locks"]],
  "SY-005": [["Locks", "locks"]],
  "SY-006": [["Locks", "locks"]],
  "SY-007": [["Threads", "threads"]],
};

/** Returns the pages that show what a rule is about: their words and names. */
export function pagesOfRule(id: string): Places {
  return PLACES_OF_RULES[id] ?? PLACES[id.slice(0, 2)] ?? [];
}

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

/** Writes a gain: how much, of what, and how it was found. A finding that is not about time has none. */
function GainOf({ gain }: { gain: Finding["gain"] }) {
  if (gain === null) return null;
  const { amount, base, method } = gainWords(gain);
  return (
    <div class="gain">
      <b>{amount}</b>
      {base !== "" && <span>{base}</span>}
      {method !== "" && <span>{method}</span>}
    </div>
  );
}

function One(props: { finding: Finding; number: number }) {
  const { finding } = props;
  const { place } = finding;
  const [isOpen, setOpen] = useState(false);
  const [first, ...others] = finding.fix;
  const sure = (finding.confidence?.level ?? "none").replaceAll("_", " ");
  const hasMore = finding.evidence.length > 0 || others.length > 0 || finding.caveat !== "";
  return (
    <li class="finding">
      <span class="order">{props.number}</span>
      <div class="what">
        <h3>{finding.name}</h3>
        {first !== undefined && (
          <p class="fix">
            <strong>Try{first.charAt(0) === first.charAt(0).toLowerCase() ? "" : ":"}</strong>{" "}
            {withCode(first)}
          </p>
        )}
        <div class="links">
          {hasMore && (
            <button
              type="button"
              class="link fold"
              aria-expanded={isOpen}
              onClick={() => setOpen(!isOpen)}
            >
              Evidence
            </button>
          )}
          <span title={finding.confidence?.reason}>sure: {sure}</span>
          <span>{finding.id}</span>
          {place !== null && (
            <span>
              <a href={placeHash(place)}>Show in trace viewer</a>{" "}
              <span class="hide2">{placeWords(place)}</span>
            </span>
          )}
          {pagesOfRule(finding.id).map(([words, page]) => (
            <a key={page} href={hashOf(page)}>
              {words}
            </a>
          ))}
        </div>
      </div>
      <GainOf gain={finding.gain} />
      <div class={isOpen ? "more" : "more folded"}>
        {finding.evidence.map((sentence) => (
          <p key={sentence}>{emphasize(sentence)}</p>
        ))}
        {others.map((sentence) => (
          <p key={sentence}>
            <strong>Or</strong> {withCode(sentence)}
          </p>
        ))}
        {finding.caveat !== "" && (
          <p>
            <strong>But</strong> {finding.caveat}
          </p>
        )}
      </div>
    </li>
  );
}

export function Findings(props: { findings: readonly Finding[] }) {
  const { findings } = props;
  if (findings.length === 0) {
    return (
      <p class="quiet no-findings">No rule of advice has something to say about this recording.</p>
    );
  }
  const list = (some: readonly Finding[], from: number) => (
    <ol class="findings" start={from}>
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
        <details class="more-findings">
          <summary>{plural(more.length, "more finding", "more findings")}</summary>
          {list(more, OPEN + 1)}
        </details>
      )}
    </>
  );
}
