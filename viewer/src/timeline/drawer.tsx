// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The drawer: where the selected event comes from, the event, what ran. Without a selected event the
// sums of the range, or of the view, stand in its place. Narrow windows show one part at a time.

import { useEffect, useState } from "preact/hooks";
import { leftOutWords, plural } from "../base/format";
import type { ClassName, EventDetail, EventRef, RangeAnswer, TrackKind } from "../trace/api";
import { CLASSES, isSelected } from "../trace/api";
import { HitList } from "./hit_list";
import { shortName, shown } from "./labels";
import { Latest } from "./latest";
import type { Model } from "./model";
import { CLASS_WORDS, classVariable, isModule, SLOTS, slotOf } from "./palette";
import { RangeTable } from "./range_table";
import { isPlumbing } from "./rows";
import { count, duration, percent, position } from "./units";
import type { Window } from "./view";

const TABS: readonly (readonly [TrackKind, string])[] = [
  ["stream", "GPU"],
  ["sync", "GPU waits"],
  ["api", "CUDA API"],
  ["op", "Operators"],
  ["python", "Python"],
  ["range", "Ranges"],
  ["wait", "Waits"],
  ["overhead", "Overhead"],
  ["file_read", "File reads"],
];

/** Tabs whose rows lie within each other: their sums count inner ones again. */
const NESTED: ReadonlySet<TrackKind> = new Set(["api", "op", "python", "range"]);

/** Characters from which a value takes lines of its own. */
const LONG_VALUE = 40;

/** Causes that are listed at first, the nearest ones, and effects. */
const MOST_CAUSES = 6;
const MOST_EFFECTS = 12;

type Part = "selected" | "hits" | "ran";

/** The parts of the drawer, as a narrow window chooses among them. */
const PARTS: readonly (readonly [Part, string])[] = [
  ["selected", "Selected"],
  ["hits", "Hits"],
  ["ran", "What ran"],
];

export interface Sums {
  readonly range: Window;
  /** By kind; a kind without tracks has no answer. */
  readonly answers: ReadonlyMap<TrackKind, RangeAnswer>;
}

/** Returns the kinds of tracks that there are, in the order of the tabs. */
export function kindsOf({ trace, only }: Pick<Model, "trace" | "only">): TrackKind[] {
  const shown = trace.info.tracks.filter((track) => track.rows > 0 && isSelected(track, only));
  const there = new Set(shown.map((track) => track.kind));
  return TABS.map(([kind]) => kind).filter((kind) => there.has(kind));
}

/** Asks for the sums of a range whenever it changes; the last ones stay until the new are there. */
function useSums(model: Model, range: Window, kind: TrackKind | undefined): Sums | null {
  const [sums, setSums] = useState<Sums | null>(null);
  const [asker, setAsker] = useState<Latest<{ range: Window; kinds: TrackKind[] }, Sums>>();
  useEffect(() => {
    const made = new Latest<{ range: Window; kinds: TrackKind[] }, Sums>(
      async (question) => {
        const selection = { start_ns: question.range.start, end_ns: question.range.end };
        const answers = new Map<TrackKind, RangeAnswer>();
        for (const one of question.kinds) {
          answers.set(one, await model.trace.range(one, { ...selection, ...model.only }));
        }
        return { range: question.range, answers };
      },
      (_, answer, stale) => {
        if (!stale) setSums(answer);
      },
      (_, reason) => {
        const words = reason instanceof Error ? reason.message : String(reason);
        model.fault.value = `The sums could not be computed: ${shown(words)}`;
      },
    );
    setAsker(made);
    return () => made.close();
  }, [model]);
  useEffect(() => {
    // The sums need three kinds, the table the one of its tab: Python is not asked for in vain.
    const there = kindsOf(model);
    const wanted = there.filter(
      (one) => one === "stream" || one === "api" || one === "wait" || one === kind,
    );
    asker?.want({ range, kinds: wanted });
  }, [model, asker, range, kind]);
  return sums;
}

