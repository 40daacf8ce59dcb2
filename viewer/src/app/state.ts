// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the whole page shares: the source, the place in the hash, the theme, and results of passes.
// A result is decoded when the first part asks for it, and kept.

import { signal } from "@preact/signals";
import type { PassName, ResultOf } from "../data/results";
import { Gone, NoResult, type Source } from "../data/source";

export interface Route {
  readonly page: string;
  readonly params: URLSearchParams;
}

/** Rises when a link was followed: pages read the parameters of their place anew. */
export const visits = signal(0);

/** Reads a hash: "#kernels?q=gemm". An empty one is the overview. */
export function parseHash(hash: string): Route {
  const [page = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
  return { page: page === "" ? "overview" : page, params: new URLSearchParams(query) };
}

/** Returns the hash of a place. Empty values are left out. */
export function hashOf(page: string, params: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== ""));
  const text = query.toString();
  return `#${page}${text === "" ? "" : `?${text}`}`;
}

/** Returns the link to a window of the timeline, in nanoseconds of the bundle's time. */
export function timelineHash(start_ns: number, end_ns: number): string {
  return `#timeline?v=${Math.round(start_ns)},${Math.round(end_ns)}`;
}

/** A place in the timeline, as results tell it. */
export interface TimelinePlace {
  readonly start_ns: number;
  readonly end_ns: number;
  readonly pid: number;
  /** The thread, or the device: its row is shown, and the event selected. */
  readonly tid?: number | null;
  readonly device?: number | null;
}

/** A moment is shown with so much around it. */
const AROUND_MOMENT_NS = 1e6;

/** Returns the link to a place in the timeline: with what is around it, and selected. */
export function placeHash(place: TimelinePlace): string {
  const { start_ns, end_ns, pid } = place;
  const length = end_ns - start_ns;
  const margin = length > 0 ? length / 2 : AROUND_MOMENT_NS;
  const view = timelineHash(Math.max(0, start_ns - margin), end_ns + margin);
  if (length <= 0) return view;
  const row =
    place.tid != null ? `t${place.tid}` : place.device != null ? `d${place.device}` : null;
  const range = `${view}&sel=${Math.round(start_ns)},${Math.round(end_ns)}`;
  return row === null ? range : `${range}&on=${pid}.${row}`;
}

export const route = signal<Route>({ page: "overview", params: new URLSearchParams() });

/** Changes parameters of the place without a new entry in the browser's history. */
export function replaceParams(changes: Readonly<Record<string, string>>): void {
  // The timeline writes its part of the address by itself.
  const { page, params } = parseHash(location.hash);
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") params.delete(name);
    else params.set(name, value);
  }
  const query = params.toString();
  const hash = `#${page}${query === "" ? "" : `?${query}`}`;
  history.replaceState({}, "", hash);
  route.value = parseHash(hash);
}

export type Theme = "auto" | "light" | "dark";
export const theme = signal<Theme>("auto");
/** Rises when colours change: canvases draw again. */
export const themeChanges = signal(0);

/** Shows a theme. The choice is kept if the browser keeps anything for this page. */
export function setTheme(next: Theme): void {
  theme.value = next;
  if (next === "auto") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.setAttribute("data-theme", next);
  themeChanges.value += 1;
  try {
    localStorage.setItem("gpuprof-theme", next);
  } catch {
    // A page from a mail may have no storage.
  }
}

/** Reads the place and the theme, and follows the browser. */
export function followBrowser(): void {
  const read = () => {
    route.value = parseHash(location.hash);
    visits.value += 1;
  };
  read();
  addEventListener("hashchange", read);
  let kept: string | null = null;
  try {
    kept = localStorage.getItem("gpuprof-theme");
  } catch {
    kept = null;
  }
  const asked = route.value.params.get("theme") ?? kept;
  if (asked === "light" || asked === "dark") setTheme(asked);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    themeChanges.value += 1;
  });
}

/** What the devices of the recording are called. */
export const deviceWord = signal("GPU");

/** Returns a word or sentence of the page, which calls devices GPUs, in the words of the recording. */
export function inItsWords(text: string): string {
  return text.replace(/\bGPU/g, deviceWord.value);
}

export const source = signal<Source | null>(null);

/** The page whose results were asked for when the recording was not there any more; "": none. */
export const gonePage = signal("");

