// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Keys of the timeline, and what they do. The letters are those that people know from Perfetto.

export type Command =
  | "zoom_in"
  | "zoom_out"
  | "left"
  | "right"
  | "fit"
  | "find"
  | "help"
  | "mark"
  | "range"
  | "pin"
  | "fold"
  | "outer"
  | "undo"
  | "step_back"
  | "step_on"
  | "slice_back"
  | "slice_on"
  | "row_up"
  | "row_down"
  | "follow"
  | "page_up"
  | "page_down"
  | "escape";

export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

const KEYS: Readonly<Record<string, Command>> = {
  w: "zoom_in",
  "+": "zoom_in",
  "=": "zoom_in",
  s: "zoom_out",
  "-": "zoom_out",
  a: "left",
  d: "right",
  f: "fit",
  "/": "find",
  "?": "help",
  m: "mark",
  r: "range",
  p: "pin",
  e: "fold",
  o: "outer",
  backspace: "undo",
  "[": "step_back",
  "]": "step_on",
  ",": "slice_back",
  ".": "slice_on",
  arrowleft: "slice_back",
  arrowright: "slice_on",
  arrowup: "row_up",
  arrowdown: "row_down",
  enter: "follow",
  pageup: "page_up",
  pagedown: "page_down",
  escape: "escape",
};

/** Returns the command of a key; null: the key is not the timeline's. */
export function commandOf(press: KeyPress): Command | null {
  // Combinations belong to the browser.
  if (press.ctrlKey || press.metaKey || press.altKey) return null;
  return KEYS[press.key.toLowerCase()] ?? null;
}

/** Keys for the help, in the order to show. */
export const HELP: readonly (readonly [string, readonly string[]])[] = [
  ["Zoom in, out", ["W", "S"]],
  ["Pan", ["A", "D"]],
  ["Zoom at the pointer", ["Ctrl", "wheel"]],
  ["Pan", ["Shift", "wheel"]],
  ["Select a range", ["drag"]],
  ["Fit selection; twice: whole", ["F"]],
  ["Previous, next slice", [",", "."]],
  ["Row above, below", ["↑", "↓"]],
  ["Follow the arrow", ["↵"]],
  ["Previous, next step", ["[", "]"]],
  ["Find", ["/"]],
  ["In the field: next, previous hit", ["↵", "Shift ↵"]],
  ["Mark and measure", ["M"]],
  ["Select between marks, or the slice", ["R"]],
  ["Pin track", ["P"]],
  ["Fold, unfold group", ["E"]],
  ["Fold, unfold outer frames", ["O"]],
  ["Undo zoom", ["⌫"]],
  ["Clear", ["Esc"]],
  ["Keys", ["?"]],
];

/** Says if a key is meant for a field that text is written in. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** Says if a control takes the key itself. Enter presses a button, arrows move in a table. */
export function isControls(target: EventTarget | null, command: Command): boolean {
  if (!(target instanceof HTMLElement) || target.tagName === "CANVAS") return false;
  const taken: readonly Command[] = ["follow", "row_up", "row_down", "page_up", "page_down"];
  return (
    target.closest("button, a, table, [role=grid], [role=separator]") !== null &&
    taken.includes(command)
  );
}
