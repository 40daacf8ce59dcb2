// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A flame graph in the order of time: the calls of one thread, each where it ran. Arrow keys move, Enter
// zooms, Escape goes back.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { timelineHash } from "../app/state";
import { count, duration, position } from "../base/format";
import type { SpansAnswer, Trace } from "../trace/api";
import { hideCard, showCard } from "./card";
import { boxBeside, extent, type TimeBox, timeBoxes, type View } from "./time_boxes";

const ROW_PX = 22;
/** Boxes wider than this have a label. */
const LABEL_PX = 22;
/** Calls narrower than 8 px are gathered: the trace gathers below 4 px of what it is told. */
const COARSER = 2;

export interface TimeFlameProps {
  readonly trace: Trace;
  readonly track: number;
  /** Null: nothing is looked for. */
  readonly fits: ((name: string) => boolean) | null;
}

function words(box: TimeBox): string {
  return box.name === null ? `${count(box.count)} calls` : box.name.slice(0, 120);
}

/** Returns whether a call is that of a module of PyTorch. */
function isModule(box: TimeBox): boolean {
  return box.name?.startsWith("nn.Module: ") === true;
}

function Detail({ box, end_ns }: { box: TimeBox; end_ns: number }) {
  const length = box.end_ns - box.start_ns;
  return (
    <div class="drawer" style={{ height: "96px", gridTemplateColumns: "minmax(0, 1fr)" }}>
      <div>
        <h2 style={{ overflowWrap: "anywhere" }}>
          {(box.name ?? words(box)).slice(0, 400)}
          <small>
            {box.name === null ? `busy ${duration(box.busy_ns)} of ` : ""}
            {duration(length)} from {position(box.start_ns, end_ns)}
          </small>
        </h2>
        <p class="links">
          <a href={timelineHash(box.start_ns - length * 0.05, box.end_ns + length * 0.05)}>
            Show in timeline
          </a>
        </p>
      </div>
    </div>
  );
}

/** Asks for the spans of a view. Null: the answer is not there yet. */
function useSpans(trace: Trace, track: number, view: View | null, width: number) {
  const [answer, setAnswer] = useState<{ view: View; spans: SpansAnswer } | null>(null);
  useEffect(() => {
    if (view === null || width === 0) return undefined;
    let isWanted = true;
    const pixel = ((view.end_ns - view.start_ns) / width) * COARSER;
    trace.spans([track], view.start_ns, view.end_ns, pixel).then(
      (spans) => isWanted && setAnswer({ view, spans }),
      () => undefined,
    );
    return () => {
      isWanted = false;
    };
  }, [trace, track, view, width]);
  return answer;
}

export function TimeFlame({ trace, track, fits }: TimeFlameProps) {
  const host = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [views, setViews] = useState<readonly View[]>([]);
  const [picked, setPicked] = useState<TimeBox | null>(null);
  const { start_ns, end_ns } = trace.info;

  useLayoutEffect(() => {
    const place = host.current;
    if (place === null) return undefined;
    const observer = new ResizeObserver(() => setWidth(place.clientWidth));
    observer.observe(place);
    return () => observer.disconnect();
  }, []);
  // The thread may have run in a part of the capture only.
  useEffect(() => {
    let isWanted = true;
    setPicked(null);
    trace.spans([track], start_ns, end_ns, (end_ns - start_ns) / 1000).then(
      (spans) => isWanted && setViews([extent(spans) ?? { start_ns, end_ns }]),
      () => isWanted && setViews([{ start_ns, end_ns }]),
    );
    return () => {
      isWanted = false;
    };
  }, [trace, track]);

  const view = views[views.length - 1] ?? null;
  const answer = useSpans(trace, track, view, width);
  const boxes = useMemo(
    () => (answer === null ? [] : timeBoxes(answer.spans, answer.view, width)),
    [answer, width],
  );
  const rows = boxes.reduce((most, box) => Math.max(most, box.depth + 1), 0);
  const tab = Math.max(0, picked === null ? 0 : boxes.indexOf(picked));

  const zoom = (box: TimeBox) => {
    setPicked(null);
    setViews([
      ...views,
      { start_ns: box.start_ns, end_ns: Math.max(box.end_ns, box.start_ns + 1) },
    ]);
  };
  const onKey = (event: KeyboardEvent) => {
    const index = Number((event.target as HTMLElement).dataset.box);
    const box = boxes[index];
    if (box === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter") {
      event.preventDefault();
      zoom(box);
    } else if (event.key === "Escape" && views.length > 1) {
      event.stopPropagation();
      setViews(views.slice(0, -1));
    } else if (event.key.startsWith("Arrow")) {
      event.preventDefault();
      const next = boxBeside(boxes, index, event.key);
      if (next === undefined) return;
      setPicked(boxes[next] ?? null);
      host.current?.querySelector<HTMLElement>(`[data-box="${next}"]`)?.focus();
    }
  };
  const hover = (box: TimeBox, event: PointerEvent) =>
    showCard({
      x: event.clientX,
      y: event.clientY,
      title: words(box),
      pairs: [
        ["took", duration(box.end_ns - box.start_ns)],
        ...(box.name === null ? ([["busy", duration(box.busy_ns)]] as const) : []),
        ["at", position(box.start_ns, end_ns)],
      ],
      click: "Click selects, double-click zooms",
    });
  return (
    <>
      <div style={{ padding: "4px 24px" }} class="prose links">
        <span>
          {view === null
            ? "Reading the calls."
            : `${duration(view.end_ns - view.start_ns)} from ${position(view.start_ns, end_ns)}, in the order of time.`}
        </span>
        {views.length > 1 && (
          <>
            <button type="button" class="link" onClick={() => setViews(views.slice(0, -1))}>
              Back
            </button>
            <button type="button" class="link" onClick={() => setViews(views.slice(0, 1))}>
              All calls
            </button>
          </>
        )}
      </div>
      <div style={{ padding: "0 24px", flex: 1, display: "flex", minHeight: 0 }}>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: its boxes are buttons; arrows move among them. */}
        <div class="flame" ref={host} onKeyDown={onKey} onPointerLeave={hideCard}>
          <div style={{ height: `${rows * ROW_PX}px` }}>
            {boxes.map((box, index) => {
              const isHit = fits !== null && box.name !== null && fits(box.name);
              const classes = [box.name === null && "hatch", fits && (isHit ? "hit" : "dim")];
              return (
                <button
                  key={index}
                  type="button"
                  data-box={index}
                  tabIndex={index === tab ? 0 : -1}
                  class={classes.filter(Boolean).join(" ") || undefined}
                  aria-pressed={box === picked}
                  aria-label={`${words(box)}, ${duration(box.end_ns - box.start_ns)}`}
                  style={{
                    left: `${box.x}px`,
                    top: `${box.depth * ROW_PX}px`,
                    width: `${box.width}px`,
                    padding: box.width < 10 ? 0 : undefined,
                    ...(isModule(box) && { background: "var(--n3)", fontWeight: 600 }),
                  }}
                  onClick={() => setPicked(box)}
                  onDblClick={() => zoom(box)}
                  onPointerMove={(event) => hover(box, event)}
                >
                  {box.width >= LABEL_PX ? words(box) : ""}
                </button>
              );
            })}
          </div>
        </div>
      </div>
      {picked !== null && <Detail box={picked} end_ns={end_ns} />}
    </>
  );
}