/** Shows the drawer below the tracks. */
export function Drawer({
  model,
  onNarrow,
}: {
  readonly model: Model;
  readonly onNarrow?: ((range: Window) => void) | undefined;
}) {
  const kinds = kindsOf(model);
  const [tab, setTab] = useState<TrackKind | undefined>(undefined);
  const kind = tab ?? kinds[0];
  const selection = model.selection.value;
  const range = selection ?? model.settled.value;
  const sums = useSums(model, range, kind);
  const answer = kind === undefined ? undefined : sums?.answers.get(kind);
  const isThere =
    sums?.range.start === range.start &&
    sums.range.end === range.end &&
    (kind === undefined || answer !== undefined);
  const isBusy = !isThere && model.fault.value === "";
  const picked = model.picked.value;
  const [part, setPart] = useState<Part>("selected");
  const [height, setHeight] = useState(HEIGHT_PX);
  // What was just asked for is what a narrow window shows.
  useEffect(() => {
    if (picked !== null) setPart("selected");
  }, [picked]);
  return (
    <section
      class={picked === null ? "tl-drawer" : "tl-drawer tl-of-one"}
      aria-label="What ran"
      aria-busy={isBusy || undefined}
      data-part={part}
      style={{ height: `${height}px` }}
    >
      <Grip height={height} onHeight={setHeight} />
      <fieldset class="tl-seg tl-parts" aria-label="Part of the drawer">
        {PARTS.map(([one, words]) => (
          <button key={one} type="button" aria-pressed={one === part} onClick={() => setPart(one)}>
            {words}
          </button>
        ))}
      </fieldset>
      {picked === null ? (
        <RangeSums model={model} sums={sums} selected={selection !== null} onNarrow={onNarrow} />
      ) : (
        <>
          <Origin model={model} detail={picked} />
          <Picked model={model} detail={picked} />
        </>
      )}
      <HitList model={model} />
      <div class="tl-ran">
        <div class="tl-ran-head">
          <h2>What ran</h2>
          {picked !== null && onNarrow !== undefined && (
            <button type="button" class="tl-link" onClick={() => onNarrow(range)}>
              Narrow every page to {duration(range.end - range.start)}
            </button>
          )}
          <fieldset class="tl-seg" aria-label="Rows of">
            {TABS.filter(([one]) => kinds.includes(one)).map(([one, words]) => (
              <button type="button" aria-pressed={one === kind} onClick={() => setTab(one)}>
                {one === "stream" ? (model.trace.info.device_word ?? words) : words}
              </button>
            ))}
          </fieldset>
          {answer !== undefined && (
            <span class="tl-quiet">
              {plural(answer.rows.length, "name", "names")}, cut at the range’s edges
              {NESTED.has(answer.kind) ? "; nested calls included" : ""}
              {answer.one_in === undefined
                ? ""
                : `; estimates: one in ${answer.one_in} was recorded`}
              {answer.busy_ns.length > 1 ? `; sums of ${count(answer.busy_ns.length)} tracks` : ""}
              {answer.left_out > 0 ? `. ${leftOutWords(answer.left_out)}` : ""}
            </span>
          )}
        </div>
        {answer === undefined || sums === null ? (
          <p class="tl-quiet">
            {kind === undefined && model.trace.info.faults.length === 0
              ? "Nothing was recorded."
              : ""}
          </p>
        ) : answer.rows.length === 0 && answer.left_out > 0 ? (
          <p class="tl-quiet">{leftOutWords(answer.left_out)}</p>
        ) : answer.rows.length === 0 ? (
          <p class="tl-quiet">Nothing of this kind ran in this range.</p>
        ) : (
          <RangeTable
            rows={answer.rows}
            {...baseOf(answer, sums.range)}
            coloured={answer.kind === "stream"}
            label="What ran in the range"
            onPick={(name) => void model.find(name)}
          />
        )}
      </div>
    </section>
  );
}

/** Height of the drawer at first, at least, and in a step of the keyboard. */
const HEIGHT_PX = 248;
const LEAST_PX = 96;
const STEP_PX = 24;

/** The upper edge of the drawer: the pointer drags it, arrow keys move it. */
function Grip(props: { readonly height: number; readonly onHeight: (height: number) => void }) {
  const { height, onHeight } = props;
  const most = Math.max(LEAST_PX, window.innerHeight - 320);
  const set = (wanted: number): void => onHeight(Math.min(Math.max(wanted, LEAST_PX), most));
  const drag = (event: PointerEvent): void => {
    const grip = event.currentTarget as HTMLElement;
    const from = event.clientY + height;
    grip.setPointerCapture(event.pointerId);
    const move = (moved: PointerEvent): void => set(from - moved.clientY);
    grip.addEventListener("pointermove", move);
    grip.addEventListener(
      "lostpointercapture",
      () => grip.removeEventListener("pointermove", move),
      {
        once: true,
      },
    );
  };
  const press = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowUp" ? STEP_PX : event.key === "ArrowDown" ? -STEP_PX : 0;
    if (step === 0) return;
    event.preventDefault();
    event.stopPropagation();
    set(height + step);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule between parts cannot be moved.
    <div
      class="tl-grip"
      role="separator"
      aria-label="Height of the drawer"
      aria-orientation="horizontal"
      aria-valuenow={Math.round(height)}
      aria-valuemin={LEAST_PX}
      aria-valuemax={Math.round(most)}
      tabIndex={0}
      onPointerDown={drag}
      onKeyDown={press}
    />
  );
}

