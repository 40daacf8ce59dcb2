// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The two canvases, one above the other, and the frames that draw on them. They are as high as the
// screen and never higher: rows are scrolled by drawing them elsewhere.

import { useEffect, useRef } from "preact/hooks";
import { arrowsOf } from "./arrows";
import { type Place, placeOf } from "./hits";
import { Widths } from "./labels";
import type { Dirty, Model } from "./model";
import { type OverlayState, paintOverlay } from "./overlay";
import { type Frame, paint, write, xOf } from "./paint";
import { type Palette, readPalette } from "./palette";
import { fontOf, Pen } from "./pen";
import { Pixels } from "./pixels";
import { joinPointer } from "./pointer";
import { emptyScene } from "./scene";

/** Figures of a frame, for those who measure. */
export interface FrameFigures {
  readonly rectangles: number;
  readonly labels: number;
  readonly script_ms: number;
}

export interface CanvasProps {
  readonly model: Model;
  readonly onFrame?: ((figures: FrameFigures) => void) | undefined;
}

/** Milliseconds without a frame after which a picture is drawn sharply. */
const CALM_MS = 150;
/** Milliseconds between frames from which a move is not fluid. */
const SLOW_MS = 28;

/** Watches how frames follow each other: a screen too fine for its machine moves less sharply. */
export class Pace {
  private last = Number.NEGATIVE_INFINITY;
  private mean = 0;
  private blunt = false;

  /** Returns the pixels of a CSS pixel for a frame. `moved`: it is a frame of a move. */
  ratio(sharp: number, now: number, moved: boolean): number {
    const gap = now - this.last;
    this.last = now;
    if (sharp <= 1 || !moved) return this.blunt ? 1 : sharp;
    if (gap >= CALM_MS) {
      this.mean = 0;
      this.blunt = false;
    } else {
      this.mean = this.mean * 0.7 + gap * 0.3;
      this.blunt = this.blunt || this.mean > SLOW_MS;
    }
    return this.blunt ? 1 : sharp;
  }
}

