// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Colours of the timeline. The values are CSS variables of the page (tokens.css); here is only which
// slot means what. Colour belongs to the device: slices of the host are neutral.

import { CLASSES, type ClassName, type TrackKind } from "../trace/api";

/** Slots that slices and bars are drawn with. The order is the order of stacking, from below. */
export const SLOTS = [
  "d_forward",
  "d_backward",
  "d_reduce",
  "d_copy",
  "d_optim",
  "d_comm",
  "d_input",
  "d_lock",
  "d_other",
  "bar",
  "n3",
  "n2",
  "n1",
] as const;
export type Slot = (typeof SLOTS)[number];

/** Further tokens that the canvas needs. */
const TOKENS = [
  "bg",
  "surface",
  "sunken",
  "line",
  "line2",
  "line3",
  "text",
  "text2",
  "text3",
  "accent",
] as const;
type Token = (typeof TOKENS)[number];

const OF_CLASS: Record<ClassName, Slot> = {
  gemm: "d_forward",
  attention: "d_backward",
  elementwise: "d_optim",
  copy_cast: "d_copy",
  reduction: "d_reduce",
  collective: "d_comm",
  memcpy: "d_other",
  memset: "d_other",
  other: "d_other",
  op: "n2",
  api: "n3",
  python: "n1",
  range: "n2",
  wait: "n1",
  sync: "n1",
  input: "d_input",
  file: "n2",
};

/** Words for people; legends and the drawer use them. */
export const CLASS_WORDS: Record<ClassName, string> = {
  gemm: "GEMM",
  attention: "attention",
  elementwise: "elementwise",
  copy_cast: "copy, cast",
  reduction: "reduction",
  collective: "collective",
  memcpy: "memcpy",
  memset: "memset",
  other: "other",
  op: "operator",
  api: "CUDA call",
  python: "Python",
  range: "range",
  wait: "wait",
  sync: "synchronization",
  input: "input wait",
  file: "file read",
};

/** Returns the class of an index; an index that this page does not know is "other". */
export function className(index: number): ClassName {
  return CLASSES[index] ?? "other";
}

/** Returns the slot of a slice. Steps are the ground that their parts stand on. */
export function slotOf(cls: number, kind: TrackKind): Slot {
  return kind === "steps" ? "n1" : OF_CLASS[className(cls)];
}

/** Frames of modules stand out from other frames: they are the program's own structure. */
export function isModule(name: string): boolean {
  return name.startsWith("nn.Module: ") || /^[A-Z]\w{0,80}_\d{1,6}$/.test(name);
}

/** Returns the slot of a bar in a folded cell: neutral classes would not be seen on the ground. */
export function barSlot(slot: Slot): Slot {
  return slot === "n1" || slot === "n2" || slot === "n3" ? "bar" : slot;
}

const NEUTRAL: ReadonlySet<Slot> = new Set(["n1", "n2", "n3", "bar"]);

/** Says if text in the page's own colours stands on the slot with contrast. */
export function isNeutral(slot: Slot): boolean {
  return NEUTRAL.has(slot);
}

/** Says if slices of a class are hatched: the host waits. */
export function isHatched(cls: number): boolean {
  const name = className(cls);
  return name === "wait" || name === "sync" || name === "input";
}

/** Returns the CSS variable of a class, for swatches in the page. */
export function classVariable(cls: ClassName): string {
  return `var(--${OF_CLASS[cls]})`;
}

export interface Palette {
  readonly token: Readonly<Record<Token, string>>;
  readonly slot: Readonly<Record<Slot, string>>;
  /** Colour of a label on the slot. */
  readonly ink: Readonly<Record<Slot, string>>;
  readonly font: string;
}

/** Returns the relative luminance of "#rrggbb"; 0.5 for other notations. */
export function luminance(colour: string): number {
  const match = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(colour.trim());
  if (match === null) return 0.5;
  const linear = (hex: string | undefined): number => {
    const value = Number.parseInt(hex ?? "80", 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(match[1]) + 0.7152 * linear(match[2]) + 0.0722 * linear(match[3]);
}

/** Returns the contrast of two colours, 1 to 21. */
export function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return ((high ?? 0) + 0.05) / ((low ?? 0) + 0.05);
}

/** Reads the palette. `read` returns the value of a CSS variable, "" if it is not set. */
export function readPalette(read: (name: string) => string): Palette {
  const value = (name: string, otherwise: string): string => read(`--${name}`).trim() || otherwise;
  const token = {} as Record<Token, string>;
  for (const name of TOKENS) token[name] = value(name, name === "bg" ? "#FCFCFB" : "#636870");
  const ink = value("ink", "#14161A");
  const paper = value("paper", "#FFFFFF");
  const slot = {} as Record<Slot, string>;
  const inks = {} as Record<Slot, string>;
  for (const name of SLOTS) {
    const colour = value(name, "#8D9095");
    slot[name] = colour;
    if (isNeutral(name)) inks[name] = token.text;
    else inks[name] = contrast(ink, colour) >= contrast(paper, colour) ? ink : paper;
  }
  return { token, slot, ink: inks, font: value("sans", "system-ui, sans-serif") };
}
