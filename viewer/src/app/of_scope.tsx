// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the events tell of the scope. A page asks, and draws the answer. Without events, or if they
// cannot be read, the page of a wider part is shown.

import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { reasonOf } from "../base/reason";
import type { Source } from "../data/source";
import { Broken, Loading, Remark } from "../parts/states";
import type { Selection, Trace } from "../trace/api";
import { selectionOf, useTrace } from "./open_trace";
import { scope } from "./scope";

export interface OfScopeProps<T> {
  readonly source: Source;
  /** Asks the trace. Null: it has nothing of this kind. */
  readonly ask: (trace: Trace, selection: Selection) => Promise<T | null>;
  /** The page of a wider part, from results. */
  readonly otherwise: VNode;
  readonly children: (answer: T, trace: Trace) => VNode;
}

type Answer<T> = { readonly value: T } | { readonly why: string };

/** Asks the trace about the scope. Undefined: the answer is not there yet. */
function useAnswer<T>(trace: Trace, ask: OfScopeProps<T>["ask"]): Answer<T | null> | undefined {
  const now = scope.value;
  const [found, setFound] = useState<{ of: typeof now; answer: Answer<T | null> } | null>(null);
  useEffect(() => {
    let isWanted = true;
    const set = (answer: Answer<T | null>) => isWanted && setFound({ of: now, answer });
    ask(trace, selectionOf(trace)).then(
      (value) => set({ value }),
      (error: unknown) => set({ why: reasonOf(error) }),
    );
    return () => {
      isWanted = false;
    };
  }, [trace, now]);
  return found?.of === now ? found.answer : undefined;
}

function Unreadable({ why, otherwise }: { why: string; otherwise: VNode }) {
  return (
    <>
      <div class="page" style={{ paddingBottom: 0 }}>
        <Broken title="The events cannot be read">{why}.</Broken>
      </div>
      {otherwise}
    </>
  );
}

/** Shows the answer of the events to a question about the scope. */
export function OfScope<T>(props: OfScopeProps<T>) {
  const now = useTrace(props.source);
  if (now.state === "loading" || (now.state === "open" && now.trace.info.is_rough === true))
    return <Loading what="the events of the recording" />;
  if (now.state === "open") return <Asked {...props} trace={now.trace} />;
  return <Unreadable why={now.why} otherwise={props.otherwise} />;
}

function Asked<T>(props: OfScopeProps<T> & { readonly trace: Trace }) {
  const { trace, ask, otherwise, children } = props;
  const answer = useAnswer(trace, ask);
  if (answer === undefined) return <Loading what="the events of the range" />;
  if ("why" in answer) return <Unreadable why={answer.why} otherwise={otherwise} />;
  if (answer.value === null) return otherwise;
  const fault = trace.info.faults[0];
  return (
    <>
      {fault !== undefined && (
        <div class="page" style={{ paddingBottom: 0 }}>
          <Remark>Some events cannot be read, so figures may be wrong: {fault}.</Remark>
        </div>
      )}
      {children(answer.value, trace)}
    </>
  );
}