/** Draws on two canvases when the model says so, at most once a frame. */
class Painter {
  private readonly scenes = { pinned: emptyScene(), scrolled: emptyScene() };
  private readonly lower: Pen;
  private readonly upper: Pen;
  private readonly pixels = new Pixels();
  private image: ImageData | undefined;
  private palette: Palette;
  private widths: Widths;
  private scheduled = 0;
  private all = true;
  /** Nothing is on the upper canvas. */
  private bare = false;
  private readonly pace = new Pace();
  private calm: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly model: Model,
    private readonly base: HTMLCanvasElement,
    private readonly over: HTMLCanvasElement,
    private readonly contexts: {
      readonly base: CanvasRenderingContext2D;
      readonly over: CanvasRenderingContext2D;
    },
    private readonly onFrame: ((figures: FrameFigures) => void) | undefined,
  ) {
    this.lower = new Pen(contexts.base);
    this.upper = new Pen(contexts.over);
    this.palette = this.readPalette();
    this.widths = this.newWidths();
  }

  private readPalette(): Palette {
    const style = getComputedStyle(this.base);
    const { base } = this.contexts;
    return readPalette((name) => {
      const value = style.getPropertyValue(name).trim();
      if (!/^[a-z#(]/i.test(value) || name === "--sans") return value;
      // The canvas writes each opaque colour as "#rrggbb", in whichever way it was given.
      base.fillStyle = "#808080";
      base.fillStyle = value;
      return typeof base.fillStyle === "string" ? base.fillStyle : value;
    });
  }

  private newWidths(): Widths {
    const { base } = this.contexts;
    return new Widths((text) => {
      base.font = fontOf(this.palette);
      return base.measureText(text).width;
    });
  }

  /** Reads the colours again: the theme has changed. */
  theme(): void {
    this.palette = this.readPalette();
    this.widths = this.newWidths();
    this.dirty("all");
  }

  dirty(what: Dirty): void {
    if (what === "all") this.all = true;
    if (this.scheduled === 0) this.scheduled = requestAnimationFrame(() => this.draw());
  }

  stop(): void {
    cancelAnimationFrame(this.scheduled);
    clearTimeout(this.calm);
  }

  private fit(canvas: HTMLCanvasElement, ratio: number): void {
    const width = Math.round(this.model.width * ratio);
    const height = Math.round(this.model.height * ratio);
    if (canvas.width === width && canvas.height === height) return;
    canvas.width = width;
    canvas.height = height;
    this.all = true;
  }

  private frame(): Frame {
    const { model } = this;
    return {
      info: model.trace.info,
      whole: model.whole,
      view: model.view,
      width: model.width,
      height: model.height,
      scroll: model.scroll,
      layout: model.layout,
      store: model.store,
      palette: this.palette,
      widths: this.widths,
      match: model.match.value,
      selection: model.selection.value,
      mini: model.mini,
    };
  }

  private draw(): void {
    this.scheduled = 0;
    const { model } = this;
    if (model.width <= 0 || model.height <= 0) return;
    const began = performance.now();
    const sharp = window.devicePixelRatio || 1;
    const ratio = this.pace.ratio(sharp, began, this.all);
    if (ratio !== sharp) {
      clearTimeout(this.calm);
      this.calm = setTimeout(() => this.dirty("all"), CALM_MS);
    }
    this.fit(this.base, ratio);
    this.fit(this.over, ratio);
    model.request();
    const frame = this.frame();
    const all = this.all;
    this.all = false;
    if (all) this.drawBase(frame, ratio);
    this.drawOver(frame, ratio);
    // For those who take pictures: all events of the view are drawn, and sharp.
    const isComplete = model.isComplete && ratio === sharp && this.scheduled === 0;
    this.base.parentElement?.toggleAttribute("data-complete", isComplete);
    if (all) {
      this.onFrame?.({
        rectangles: this.pixels.rectangles + this.lower.rectangles + this.upper.rectangles,
        labels: this.scenes.pinned.labels.length + this.scenes.scrolled.labels.length,
        script_ms: performance.now() - began,
      });
    }
  }

  private drawOver(frame: Frame, ratio: number): void {
    const state = this.state();
    const bare =
      frame.selection === null &&
      state.hovered === null &&
      state.picked === null &&
      state.pointer === null &&
      state.marks.length === 0 &&
      !state.focus;
    // A large canvas that is empty stays as it is.
    if (bare && this.bare) return;
    this.bare = bare;
    const { over } = this.contexts;
    over.setTransform(1, 0, 0, 1, 0, 0);
    over.clearRect(0, 0, this.over.width, this.over.height);
    if (!bare) paintOverlay(this.upper, frame, state, ratio);
  }

  private drawBase(frame: Frame, ratio: number): void {
    const { base } = this.contexts;
    const painted = paint(this.pixels, frame, this.scenes, ratio);
    const { width, height, data } = this.pixels;
    // The bytes are shared with the numbers, and are made again only with another size.
    if (this.image?.data.buffer !== data.buffer) {
      this.image = new ImageData(new Uint8ClampedArray(data.buffer), width, height);
    }
    base.putImageData(this.image, 0, 0);
    write(this.lower, frame, painted, ratio);
  }

  private state(): OverlayState {
    const { model } = this;
    const hit = model.hovered.value?.hit ?? null;
    const picked = model.picked.value;
    const span = (from: number, to: number, y: number, height: number): Place => ({
      left: xOf(model, from),
      right: xOf(model, to),
      y,
      height,
    });
    const group = picked === null ? "" : (model.groupsOfTracks[picked.track] ?? "");
    const end_ns = picked === null ? 0 : picked.start_ns + picked.duration_ns;
    const detail = model.hoveredDetail.value ?? picked;
    return {
      hovered: hit === null ? null : span(hit.start, hit.end, hit.y, hit.height),
      picked: picked === null ? null : placeOf(model, { ...picked, end_ns }, group),
      arrows: detail === null ? [] : arrowsOf(model, detail, model.groupsOfTracks),
      marks: model.marks.value,
      pointer: model.pointer,
      focus: picked === null && this.over.parentElement?.matches(":focus-visible") === true,
    };
  }
}

/** Shows the timeline of a model. */
export function TimelineCanvas({ model, onFrame }: CanvasProps) {
  const box = useRef<HTMLDivElement>(null);
  const base = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const [element, lower, upper] = [box.current, base.current, over.current];
    const contexts = {
      base: lower?.getContext("2d", { alpha: false, willReadFrequently: true }),
      over: upper?.getContext("2d"),
    };
    if (element === null || lower === null || upper === null) return;
    if (contexts.base == null || contexts.over == null) {
      model.fault.value =
        "This browser has no canvas: the tables below work, the picture does not.";
      return;
    }
    const both = { base: contexts.base, over: contexts.over };
    const painter = new Painter(model, lower, upper, both, onFrame);
    const ends = [model.listen((what) => painter.dirty(what)), joinPointer(element, model)];
    const size = new ResizeObserver(() => model.resize(element.clientWidth, element.clientHeight));
    size.observe(element);
    // The theme is an attribute of the root, or the system's.
    const theme = new MutationObserver(() => painter.theme());
    theme.observe(document.documentElement, { attributes: true });
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    const change = () => painter.theme();
    const focus = () => painter.dirty("overlay");
    system.addEventListener("change", change);
    element.addEventListener("focus", focus);
    element.addEventListener("blur", focus);
    model.resize(element.clientWidth, element.clientHeight);
    return () => {
      for (const end of ends) end();
      painter.stop();
      size.disconnect();
      theme.disconnect();
      system.removeEventListener("change", change);
      element.removeEventListener("focus", focus);
      element.removeEventListener("blur", focus);
    };
  }, [model, onFrame]);
  return (
    <div
      class="tl-canvas"
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the picture is one stop of the keyboard.
      tabIndex={0}
      role="application"
      aria-label="Timeline. Left and right move between slices, up and down between rows, plus and minus zoom, Enter follows the arrow."
    >
      <canvas ref={base} />
      <canvas ref={over} />
    </div>
  );
}