/** Returns what the shares of a table are of: with several tracks a range would not add up. */
function baseOf(answer: RangeAnswer, range: Window): { base_ns: number; base: string } {
  if (answer.busy_ns.length <= 1) return { base_ns: range.end - range.start, base: "of range" };
  return { base_ns: answer.busy_ns.reduce((sum, one) => sum + one.busy_ns, 0), base: "of busy" };
}

function RangeSums({
  model,
  sums,
  selected,
  onNarrow,
}: {
  readonly model: Model;
  readonly sums: Sums | null;
  readonly selected: boolean;
  readonly onNarrow?: ((range: Window) => void) | undefined;
}) {
  if (sums === null) return <div class="tl-sums" />;
  const { range, answers } = sums;
  const length = range.end - range.start;
  const gpu = answers.get("stream");
  const api = answers.get("api");
  const waits = answers.get("wait");
  const total = (answer: RangeAnswer): number =>
    answer.rows.reduce((sum, row) => sum + row.total_ns, 0);
  const events = (answer: RangeAnswer): number =>
    answer.rows.reduce((sum, row) => sum + row.count, 0);
  const streams = [...(gpu?.busy_ns ?? [])].sort((a, b) => b.busy_ns - a.busy_ns);
  const devices = new Set(streams.map(({ track }) => model.groupsOfTracks[track]));
  return (
    <div class="tl-sums">
      <h2>{selected ? "Selected range" : "Visible range"}</h2>
      <dl>
        <dt>length</dt>
        <dd>{duration(length)}</dd>
        <dt>from</dt>
        <dd>{position(range.start, model.whole.end)}</dd>
        {streams.slice(0, 3).map(({ track, busy_ns }) => (
          <>
            <dt>{streamName(model, track, devices.size > 1)} busy</dt>
            <dd>{percent(busy_ns / Math.max(length, 1))}</dd>
          </>
        ))}
        {streams.length > 3 && (
          <>
            <dt>further streams</dt>
            <dd>{count(streams.length - 3)}</dd>
          </>
        )}
      </dl>
      {gpu !== undefined && gpu.rows.length > 0 && (
        <ClassBar answer={gpu} length={length * Math.max(streams.length, 1)} />
      )}
      <dl>
        {gpu !== undefined && (
          <>
            <dt>GPU events</dt>
            <dd>{count(events(gpu))}</dd>
          </>
        )}
        {api !== undefined && (
          <>
            <dt>CUDA calls</dt>
            <dd>{count(events(api))}</dd>
          </>
        )}
        {waits !== undefined && (
          <>
            <dt>host waits</dt>
            <dd>{duration(total(waits))}</dd>
          </>
        )}
      </dl>
      {onNarrow !== undefined && (
        <button type="button" class="tl-link" onClick={() => onNarrow(range)}>
          Narrow every page to this range
        </button>
      )}
      <p class="tl-quiet">
        Click a slice for its origin and its arguments. Drag across the tracks to select a range.
      </p>
    </div>
  );
}

/** Names a stream, with its device if there are several. */
function streamName(model: Model, track: number, several: boolean): string {
  const info = model.trace.info.tracks[track];
  const name = shown(info?.name ?? "", 24);
  return several && info !== undefined
    ? `${model.trace.info.device_word ?? "GPU"} ${info.device} ${name}`
    : name;
}

/** Shows how the time of the streams divides into classes; the rest is idle. */
function ClassBar({ answer, length }: { readonly answer: RangeAnswer; readonly length: number }) {
  const sums = new Map<string, number>();
  for (const row of answer.rows) sums.set(row.cls, (sums.get(row.cls) ?? 0) + row.total_ns);
  const order = (cls: (typeof CLASSES)[number]): number =>
    SLOTS.indexOf(slotOf(CLASSES.indexOf(cls), "stream"));
  const there = CLASSES.filter((cls) => (sums.get(cls) ?? 0) > 0).sort(
    (a, b) => order(a) - order(b),
  );
  const words = there.map(
    (cls) => `${CLASS_WORDS[cls]} ${percent((sums.get(cls) ?? 0) / Math.max(length, 1))}`,
  );
  return (
    <div class="tl-classes" role="img" aria-label={words.join(", ")} title={words.join("\n")}>
      {there.map((cls) => (
        <i
          style={{
            flexBasis: `${((sums.get(cls) ?? 0) / Math.max(length, 1)) * 100}%`,
            background: classVariable(cls),
          }}
        />
      ))}
    </div>
  );
}

