// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A picture of flat rectangles in memory. Thousands of small rectangles cost a canvas without a
// graphics card tens of milliseconds; here each costs its pixels. Edges lie on pixels of the screen.

/** A colour as the four bytes of a pixel, in the order of this machine. */
export type Colour = number;

const LITTLE_ENDIAN = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

/** Returns the pixel of "#rrggbb"; grey for other notations. */
export function pixel(colour: string): Colour {
  const match = /^#([0-9a-f]{6})$/i.exec(colour.trim());
  const rgb = match === null ? 0x808080 : Number.parseInt(match[1] ?? "808080", 16);
  const [red, green, blue] = [(rgb >> 16) & 255, (rgb >> 8) & 255, rgb & 255];
  return LITTLE_ENDIAN
    ? ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0
    : ((red << 24) | (green << 16) | (blue << 8) | 255) >>> 0;
}

/** Returns a mix: `share` of the first colour, the rest of the second. */
export function mix(over: string, under: string, share: number): string {
  const parts = (colour: string): number[] => {
    const match = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(colour.trim());
    return [1, 2, 3].map((i) => Number.parseInt(match?.[i] ?? "80", 16));
  };
  const [a, b] = [parts(over), parts(under)];
  const sum = a.map((value, i) => Math.round(value * share + (b[i] ?? 0) * (1 - share)));
  return `#${sum.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

export class Pixels {
  width = 0;
  height = 0;
  data = new Uint32Array(0);
  /** Rectangles since begin(). */
  rectangles = 0;
  private ratio = 1;
  private left = 0;
  private top = 0;
  private right = 0;
  private bottom = 0;

  /** Begins a picture of a size in CSS pixels, in one colour. */
  begin(width: number, height: number, ratio: number, ground: Colour): void {
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (w !== this.width || h !== this.height) {
      this.width = w;
      this.height = h;
      this.data = new Uint32Array(w * h);
    }
    this.ratio = ratio;
    this.rectangles = 1;
    this.data.fill(ground);
    this.within(0, 0, width, height);
  }

  /** Limits what follows to a rectangle of the picture. */
  within(x: number, y: number, width: number, height: number): void {
    const { ratio } = this;
    this.left = Math.min(Math.max(Math.round(x * ratio), 0), this.width);
    this.top = Math.min(Math.max(Math.round(y * ratio), 0), this.height);
    this.right = Math.min(Math.max(Math.round((x + width) * ratio), 0), this.width);
    this.bottom = Math.min(Math.max(Math.round((y + height) * ratio), 0), this.height);
  }

  /** Fills a rectangle. Its edges go to the nearest pixels; it is never thinner than one. */
  rect(x: number, y: number, width: number, height: number, colour: Colour): void {
    this.rectangles++;
    const { ratio, data } = this;
    const stride = this.width;
    const x0 = Math.round(x * ratio);
    const y0 = Math.round(y * ratio);
    const left = Math.max(x0, this.left);
    const top = Math.max(y0, this.top);
    let right = Math.round((x + width) * ratio);
    let bottom = Math.round((y + height) * ratio);
    if (right <= x0) right = x0 + 1;
    if (bottom <= y0) bottom = y0 + 1;
    if (right > this.right) right = this.right;
    if (bottom > this.bottom) bottom = this.bottom;
    const wide = right - left;
    if (wide <= 0) return;
    for (let row = top; row < bottom; row++) {
      const at = row * stride + left;
      // A call of fill() costs more than a few assignments.
      if (wide > 16) data.fill(colour, at, at + wide);
      else for (let i = at; i < at + wide; i++) data[i] = colour;
    }
  }

  /** Draws lines at 135°, 1.5 px wide, one each 5 px along the way across them. */
  hatch(x: number, y: number, width: number, height: number, colour: Colour): void {
    this.rectangles++;
    const { ratio, data } = this;
    const left = Math.max(Math.round(x * ratio), this.left);
    const top = Math.max(Math.round(y * ratio), this.top);
    const right = Math.min(Math.round((x + width) * ratio), this.right);
    const bottom = Math.min(Math.round((y + height) * ratio), this.bottom);
    const apart = Math.round(5 * Math.SQRT2 * ratio);
    const line = Math.max(1, Math.round(1.5 * Math.SQRT2 * ratio));
    for (let row = top; row < bottom; row++) {
      const base = row * this.width;
      // Pixels of a line have the same sum of column and row.
      let column = left - ((left + row) % apart);
      for (; column < right; column += apart) {
        const from = Math.max(column, left);
        const to = Math.min(column + line, right);
        for (let i = from; i < to; i++) data[base + i] = colour;
      }
    }
  }
}
