// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Opens the events of the recording on the first visit to the timeline, and keeps them open.

import { useEffect, useState } from "preact/hooks";
import type { Source } from "../data/source";
import { Timeline } from "../pages/timeline";
import { Broken, Loading } from "../parts/states";
import type { Trace } from "../trace/api";
import { openTrace } from "../trace/client";

const opened = new WeakMap<Source, Promise<Trace>>();

function open(source: Source): Promise<Trace> {
  let trace = opened.get(source);
  if (trace === undefined) {
    trace = openTrace(source);
    opened.set(source, trace);
  }
  return trace;
}

type State =
  | { readonly state: "loading" }
  | { readonly state: "failed"; readonly why: string }
  | { readonly state: "open"; readonly trace: Trace };

/** Shows the timeline, or why there is none. */
export function TimelinePage({ source }: { readonly source: Source }) {
  const [now, setNow] = useState<State>({ state: "loading" });
  const hasEvents = source.files.length > 0;
  useEffect(() => {
    if (!hasEvents) return;
    let isShown = true;
    open(source).then(
      (trace) => isShown && setNow({ state: "open", trace }),
      (error: unknown) => {
        const why = error instanceof Error ? error.message : String(error);
        if (isShown) setNow({ state: "failed", why });
      },
    );
    return () => {
      isShown = false;
    };
  }, [source, hasEvents]);
  if (!hasEvents) return <NoEvents />;
  if (now.state === "loading") return <Loading what="the events of the recording" />;
  if (now.state === "open") return <Timeline trace={now.trace} />;
  return (
    <div class="page">
      <Broken title="The events cannot be read">
        {now.why}. The other pages are complete: their results are in the page by themselves.
      </Broken>
    </div>
  );
}

function NoEvents() {
  return (
    <div class="page">
      <div class="empty">
        <h1>The events are not in this page</h1>
        <p>All other pages are complete.</p>
        <p>
          <a href="#overview">Back to the overview</a>
        </p>
      </div>
    </div>
  );
}
