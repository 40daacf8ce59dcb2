// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The page "Trace viewer": search, tracks, drawer. The address follows what is seen, and leads back.

import { useEffect, useMemo, useRef } from "preact/hooks";
import type { FrameFigures } from "../timeline/canvas";
import { TimelineCanvas } from "../timeline/canvas";
import { HoverCard } from "../timeline/card";
import { Drawer } from "../timeline/drawer";
import { HitList } from "../timeline/hit_list";
import { commandOf, HELP, isControls, isTyping } from "../timeline/keys";
import { isLink, isOurs } from "../timeline/link";
import { Model } from "../timeline/model";
import "../timeline/timeline.css";
import "../timeline/narrow.css";
import { count, duration } from "../timeline/units";
import type { Window } from "../timeline/view";
import type { SelectedTracks, Trace } from "../trace/api";

export interface TimelineProps {
  readonly trace: Trace;
  /** The tracks that are shown. Absent: all. */
  readonly only?: SelectedTracks;
  /** What is seen first, if neither a link nor the last visit says it. Absent: everything. */
  readonly first?: string;
  /** Narrows all pages to a range. Absent: the drawer does not offer it. */
  readonly onNarrow?: (range: Window) => void;
  /** Called for each frame that was drawn. For figures. */
  readonly onFrame?: (figures: FrameFigures) => void;
}

/** Milliseconds after a key before the whole trace is searched. */
const TYPING_MS = 150;
const ADDRESS_MS = 300;
const MOST_TYPED = 1000;

/** What was seen of a trace when its page was left: the page comes back with it. */
const lastSeen = new WeakMap<Trace, string>();

/** Returns the address to begin with: a link, or what was seen before. */
function firstAddress(trace: Trace, first: string | undefined): string {
  const { hash } = location;
  return isLink(hash) ? hash : (first ?? lastSeen.get(trace) ?? hash);
}

/** Keeps the address of the page in step with the model. */
function useAddress(model: Model): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let written = "";
    const write = (): void => {
      if (!isOurs(location.hash)) return;
      written = model.link(location.hash);
      // The address is changed in place: going back leads to the page before, not to each zoom.
      if (written !== location.hash) history.replaceState(history.state, "", written);
    };
    const end = model.listen((what) => {
      if (what !== "all") return;
      clearTimeout(timer);
      timer = setTimeout(write, ADDRESS_MS);
    });
    const read = (): void => {
      if (isOurs(location.hash) && location.hash !== written) model.openHash(location.hash);
    };
    window.addEventListener("hashchange", read);
    return () => {
      clearTimeout(timer);
      lastSeen.set(model.trace, model.link());
      end();
      window.removeEventListener("hashchange", read);
    };
  }, [model]);
}

/** Gives the keys of the page to the model. */
function useKeys(model: Model, field: { readonly current: HTMLInputElement | null }): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || isTyping(event.target)) return;
      const command = commandOf(event);
      if (command === null || isControls(event.target, command)) return;
      event.preventDefault();
      if (command === "find") field.current?.focus();
      else model.run(command);
    };
    // Before the page's own keys: "?" here shows the keys of the timeline.
    window.addEventListener("keydown", press, true);
    return () => window.removeEventListener("keydown", press, true);
  }, [model, field]);
}

/** Shows the timeline of a trace. */
export function Timeline({ trace, only, first, onNarrow, onFrame }: TimelineProps) {
  const model = useMemo(() => new Model(trace, firstAddress(trace, first), only), [trace]);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => () => model.close(), [model]);
  useAddress(model);
  useKeys(model, field);
  return (
    <div class="tl">
      <header class="tl-head">
        <h2>Trace viewer</h2>
        <Search model={model} field={field} />
        <span class="tl-space" />
        <KeyHints />
        <button type="button" class="tl-button" onClick={() => model.show(model.whole, true)}>
          Whole capture
        </button>
        <button
          type="button"
          class="tl-button"
          aria-expanded={model.help.value}
          onClick={() => model.run("help")}
        >
          All keys <kbd>?</kbd>
        </button>
      </header>
      <Faults model={model} />
      {trace.info.tracks.length === 0 && trace.info.faults.length === 0 && (
        <p class="tl-empty">
          Nothing with a time was recorded. <code>gpuprof run -- CMD</code> records the GPU, CUDA
          calls, operators and Python.
        </p>
      )}
      <div class="tl-middle">
        <div class="tl-body">
          <TimelineCanvas model={model} onFrame={onFrame} />
          <Help model={model} />
        </div>
        <HitList model={model} />
      </div>
      <Drawer model={model} onNarrow={onNarrow} />
      <HoverCard model={model} />
      <Spoken model={model} />
    </div>
  );
}

