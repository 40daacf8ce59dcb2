// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Findings of advise: evidence, fix, caveat, gain, confidence, and links to the place.

import type { ComponentChildren } from "preact";
import { hashOf, timelineHash } from "../app/state";
import { duration, percent, SPACE } from "../base/format";
import type { Finding, Overview } from "../data/results";

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

/** Returns the moment that an evidence names ("at 17.0 ms"), in nanoseconds; null: none. */
export function momentOf(evidence: readonly string[]): number | null {
  for (const sentence of evidence) {
    const match = /\bat (\d[\d.,]*) (us|µs|ms|s)\b/.exec(sentence);
    if (match === null) continue;
    const scale = match[2] === "s" ? 1e9 : match[2] === "ms" ? 1e6 : 1e3;
    return Number((match[1] ?? "").replaceAll(",", "")) * scale;
  }
  return null;
}

/** Returns the window of the timeline that shows a finding: its moment, or the worst step. */
function placeOf(finding: Finding, overview: Overview): string | null {
  const step = overview.steps?.median_ns ?? 0;
  const moment = momentOf(finding.evidence);
  const worst = overview.step_points.reduce(
    (best, each) => (best === null || each.duration_ns > best.duration_ns ? each : best),
    null as { start_ns: number; duration_ns: number } | null,
  );
  if (moment !== null) {
    const around = Math.max(step / 20, 1e6);
    return timelineHash(Math.max(0, moment - around), moment + around);
  }
  return worst === null ? null : timelineHash(worst.start_ns, worst.start_ns + worst.duration_ns);
}

function One(props: { finding: Finding; number: number; overview: Overview }) {
  const { finding, overview } = props;
  const place = placeOf(finding, overview);
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
          {place !== null && <a href={place}>Show in timeline</a>}
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

export function Findings(props: { findings: readonly Finding[]; overview: Overview }) {
  const { findings, overview } = props;
  if (findings.length === 0) {
    return <p class="quiet">No rule of advice has something to say about this recording.</p>;
  }
  const list = (some: readonly Finding[], from: number) => (
    <ol class="findings">
      {some.map((finding, index) => (
        <One
          key={`${finding.id} ${finding.name}`}
          finding={finding}
          number={from + index}
          overview={overview}
        />
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
