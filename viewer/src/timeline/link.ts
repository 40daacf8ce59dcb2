// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Deep links: "#timeline?v=FROM,TO&sel=FROM,TO&event=TRACK.ROW&q=TEXT", times in nanoseconds of the
// trace, TEXT to find. Results name events by their times: "on=PID.tTID" or "on=PID.dDEVICE" selects
// the event of this thread or device that fills the selection. A link is anybody's text: what does not fit is left out, never guessed.

import { clamp, type Window } from "./view";

export interface Link {
  readonly view?: Window;
  readonly selection?: Window;
  readonly event?: { readonly track: number; readonly row: number };
  readonly find?: string;
  readonly on?: Owner;
}

/** A thread or a device of a process. */
export interface Owner {
  readonly pid: number;
  readonly kind: "thread" | "device";
  readonly id: number;
}

/** Characters of a search that an address keeps: an address of a megabyte is of no use. */
const MOST_FIND = 200;
const KEYS = ["v", "sel", "event", "q", "on"] as const;

const PAGE = "timeline";

/** Says if an address names this page. */
export function isOurs(hash: string): boolean {
  const name = hash.replace(/^#/, "").split("?")[0];
  return name === PAGE;
}

/** Says if an address leads to a place of the timeline. */
export function isLink(hash: string): boolean {
  const query = new URLSearchParams(hash.split("?")[1] ?? "");
  return KEYS.some((key) => query.has(key));
}

function pair(text: string | null, whole: Window): Window | undefined {
  if (text === null) return undefined;
  const parts = text.split(",");
  if (parts.length !== 2 || parts.some((part) => part.trim() === "")) return undefined;
  const [from, to] = parts.map(Number);
  if (from === undefined || to === undefined) return undefined;
  if (!Number.isFinite(from) || !Number.isFinite(to) || to <= from) return undefined;
  if (to <= whole.start || from >= whole.end) return undefined;
  return clamp({ start: from, end: to }, whole);
}

function owner(text: string | null): Owner | undefined {
  const found = /^(\d{1,10})\.([td])(\d{1,10})$/.exec(text ?? "");
  if (found === null) return undefined;
  const kind = found[2] === "t" ? "thread" : "device";
  return { pid: Number(found[1]), kind, id: Number(found[3]) };
}

/** Reads the part of an address behind the "#". */
export function readLink(hash: string, whole: Window, tracks: readonly { rows: number }[]): Link {
  if (!isOurs(hash)) return {};
  const question = hash.indexOf("?");
  if (question < 0) return {};
  const query = new URLSearchParams(hash.slice(question + 1));
  const view = pair(query.get("v"), whole);
  const selection = pair(query.get("sel"), whole);
  const event = /^(\d{1,9})\.(\d{1,15})$/.exec(query.get("event") ?? "");
  const track = event === null ? -1 : Number(event[1]);
  const row = event === null ? -1 : Number(event[2]);
  const info = tracks[track];
  const find = query.get("q") ?? "";
  const on = owner(query.get("on"));
  return {
    ...(view === undefined ? {} : { view }),
    ...(selection === undefined ? {} : { selection }),
    ...(info !== undefined && row >= 0 && row < info.rows ? { event: { track, row } } : {}),
    ...(find.trim() === "" ? {} : { find: find.slice(0, MOST_FIND) }),
    ...(on === undefined ? {} : { on }),
  };
}

/** Writes an address. The whole trace needs no `v`; what others keep in an old one stays. */
export function writeLink(link: Link, whole: Window, old = ""): string {
  const parts: string[] = [];
  const put = (key: string, window: Window | undefined): void => {
    if (window === undefined) return;
    parts.push(`${key}=${Math.floor(window.start)},${Math.ceil(window.end)}`);
  };
  const all =
    link.view === undefined || (link.view.start <= whole.start && link.view.end >= whole.end);
  if (!all) put("v", link.view);
  put("sel", link.selection);
  if (link.event !== undefined) parts.push(`event=${link.event.track}.${link.event.row}`);
  const find = link.find?.slice(0, MOST_FIND) ?? "";
  const rest = new URLSearchParams(isOurs(old) ? (old.split("?")[1] ?? "") : "");
  for (const key of KEYS) rest.delete(key);
  if (find !== "") rest.set("q", find);
  if (rest.size > 0) parts.push(rest.toString());
  return parts.length === 0 ? `#${PAGE}` : `#${PAGE}?${parts.join("&")}`;
}
