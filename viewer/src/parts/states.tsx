// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a page shows instead of data, or beside it: not recorded, loading, an error, losses.

import type { ComponentChildren } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { waits } from "../app/state";
import { PagePart } from "../app/use_result";
import type { Skipped } from "../data/results";
import { copyText } from "./table_bar";

/** Nothing for 300 ms, then a line and a text: what is read, or what a large result waits for. */
export function Loading({ what }: { what: string }) {
  const words = [...waits.value.values()];
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 300);
    return () => clearTimeout(timer);
  }, []);
  if (!isLate) return <div class="page" aria-busy="true" />;
  return (
    <div class="page" aria-busy="true">
      <div class="progress">
        <i />
      </div>
      <p class="quiet" role="status">
        {words.length === 0 ? `Reading ${what}.` : words.join(" ")}
      </p>
    </div>
  );
}

/** Something is broken: what it is, and what still works. */
export function Broken(props: { title: string; children: ComponentChildren }) {
  return (
    <div class="edge bad-edge" role="alert">
      <b>{props.title}</b>
      <div>{props.children}</div>
    </div>
  );
}

/** Something is left out or lost, and the rest is good. */
export function Remark({ children }: { children: ComponentChildren }) {
  return <div class="edge">{children}</div>;
}

export interface NotRecordedProps {
  /** "File reads were not recorded". */
  readonly title: string;
  /** Why, as a sentence. */
  readonly why: string;
  /** The option that records it: "--trace files"; empty: no option is needed. */
  readonly option: string;
  /** What the page would show, as a sentence. */
  readonly would: string;
}

/** The page of something that was not recorded, with the command that records it. */
export function NotRecorded(props: NotRecordedProps) {
  const isPart = useContext(PagePart) !== "";
  return (
    <div class="page">
      <div class="empty">
        <h1>{isPart ? "This part of the run has nothing to show here" : props.title}</h1>
        <p>{isPart ? "“Whole run” above shows whether the recording has it." : props.why}</p>
        {!isPart && props.option !== "" && <Command option={props.option} />}
        <h2>What this page would show</h2>
        <p>{props.would}</p>
        <p>
          <a href="#overview">Back to the overview</a>
        </p>
      </div>
    </div>
  );
}

function Command({ option }: { option: string }) {
  const [words, setWords] = useState("Copy");
  const copy = async () => {
    setWords((await copyText(`gpuprof run ${option} -- `)) ? "Copied" : "Not copied");
  };
  return (
    <div class="command">
      <code>
        gpuprof run <mark>{option}</mark> -- COMMAND
      </code>
      <button type="button" class="button" onClick={copy}>
        {words}
      </button>
    </div>
  );
}

/** Returns why one of these was not recorded, and the option that records it. */
export function whyNot(
  skipped: readonly Skipped[],
  names: readonly string[],
  otherwise: { why: string; option: string },
): { why: string; option: string } {
  const found = skipped.find((each) => names.includes(each.name));
  if (found === undefined) return otherwise;
  const option = /--trace \S+/.exec(found.fix)?.[0] ?? "";
  const why =
    found.reason === "not_in_source"
      ? "The trace of the other tool does not hold it. A recording of gpuprof does:"
      : "It is recorded only if it is asked for. Record again with one more option:";
  return { why, option };
}
