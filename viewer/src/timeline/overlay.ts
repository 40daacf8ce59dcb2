// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Draws the upper canvas: the selection, outlines, arrows, marks and the line at the pointer.

import type { Arrow } from "./arrows";
import type { Place } from "./hits";
import { GUTTER, MINIMAP, pinnedRoom, TOP } from "./layout";
import { type Frame, xOf } from "./paint";
import type { Pen } from "./pen";
import { duration } from "./units";

export interface OverlayState {
  /** Slice under the pointer, and slices of the same name. */
  readonly hovered: Place | null;
  readonly picked: Place | null;
  readonly arrows: readonly Arrow[];
  readonly marks: readonly number[];
  /** Moment at the pointer; null: it is elsewhere. */
  readonly pointer: number | null;
  /** The canvas has the focus of the keyboard, and no slice is selected. */
  readonly focus: boolean;
}

/** Draws what changes with the pointer, on a canvas that is empty. */
export function paintOverlay(pen: Pen, frame: Frame, state: OverlayState, ratio: number): void {
  const { palette, width, height, view, selection } = frame;
  const { context } = pen;
  pen.begin(palette, ratio);
  pen.within(GUTTER, TOP, width - GUTTER, height - TOP, () => {
    if (selection !== null) {
      const left = xOf(frame, selection.start);
      const right = xOf(frame, selection.end);
      pen.colour(palette.token.accent);
      context.globalAlpha = 0.09;
      pen.rect(left, TOP, right - left, height);
      context.globalAlpha = 1;
      pen.rect(left - 0.5, TOP, 1, height);
      pen.rect(right - 0.5, TOP, 1, height);
    }
    for (const mark of state.marks) {
      pen.colour(palette.token.text);
      pen.rect(Math.round(xOf(frame, mark)), TOP, 1, height);
    }
  });
  // A slice that is scrolled below the pinned tracks is not outlined on them.
  const room = TOP + pinnedRoom(frame.layout, height);
  pen.within(GUTTER, TOP, width - GUTTER, height - TOP, () => {
    outline(pen, state.hovered, palette.token.text, 1, width);
    outline(pen, state.picked, palette.token.accent, 2, width);
    paintArrows(pen, frame, state.arrows);
  });
  paintRulerMarks(pen, frame, state);
  if (state.focus) {
    context.strokeStyle = palette.token.accent;
    context.lineWidth = 2;
    context.strokeRect(1, room + 1, width - 2, height - room - 2);
  }
  if (state.pointer !== null && state.pointer >= view.start && state.pointer <= view.end) {
    pen.colour(palette.token.text3);
    pen.rect(Math.round(xOf(frame, state.pointer)), TOP - 6, 1, 6);
  }
}

function outline(pen: Pen, place: Place | null, colour: string, line: number, width: number): void {
  if (place === null) return;
  const left = Math.max(GUTTER, place.left);
  const right = Math.min(width, place.right);
  if (right < GUTTER || left > width) return;
  pen.context.strokeStyle = colour;
  pen.context.lineWidth = line;
  pen.context.strokeRect(left, place.y - 0.5, Math.max(2, right - left), place.height + 1);
}

function paintArrows(pen: Pen, frame: Frame, arrows: readonly Arrow[]): void {
  const { context } = pen;
  const { token } = frame.palette;
  context.strokeStyle = token.text;
  context.lineWidth = arrows.length > 2 ? 0.75 : 1.25;
  for (const { x0, y0, x1, y1, up, label } of arrows) {
    const bend = Math.max(Math.abs(y0 - y1) * 0.5, 12) * (up ? 1 : -1);
    const neck = y1 + (up ? 5 : -5);
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0, y0 - bend, x1, y1 + bend, x1, neck);
    context.stroke();
    pen.colour(token.text);
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x1 - 3.5, y1 + (up ? 6 : -6));
    context.lineTo(x1 + 3.5, y1 + (up ? 6 : -6));
    context.closePath();
    context.fill();
    context.beginPath();
    context.arc(x0, y0, 2, 0, Math.PI * 2);
    context.fill();
    if (label === "") continue;
    const wide = frame.widths.of(label) + 8;
    const left = Math.min(Math.max(x1 + 8, GUTTER + 4), frame.width - wide - 4);
    pen.colour(token.bg);
    pen.rect(left, y1 + 6, wide, 16);
    pen.colour(token.text);
    pen.text(label, left + 4, y1 + 14);
  }
}

/** Writes a length on the ruler, in a box whose middle is between two places. */
function box(pen: Pen, frame: Frame, left: number, right: number, text: string, back: string) {
  const wide = frame.widths.of(text) + 12;
  const low = GUTTER + wide / 2;
  const middle = Math.min(Math.max((left + right) / 2, low), frame.width - wide / 2);
  pen.colour(back);
  pen.rect(middle - wide / 2, MINIMAP + 3, wide, 16);
  pen.colour(frame.palette.token.bg);
  pen.text(text, middle - wide / 2 + 6, MINIMAP + 11.5);
}

function paintRulerMarks(pen: Pen, frame: Frame, state: OverlayState): void {
  const { palette, selection } = frame;
  if (selection !== null) {
    const [left, right] = [xOf(frame, selection.start), xOf(frame, selection.end)];
    if (right >= GUTTER && left <= frame.width) {
      const text = duration(selection.end - selection.start);
      box(pen, frame, left, right, text, palette.token.accent);
    }
  }
  const first = state.marks[0];
  if (first === undefined) return;
  pen.colour(palette.token.text);
  pen.within(GUTTER, MINIMAP, frame.width - GUTTER, TOP - MINIMAP, () => {
    pen.colour(palette.token.text);
    for (const mark of state.marks) pen.rect(Math.round(xOf(frame, mark)) - 1, MINIMAP + 16, 3, 6);
  });
  // Two marks measure each other; one measures to the pointer.
  const second = state.marks[1] ?? state.pointer;
  if (second === null || second === first) return;
  const [left, right] = [xOf(frame, Math.min(first, second)), xOf(frame, Math.max(first, second))];
  const middle = MINIMAP + 17;
  pen.within(GUTTER, MINIMAP, frame.width - GUTTER, TOP - MINIMAP, () => {
    pen.colour(palette.token.text);
    pen.rect(left, middle, right - left, 1);
  });
  if (selection === null) {
    box(pen, frame, left, right, duration(Math.abs(second - first)), palette.token.text);
  }
}