export type Loaded<T> =
  | { readonly state: "loading" }
  | { readonly state: "absent"; readonly reason: string; readonly isGone?: true }
  | { readonly state: "ready"; readonly value: T };

/** A range of the bundle's time, in nanoseconds. */
export interface Range {
  readonly start_ns: number;
  readonly end_ns: number;
}

/** What results wait for, in sentences for people, by the names of the results. */
export const waits = signal<ReadonlyMap<string, string>>(new Map());

/** A wait that is shorter is not spoken of. Then the words are asked for again and again. */
const WAIT_LOOK_MS = 700;
/** Parts of a page come and go while it is drawn. */
const LEAVE_MS = 200;

interface Kept {
  readonly answer: Promise<Loaded<unknown>>;
  /** Ends the wait. Absent: it is over. */
  abort?: AbortController;
  /** Parts of the page that wait. */
  users: number;
}

const kept = new Map<string, Kept>();

function nameOf(pass: string, part: string): string {
  return part === "" ? pass : `${pass}@${part}`;
}

function setWait(name: string, words: string): void {
  if ((waits.value.get(name) ?? "") === words) return;
  const next = new Map(waits.value);
  if (words === "") next.delete(name);
  else next.set(name, words);
  waits.value = next;
}

/** Keeps the words about a wait up to date until it ends. */
async function followWait(name: string, abort: AbortController, isOver: () => boolean) {
  const from = source.value;
  while (from?.waitOf !== undefined) {
    await new Promise((resolve) => setTimeout(resolve, WAIT_LOOK_MS));
    if (isOver() || abort.signal.aborted) break;
    const words = await from.waitOf(name);
    if (isOver() || abort.signal.aborted) break;
    setWait(name, words);
  }
  setWait(name, "");
}

function keep(pass: string, name: string): Kept {
  const found = kept.get(name);
  if (found !== undefined) return found;
  const abort = new AbortController();
  const entry: Kept = { answer: ask(pass, name, abort.signal), abort, users: 0 };
  kept.set(name, entry);
  entry.answer.then(() => {
    delete entry.abort;
    setWait(name, "");
  });
  followWait(name, abort, () => entry.abort === undefined);
  return entry;
}

/** Returns the result of a pass, or why there is none. A large one is "loading": it is not asked for. */
export async function loadSmall<P extends PassName>(
  pass: P,
  part = "",
): Promise<Loaded<ResultOf<P>>> {
  const name = nameOf(pass, part);
  const isLarge = !kept.has(name) && (await source.value?.isLarge?.(name)) === true;
  if (isLarge) return { state: "loading" };
  const entry = keep(pass, name);
  entry.users += 1;
  return entry.answer as Promise<Loaded<ResultOf<P>>>;
}

/**
 * Returns the result of a pass, or why there is none; of a part by its name (scope.ts). Returns how
 * to leave, too: when all have left a result that is not there yet, nobody waits for it any more.
 */
export function load<P extends PassName>(
  pass: P,
  part = "",
): [Promise<Loaded<ResultOf<P>>>, () => void] {
  const name = nameOf(pass, part);
  const entry = keep(pass, name);
  entry.users += 1;
  const leave = () => {
    entry.users -= 1;
    setTimeout(() => {
      if (entry.users > 0 || entry.abort === undefined) return;
      kept.delete(name);
      entry.abort.abort();
      setWait(name, "");
    }, LEAVE_MS);
  };
  return [entry.answer as Promise<Loaded<ResultOf<P>>>, leave];
}

async function ask(pass: string, name: string, signal: AbortSignal): Promise<Loaded<unknown>> {
  const from = source.value;
  const failure = from?.manifest.failed.find((each) => each.pass === pass);
  if (failure !== undefined) return { state: "absent", reason: failure.reason };
  try {
    const isHeld = from?.manifest.passes.includes(pass) === true;
    const value = isHeld ? await from.result(name, signal) : null;
    if (value !== null) return { state: "ready", value };
    return { state: "absent", reason: "This page does not hold the result." };
  } catch (error) {
    if (error instanceof Gone)
      return { state: "absent", reason: `${error.message}.`, isGone: true };
    if (error instanceof NoResult) return { state: "absent", reason: error.message };
    const words = error instanceof Error ? error.message : String(error);
    return { state: "absent", reason: `The result is damaged: ${words}` };
  }
}
