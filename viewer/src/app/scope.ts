// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What narrows all pages: a range of time, a process, a device. The address keeps it, by the name of
// the part: "FROM,TO;pid=PID;device=NUMBER", in nanoseconds of the bundle's time. A server has the
// results of every part, a report those of some.

import { effect, signal } from "@preact/signals";
import { duration } from "../base/format";
import type { Manifest } from "../data/source";
import { deviceWord, type Range, replaceParams, route } from "./state";

export interface Scope {
  /** Null: the whole run. */
  readonly range: Range | null;
  /** Null: all processes. */
  readonly pid: number | null;
  /** Null: all devices. */
  readonly device: number | null;
}

export const WHOLE: Scope = { range: null, pid: null, device: null };
export const scope = signal<Scope>(WHOLE);

export function isWhole({ range, pid, device }: Scope): boolean {
  return range === null && pid === null && device === null;
}

/** Returns the name of a part; "": the whole run. */
export function partOf({ range, pid, device }: Scope): string {
  const pieces: string[] = [];
  if (range !== null) pieces.push(`${Math.round(range.start_ns)},${Math.round(range.end_ns)}`);
  if (pid !== null) pieces.push(`pid=${pid}`);
  if (device !== null) pieces.push(`device=${device}`);
  return pieces.join(";");
}

/** Reads the name of a part. It is anybody's text: what makes no sense is left out. */
export function parsePart(name: string): Scope {
  const range = /(?:^|;)(-?\d{1,15}),(-?\d{1,15})(?:;|$)/.exec(name);
  const number = (what: string): number | null => {
    const found = new RegExp(`(?:^|;)${what}=(\\d{1,10})(?:;|$)`).exec(name);
    return found === null ? null : Number(found[1]);
  };
  const [start_ns, end_ns] = [Number(range?.[1]), Number(range?.[2])];
  return {
    range: start_ns < end_ns ? { start_ns, end_ns } : null,
    pid: number("pid"),
    device: number("device"),
  };
}

/** Narrows all pages further, or less: what is not given stays. */
export function narrowTo(change: Partial<Scope>): void {
  scope.value = { ...scope.value, ...change };
}

/** Says what a part is: "process 12, GPU 0, a range of 3 ms". */
export function scopeWords({ range, pid, device }: Scope): string {
  const words: string[] = [];
  if (pid !== null) words.push(`process ${pid}`);
  if (device !== null) words.push(`${deviceWord.value} ${device}`);
  if (range !== null) words.push(`a range of ${duration(range.end_ns - range.start_ns)}`);
  return words.length === 0 ? "the whole run" : words.join(", ");
}

/** Returns whether the source has the results of a part. */
function hasResults({ http, parts }: Manifest, part: string): boolean {
  return http === true || parts?.some((each) => each.name === part) === true;
}

/** Returns the scope, or what is left of it that the source has results of. */
export function scopeOfResults(manifest: Manifest, wanted: Scope): Scope {
  const wider = [
    wanted,
    { ...wanted, range: null },
    { ...WHOLE, range: wanted.range },
    { ...WHOLE, pid: wanted.pid },
    { ...WHOLE, device: wanted.device },
  ];
  return wider.find((each) => !isWhole(each) && hasResults(manifest, partOf(each))) ?? WHOLE;
}

/** Keeps the scope in the address: a link that names a part brings it, others keep what is there. */
export function keepScope(): void {
  effect(() => {
    const named = route.value.params.get("part");
    const known = partOf(scope.peek());
    if (named !== null && named !== known) scope.value = parsePart(named);
    else if (named === null && known !== "") replaceParams({ part: known });
  });
  effect(() => {
    const part = partOf(scope.value);
    if (part !== (route.peek().params.get("part") ?? "")) replaceParams({ part });
  });
}
