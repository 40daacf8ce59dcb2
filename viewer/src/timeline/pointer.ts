// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Pointer and wheel on the canvas. A drag selects a range, Shift and drag pans; in the minimap a drag
// moves the view. Ctrl and wheel zooms at the pointer, a sideways wheel pans, a plain one scrolls.

import { hitAt } from "./hits";
import { bandAt, GUTTER, MINIMAP, PAD, type Placed, TOP } from "./layout";
import { miniTime } from "./minimap";
import type { Model } from "./model";
import { timeAt } from "./paint";
import { pan, type Window } from "./view";

/** Pixels that a pointer may move in a click. */
const CLICK_PX = 3;
/** Pixels of a wheel that counts lines or pages. */
const LINE_PX = 16;
/** Milliseconds after the last turn of a wheel. */
const REST_MS = 120;

interface Drag {
  readonly kind: "range" | "pan" | "minimap" | "thumb";
  readonly x: number;
  readonly y: number;
  readonly time: number;
  readonly view: Window;
  readonly scroll: number;
  moved: boolean;
}

/** Returns the way of a wheel in pixels. */
export function wheelPx(delta: number, mode: number, page: number): number {
  return mode === 1 ? delta * LINE_PX : mode === 2 ? delta * page : delta;
}

/** Returns the factor of a zoom by a wheel: equal ways give equal factors, in any steps. */
export function wheelFactor(px: number): number {
  return Math.exp(Math.min(Math.max(px, -400), 400) * 0.0022);
}

/** Returns whether a place is on the line that names the outer frames of a track. */
function isOuterLine(model: Model, { band, y: top }: Placed, x: number, y: number): boolean {
  if (band.track === null || x < GUTTER || y >= top + PAD + band.rowHeight) return false;
  return (model.picture(band.track.id)?.rows.outer.length ?? 0) > 0;
}

/** Joins an element's pointer to the model. Returns what ends that. */
export function joinPointer(element: HTMLElement, model: Model): () => void {
  let drag: Drag | null = null;
  let rest: ReturnType<typeof setTimeout> | undefined;
  const place = (event: MouseEvent): { x: number; y: number } => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  const wheel = (event: WheelEvent): void => {
    event.preventDefault();
    const { x, y } = place(event);
    const dx = wheelPx(event.deltaX, event.deltaMode, model.width);
    const dy = wheelPx(event.deltaY, event.deltaMode, model.height);
    if (event.ctrlKey || event.metaKey) {
      model.zoom(wheelFactor(dy), timeAt(model, Math.max(x, GUTTER)));
    } else if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) {
      const way = event.shiftKey && dx === 0 ? dy : dx;
      const scale = (model.view.end - model.view.start) / Math.max(model.width - GUTTER, 1);
      model.pan(way * scale);
    } else {
      model.scrollBy(dy);
    }
    // What moves is not read: the card comes back when the wheel rests.
    model.hover(null, event.clientX, event.clientY, model.pointer);
    clearTimeout(rest);
    rest = setTimeout(() => look(event, x, y), REST_MS);
  };

  /** Says what is under the pointer. */
  const look = (event: MouseEvent, x: number, y: number): void => {
    const time = x >= GUTTER ? timeAt(model, x) : null;
    model.hover(hitAt(model, x, y), event.clientX, event.clientY, time);
    const placed = bandAt(model.layout, model.scroll, model.height, y);
    const isPressed =
      placed !== null && (placed.band.track === null || isOuterLine(model, placed, x, y));
    element.style.cursor = isPressed ? "pointer" : "default";
  };

  const down = (event: PointerEvent): void => {
    if (event.button !== 0 && event.button !== 1) return;
    const { x, y } = place(event);
    element.setPointerCapture(event.pointerId);
    const panning = event.shiftKey || event.button === 1;
    const thumb = x > model.width - 8 && y > TOP;
    const kind = y < MINIMAP ? "minimap" : thumb ? "thumb" : panning ? "pan" : "range";
    const { view, scroll } = model;
    drag = { kind, x, y, time: timeAt(model, x), view, scroll, moved: false };
    if (kind === "minimap" && x >= GUTTER) center(x);
    if (event.button === 1) event.preventDefault();
  };

  const center = (x: number): void => {
    const time = miniTime(model, x);
    const half = (model.view.end - model.view.start) / 2;
    model.show({ start: time - half, end: time + half }, false);
  };

  const move = (event: PointerEvent): void => {
    const { x, y } = place(event);
    if (drag === null) {
      clearTimeout(rest);
      look(event, x, y);
      return;
    }
    if (Math.abs(x - drag.x) > CLICK_PX || Math.abs(y - drag.y) > CLICK_PX) drag.moved = true;
    if (!drag.moved) return;
    model.hover(null, event.clientX, event.clientY, null);
    if (drag.kind === "minimap") {
      center(x);
    } else if (drag.kind === "thumb") {
      const scale = model.layout.height / Math.max(model.height - TOP, 1);
      model.scrollBy(drag.scroll + (y - drag.y) * scale - model.scroll);
    } else if (drag.kind === "pan") {
      const scale = (drag.view.end - drag.view.start) / Math.max(model.width - GUTTER, 1);
      model.show(pan(drag.view, (drag.x - x) * scale, model.whole), false);
    } else if (drag.x >= GUTTER) {
      const time = timeAt(model, Math.max(x, GUTTER));
      const range = { start: Math.min(time, drag.time), end: Math.max(time, drag.time) };
      if (range.end > range.start) model.select(range);
    }
  };

  const up = (event: PointerEvent): void => {
    const was = drag;
    drag = null;
    if (was === null || was.moved || was.kind === "minimap" || was.kind === "thumb") return;
    const { x, y } = place(event);
    click(x, y);
  };

  const click = (x: number, y: number): void => {
    const hit = hitAt(model, x, y);
    if (hit !== null) {
      if (hit.row !== null) void model.pick(hit.track, hit.row, "nothing");
      return;
    }
    const placed = bandAt(model.layout, model.scroll, model.height, y);
    const band = placed?.band;
    if (placed !== null && isOuterLine(model, placed, x, y)) {
      model.toggleOuter(placed.band.track?.id ?? 0);
    } else if (band !== undefined && band.track === null) {
      model.toggleFold(band.group);
    } else if (model.picked.value !== null) {
      model.unpick();
    } else {
      model.select(null);
    }
  };

  const zoomTo = (event: MouseEvent): void => {
    const { x, y } = place(event);
    const hit = hitAt(model, x, y);
    if (hit === null) return;
    const margin = (hit.end - hit.start) * 0.15;
    model.show({ start: hit.start - margin, end: hit.end + margin }, true);
  };

  const leave = (): void => {
    if (drag === null) model.hover(null, 0, 0, null);
  };

  const cancel = (): void => {
    drag = null;
  };

  element.addEventListener("wheel", wheel, { passive: false });
  element.addEventListener("pointerdown", down);
  element.addEventListener("pointermove", move);
  element.addEventListener("pointerup", up);
  element.addEventListener("pointercancel", cancel);
  element.addEventListener("pointerleave", leave);
  element.addEventListener("dblclick", zoomTo);
  return () => {
    clearTimeout(rest);
    element.removeEventListener("wheel", wheel);
    element.removeEventListener("pointerdown", down);
    element.removeEventListener("pointermove", move);
    element.removeEventListener("pointerup", up);
    element.removeEventListener("pointercancel", cancel);
    element.removeEventListener("pointerleave", leave);
    element.removeEventListener("dblclick", zoomTo);
  };
}