/** What kind of event a track has, for the list of causes. */
const STAGES: Readonly<Record<TrackKind, string>> = {
  stream: "GPU",
  graph_lane: "graph",
  sync: "wait",
  queue: "queue",
  memory: "memory",
  counter: "counter",
  steps: "step",
  api: "call",
  op: "operator",
  python: "Python",
  range: "range",
  wait: "wait",
  overhead: "overhead",
  file_read: "file",
};

/** Tells what an event of a track is: a frame of a module is part of the program's structure. */
function stageOf(model: Model, track: number, name: string, cls?: ClassName): string {
  const kind = model.trace.info.tracks[track]?.kind ?? "stream";
  if (kind === "stream" && cls !== undefined) {
    return cls === "memcpy" ? "copy" : cls === "memset" ? "memset" : "kernel";
  }
  return kind === "python" && isModule(name) ? "module" : STAGES[kind];
}

/** Shows the chain of causes from the outermost, the event, and what it caused in turn. */
function Origin({ model, detail }: { readonly model: Model; readonly detail: EventDetail }) {
  const [isWhole, setWhole] = useState(false);
  const isDevice = model.trace.info.tracks[detail.track]?.device !== null;
  const causes = [...detail.causes].reverse();
  const inner = causes.filter((ref) => !isPlumbing(ref.name)).slice(-MOST_CAUSES);
  const folded = causes.length - inner.length;
  const effects = detail.effects.slice(0, MOST_EFFECTS);
  const more = detail.effects.length - effects.length;
  const row = (ref: EventRef) => (
    <li key={`${ref.track} ${ref.row}`}>
      <span>{stageOf(model, ref.track, ref.name)}</span>
      <button
        type="button"
        class="tl-link"
        title={shown(ref.name, 2000)}
        onClick={() => void model.pick(ref.track, ref.row, "all")}
      >
        <bdi>{shortName(ref.name)}</bdi>
      </button>
      <em>{duration(ref.end_ns - ref.start_ns)}</em>
    </li>
  );
  return (
    <div class="tl-from">
      <h2>
        Where it comes from
        {folded > 0 && (
          <small>
            {count(folded)} outer frames {isWhole ? "shown" : "folded"} ·{" "}
            <button type="button" class="tl-link" onClick={() => setWhole(!isWhole)}>
              {isWhole ? "fold" : "show"}
            </button>
          </small>
        )}
      </h2>
      <ol class="tl-origin">
        {(isWhole ? causes : inner).map(row)}
        <li class="tl-me" aria-current="true">
          <span>{stageOf(model, detail.track, detail.name, detail.cls)}</span>
          <bdi title={shown(detail.name, 2000)}>
            {isDevice && <i class="tl-swatch" style={{ background: classVariable(detail.cls) }} />}
            {shortName(detail.name)}
          </bdi>
          <em>{duration(detail.duration_ns)}</em>
        </li>
        {effects.map(row)}
        {more > 0 && (
          <li>
            <span />
            {count(more)} more
          </li>
        )}
      </ol>
      <p class="tl-quiet">{launchWords(detail, isDevice)}</p>
    </div>
  );
}

/** Tells how long before a piece of work its launch was. */
function launchWords(detail: EventDetail, isDevice: boolean): string {
  if (!isDevice) return detail.causes.length === 0 ? "Nothing else caused it." : "";
  const launch = detail.causes.find((ref) => ref.track !== detail.track);
  if (launch === undefined) return "Its launch is not in the capture.";
  const between = detail.start_ns - launch.end_ns;
  return between > 0
    ? `Its launch ended ${duration(between)} before it began.`
    : "It began while it was launched.";
}

/** Shows the selected event: when, how long, and its arguments. */
function Picked({ model, detail }: { readonly model: Model; readonly detail: EventDetail }) {
  const short = detail.fields.filter((field) => field.value.length <= LONG_VALUE);
  const long = detail.fields.filter((field) => field.value.length > LONG_VALUE);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard must reach it.
    <div class="tl-picked" tabIndex={0}>
      <h2>This {stageOf(model, detail.track, detail.name, detail.cls)}</h2>
      <dl>
        <dt>start</dt>
        <dd title={`${count(detail.start_ns)} ns`}>{position(detail.start_ns, model.whole.end)}</dd>
        <dt>duration</dt>
        <dd title={`${count(detail.duration_ns)} ns`}>{duration(detail.duration_ns)}</dd>
        {short.map((field) => (
          <>
            <dt>{shown(field.name, 60)}</dt>
            <dd>
              <bdi>{shown(field.value, 500)}</bdi>
            </dd>
          </>
        ))}
      </dl>
      {long.map((field) => (
        <>
          <h3>{shown(field.name, 60)}</h3>
          <p class="tl-long">
            <bdi>{shown(field.value, 4000)}</bdi>
          </p>
        </>
      ))}
    </div>
  );
}
