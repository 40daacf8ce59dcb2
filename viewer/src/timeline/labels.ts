// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Texts that are drawn: names from a trace are anybody's bytes, so they are made harmless and short
// first. Widths come from a table of characters, because measuring each label would cost a frame.

import { plain } from "../base/plain";
import { count, roughPercent } from "./units";

/** More characters are never drawn or measured. A title may be longer. */
export const MOST_DRAWN = 200;

// Characters that no font has a picture of, and blanks that would make a second line.
const WITHOUT_PICTURE = /[\p{Co}\p{Cn}\t\n\r]/gu;
const REPLACEMENT = "\ufffd";

/** Returns a name as it may be shown: one line, no control characters, not longer than `most`. */
export function shown(name: string, most = MOST_DRAWN): string {
  // The cut comes first: a name of a megabyte is never searched.
  const short = name.length > most ? name.slice(0, most) : name;
  const text = plain(short, () => REPLACEMENT).replace(WITHOUT_PICTURE, REPLACEMENT);
  if (text.trim() === "") return name.length === 0 ? "(no name)" : "(blank name)";
  return name.length > most ? `${text}…` : text;
}

/** Fewer letters of a name that is cut say nothing. */
const LEAST_LETTERS = 5;

/** Returns a label as it may be drawn: whole, or cut with enough of it left; "": not at all. */
export function readable(whole: string, cut: string): string {
  return cut === whole || cut.length > LEAST_LETTERS ? cut : "";
}

/** Widths of texts in one font, by the sum of their characters. */
export class Widths {
  private readonly known = new Map<string, number>();

  constructor(private readonly measure: (text: string) => number) {}

  /** Returns the width of a text. */
  of(text: string): number {
    let sum = 0;
    for (const character of text) sum += this.one(character);
    return sum;
  }

  /** Returns the text, cut with "…" to a width; "" if not even one character fits. */
  cut(text: string, width: number): string {
    let sum = 0;
    let kept = 0;
    let at = 0;
    const dots = this.one("…");
    for (const character of text) {
      sum += this.one(character);
      at += character.length;
      if (sum + dots <= width) kept = at;
      if (sum > width) return kept === 0 ? "" : `${text.slice(0, kept)}…`;
    }
    return text;
  }

  private one(character: string): number {
    let width = this.known.get(character);
    if (width === undefined) {
      width = this.measure(character);
      this.known.set(character, width);
    }
    return width;
  }
}

/**
 * Returns the longest label of a folded cell that fits: with its events and its busy share. `busy` is
 * not a number if it is not known; `why` says why.
 */
export function foldLabel(
  events: number,
  busy: number,
  width: number,
  widths: Widths,
  why = "left out",
): string {
  const share = roughPercent(busy);
  const number = count(events);
  const texts = Number.isNaN(busy)
    ? [`${number} events, ${why}`, `${number} events`]
    : [`${number} events, ${share} busy`, `${number} events`];
  for (const text of texts) {
    if (widths.of(text) <= width) return text;
  }
  return "";
}

const PREFIXES = ["aten::", "nn.Module: "];
const FRAME = /^(?:.*\/)?([^/]+)\((\d+)\): (.+)$/;
const BUILT_IN = /^<built-in (?:function|method) ([^\s>]+).*>$/;
/** Longer names are no frames of Python. */
const MOST_FRAME = 1000;

/** Returns a name as a label: what tells it from its neighbours comes first. */
export function shortName(name: string): string {
  const prefix = PREFIXES.find((one) => name.startsWith(one) && name.length > one.length);
  if (prefix !== undefined) return shown(name.slice(prefix.length));
  if (name.length > MOST_FRAME) return shown(name);
  // "torch/nn/functional.py(12): linear": a slice mostly has room for the function only.
  const frame = FRAME.exec(name);
  if (frame !== null) return shown(`${frame[3]} · ${frame[1]}:${frame[2]}`);
  return shown(BUILT_IN.exec(name)?.[1] ?? name);
}
