// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What narrows all pages: a range of time or a step, a process, a device. The address keeps it, by
// the name of the part: "FROM,TO;step=N;pid=PID;device=NUMBER", in nanoseconds of the bundle's time.
// A server has the results of every part, a report those of some.

import { effect, signal } from "@preact/signals";
import { duration } from "../base/format";
import type { Source } from "../data/source";
import { deviceWord, type Range, replaceParams, route } from "./state";

export interface Scope {
  /** Null: the whole run. A step has the time in which the host and the devices did it. */
  readonly range: Range | null;
  /** Null: no step. */
  readonly step: number | null;
  /** Null: all processes. */
  readonly pid: number | null;
  /** Null: all devices. */
  readonly device: number | null;
}

export const WHOLE: Scope = { range: null, step: null, pid: null, device: null };
export const scope = signal<Scope>(WHOLE);

export function isWhole(of: Scope): boolean {
  return partOf(of) === "";
}

/** Returns the name of a part; "": the whole run. */
export function partOf({ range, step, pid, device }: Scope): string {
  const pieces: string[] = [];
  if (range !== null) pieces.push(`${Math.round(range.start_ns)},${Math.round(range.end_ns)}`);
  if (step !== null) pieces.push(`step=${step}`);
  if (pid !== null) pieces.push(`pid=${pid}`);
  if (device !== null) pieces.push(`device=${device}`);
  return pieces.join(";");
}

/** Returns the name of the results of a part: work of a step counts when it was launched. */
export function resultsOf(of: Scope): string {
  return partOf(of.step === null ? of : { ...of, range: null });
}

/** Returns a part without its time. */
export function allTime(of: Scope): Scope {
  return { ...of, range: null, step: null };
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
    step: number("step"),
    pid: number("pid"),
    device: number("device"),
  };
}

/** Narrows all pages further, or less: what is not given stays. */
export function narrowTo(change: Partial<Scope>): void {
  scope.value = { ...scope.value, ...change };
}

/** Says what a part is: "process 12, GPU 0, a range of 3 ms". */
export function scopeWords({ range, step, pid, device }: Scope): string {
  const words: string[] = [];
  if (pid !== null) words.push(`process ${pid}`);
  if (device !== null) words.push(`${deviceWord.value} ${device}`);
  if (step !== null) words.push(`step ${step}`);
  else if (range !== null) words.push(`a range of ${duration(range.end_ns - range.start_ns)}`);
  return words.length === 0 ? "the whole run" : words.join(", ");
}

/** Returns whether the source has the results of a part. */
export function hasPart({ computes, manifest }: Source, part: string): boolean {
  return computes === true || manifest.parts?.some(({ name }) => name === part) === true;
}

/** Returns the scope, or what is left of it that the source has results of. */
export function scopeOfResults(source: Source, wanted: Scope): Scope {
  const wider = [
    wanted,
    allTime(wanted),
    { ...WHOLE, range: wanted.range, step: wanted.step },
    { ...WHOLE, pid: wanted.pid },
    { ...WHOLE, device: wanted.device },
  ];
  return wider.find((each) => !isWhole(each) && hasPart(source, resultsOf(each))) ?? WHOLE;
}

/** Keeps the scope in the address. A link to another page takes the scope along. */
export function keepScope(): void {
  effect(() => {
    const { params } = route.value;
    const named = params.get("part");
    const known = partOf(scope.peek());
    // Every place that was seen is marked: a way back leads to the scope that was there.
    if (named !== null || history.state !== null) {
      if ((named ?? "") !== known) scope.value = parsePart(named ?? "");
      if (history.state === null) replaceParams({});
    } else replaceParams({ part: known });
  });
  effect(() => {
    const part = partOf(scope.value);
    if (part !== (route.peek().params.get("part") ?? "")) replaceParams({ part });
  });
}
