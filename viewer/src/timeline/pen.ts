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
  | "createPattern"
>;

export const FONT_PX = 11;

export class Pen {
  /** Rectangles since begin(). */
  rectangles = 0;
  private style: string | CanvasPattern | null = null;
  private hatch: CanvasPattern | null = null;
  private hatchOf = "";

  constructor(
    readonly context: Canvas2d,
    /** Makes the tile of the hatch; null: the platform cannot. */
    private readonly tile: (colour: string, ratio: number) => CanvasImageSource | null,
  ) {}

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
    const key = `${palette.token.line2} ${ratio}`;
    if (key !== this.hatchOf) {
      this.hatchOf = key;
      const image = this.tile(palette.token.line2, ratio);
      this.hatch = image === null ? null : context.createPattern(image, "repeat");
      if (ratio !== 1) this.hatch?.setTransform?.(new DOMMatrix().scale(1 / ratio));
    }
  }

  colour(style: string): void {
    if (this.style === style) return;
    this.context.fillStyle = style;
    this.style = style;
  }

  /** Sets the hatch as colour. Says if there is one. */
  hatching(): boolean {
    if (this.hatch === null) return false;
    this.context.fillStyle = this.hatch;
    this.style = this.hatch;
    return true;
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

/** Makes the tile of the hatch: lines of 1.5 px at 135°, one each 5 px. */
export function hatchTile(colour: string, ratio: number): HTMLCanvasElement | null {
  // A diagonal line meets itself at the edges of a tile whose side is 5 px times the root of two.
  const side = Math.round(5 * Math.SQRT2 * ratio);
  const canvas = document.createElement("canvas");
  canvas.width = side;
  canvas.height = side;
  const context = canvas.getContext("2d");
  if (context === null) return null;
  context.strokeStyle = colour;
  context.lineWidth = 1.5 * ratio;
  context.beginPath();
  for (const shift of [-side, 0, side]) {
    context.moveTo(shift - 1, side + 1);
    context.lineTo(shift + side + 1, -1);
  }
  context.stroke();
  return canvas;
}
