// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The hand that draws on a canvas: it counts rectangles and remembers the colour that is set.

import type { Palette } from "./palette";

/** What drawing needs of a canvas; tests give their own. */
export type Canvas2d = Pick<
  CanvasRenderingContext2D,
  | "fillStyle"
  | "strokeStyle"
  | "lineWidth"
  | "globalAlpha"
  | "font"
  | "textBaseline"
  | "textAlign"
  | "direction"
  | "fillRect"
  | "strokeRect"
  | "fillText"
  | "beginPath"
  | "moveTo"
  | "lineTo"
  | "bezierCurveTo"
  | "arc"
  | "closePath"
  | "fill"
  | "stroke"
  | "rect"
  | "clip"
  | "save"
  | "restore"
  | "setTransform"
  | "measureText"
>;

export const FONT_PX = 11;

export class Pen {
  /** Rectangles since begin(). */
  rectangles = 0;
  private style: string | null = null;

  constructor(readonly context: Canvas2d) {}

  /** Begins a frame: all that follows is in CSS pixels. */
  begin(palette: Palette, ratio: number): void {
    const { context } = this;
    this.rectangles = 0;
    this.style = null;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.globalAlpha = 1;
    context.textBaseline = "middle";
    context.textAlign = "left";
    // Names in any script begin at the left, where their slice begins.
    context.direction = "ltr";
    context.font = fontOf(palette);
  }

  colour(style: string): void {
    if (this.style === style) return;
    this.context.fillStyle = style;
    this.style = style;
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.rectangles++;
    this.context.fillRect(x, y, width, height);
  }

  text(text: string, x: number, y: number): void {
    this.context.fillText(text, x, y);
  }

  /** Draws with everything outside a rectangle left as it is. */
  within(x: number, y: number, width: number, height: number, draw: () => void): void {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    draw();
    context.restore();
    // restore() brought an earlier colour back.
    this.style = null;
  }
}

export function fontOf(palette: Palette, weight = 400): string {
  return `${weight === 400 ? "" : `${weight} `}${FONT_PX}px ${palette.font}`;
}