function Search({
  model,
  field,
}: {
  readonly model: Model;
  readonly field: { current: HTMLInputElement | null };
}) {
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const match = model.match.value;
  useEffect(() => {
    // A row of the table or Esc changes the search too.
    const text = match?.text ?? "";
    if (field.current !== null && document.activeElement !== field.current) {
      // A name of a megabyte is searched as it is, and shown in part.
      field.current.value = text.slice(0, MOST_TYPED);
    }
  }, [match, field]);
  const type = (event: InputEvent): void => {
    const { value } = event.currentTarget as HTMLInputElement;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void model.find(value), TYPING_MS);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === "Enter") model.nextHit(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") {
      if (field.current !== null) field.current.value = "";
      field.current?.blur();
      void model.find("");
    } else return;
    event.preventDefault();
  };
  const answer = match?.answer;
  return (
    <>
      <input
        ref={field}
        class="tl-input"
        data-find
        type="search"
        maxLength={MOST_TYPED}
        placeholder="Find in the whole trace   /"
        aria-label="Find in the whole trace"
        onInput={type}
        onKeyDown={press}
      />
      {answer !== undefined && answer.hits.length > 0 && (
        <span class="tl-walk">
          <button
            type="button"
            class="tl-button"
            title="Shift Enter in the field"
            onClick={() => model.nextHit(-1)}
          >
            ‹ previous
          </button>
          <button
            type="button"
            class="tl-button"
            title="Enter in the field"
            onClick={() => model.nextHit(1)}
          >
            next ›
          </button>
        </span>
      )}
      <span class="tl-quiet" aria-live="polite">
        {answer !== undefined && (
          <>
            <b>{placeWords(model.hitIndex(), answer.count)}</b>
            {answer.count > 0 && `, ${duration(answer.total_ns)}`}
            {answer.hits.length < answer.count &&
              ` · the first ${count(answer.hits.length)} are marked`}
          </>
        )}
      </span>
    </>
  );
}

/** Tells which hit is selected: "3 of 42"; without one how many there are. */
export function placeWords(index: number, hits: number): string {
  return index < 0 ? `${count(hits)} found` : `${count(index + 1)} of ${count(hits)}`;
}

function KeyHints() {
  const hints: readonly (readonly [string, readonly string[]])[] = [
    ["zoom", ["W", "S"]],
    ["pan", ["A", "D"]],
    ["range", ["drag"]],
    ["fit", ["F"]],
    ["previous, next", [",", "."]],
    ["follow arrow", ["↵"]],
    ["mark", ["M"]],
  ];
  return (
    <span class="tl-hints" aria-hidden="true">
      {hints.map(([words, keys]) => (
        <span key={words}>
          {keys.map((key) => (
            <kbd key={key}>{key}</kbd>
          ))}{" "}
          {words}
        </span>
      ))}
    </span>
  );
}

function Help({ model }: { readonly model: Model }) {
  if (!model.help.value) return null;
  return (
    <section class="tl-help" aria-label="Keys">
      {HELP.map(([words, keys]) => (
        <div key={words + keys.join()}>
          {words}
          <span>
            {keys.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </span>
        </div>
      ))}
    </section>
  );
}

function Faults({ model }: { readonly model: Model }) {
  const faults = [...model.trace.info.faults, model.fault.value].filter((text) => text);
  if (faults.length === 0) return null;
  return (
    <div class="tl-faults" role="status">
      {faults.map((text) => (
        <p key={text}>{text}</p>
      ))}
    </div>
  );
}

function Spoken({ model }: { readonly model: Model }) {
  return (
    <div class="tl-spoken" aria-live="polite">
      {model.spoken.value}
    </div>
  );
}
