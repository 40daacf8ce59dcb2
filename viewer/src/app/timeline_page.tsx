// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The timeline with the events of the recording, or why there is none.

import type { Source } from "../data/source";
import { Timeline } from "../pages/timeline";
import { Broken, Loading } from "../parts/states";
import { selectionOf, useTrace } from "./open_trace";
import { allTime, narrowTo, partOf, scope } from "./scope";
import { timelineHash } from "./state";

export function TimelinePage({ source }: { readonly source: Source }) {
  return source.askTimeline === undefined && source.unreadable === undefined ? (
    <NoEvents />
  ) : (
    <Events source={source} />
  );
}

function Events({ source }: { readonly source: Source }) {
  const now = useTrace(source);
  if (now.state === "loading") return <Loading what="the events of the recording" />;
  if (now.state === "open") {
    const narrow = ({ start, end }: { start: number; end: number }) => {
      narrowTo({ range: { start_ns: start, end_ns: end }, step: null });
    };
    const { range } = scope.value;
    const { start_ns: _, end_ns: __, ...only } = selectionOf(now.trace);
    const first = range === null ? {} : { first: timelineHash(range.start_ns, range.end_ns) };
    // Other tracks are another timeline.
    const key = `${partOf(allTime(scope.value))} ${now.trace.info.is_rough === true}`;
    return <Timeline key={key} trace={now.trace} only={only} {...first} onNarrow={narrow} />;
  }
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
