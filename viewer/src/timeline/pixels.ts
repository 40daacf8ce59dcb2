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

/** An edge that is so near to a pixel's is its edge. */
const NEAR = 0.02;

/** Returns a mix of two pixels. Red and blue, green and alpha are mixed together: it is fast. */
function blend(over: Colour, under: Colour, share: number): Colour {
  const part = Math.round(share * 256);
  const odd = (over & 0xff00ff) * part + (under & 0xff00ff) * (256 - part);
  const even = ((over >>> 8) & 0xff00ff) * part + ((under >>> 8) & 0xff00ff) * (256 - part);
  return (((odd / 256) & 0xff00ff) | ((even & 0xff00ff00) >>> 0)) >>> 0;
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
    const { ratio } = this;
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
    if (right > left) this.fill(left, right, top, bottom, colour);
  }

  /** Fills a rectangle. Pixels that it covers partly are mixed, so that thin gaps are seen. */
  soft(x: number, y: number, width: number, height: number, colour: Colour): void {
    this.rectangles++;
    const { ratio } = this;
    const x0 = Math.max(x * ratio, this.left);
    const x1 = Math.min((x + width) * ratio, this.right);
    if (x1 <= x0) return;
    const top = Math.max(Math.round(y * ratio), this.top);
    const bottom = Math.min(Math.max(Math.round((y + height) * ratio), top + 1), this.bottom);
    const first = Math.ceil(x0 - NEAR);
    const last = Math.floor(x1 + NEAR);
    if (last > first) this.fill(first, last, top, bottom, colour);
    if (first - x0 > NEAR) this.mixed(first - 1, top, bottom, colour, Math.min(x1, first) - x0);
    if (x1 - last > NEAR && last >= first) this.mixed(last, top, bottom, colour, x1 - last);
  }

  /** Fills a rectangle whose left and right edges lie on pixels. Thin ones are paler. */
  bar(x: number, y: number, width: number, height: number, colour: Colour): void {
    this.rectangles++;
    const { ratio, data } = this;
    const left = Math.max(Math.round(x * ratio), this.left);
    const right = Math.min(Math.round((x + width) * ratio), this.right);
    const y0 = Math.max(y * ratio, this.top);
    const y1 = Math.min((y + height) * ratio, this.bottom);
    const top = Math.ceil(y0 - NEAR);
    const bottom = Math.floor(y1 + NEAR);
    if (bottom > top) this.fill(left, right, top, bottom, colour);
    const mix = (row: number, share: number): void => {
      for (let i = row * this.width + left; i < row * this.width + right; i++)
        data[i] = blend(colour, data[i] as number, share);
    };
    if (top - y0 > NEAR) mix(top - 1, Math.min(y1, top) - y0);
    if (y1 - bottom > NEAR && bottom >= top) mix(bottom, y1 - bottom);
  }

  private mixed(column: number, top: number, bottom: number, colour: Colour, share: number): void {
    const { data } = this;
    for (let row = top; row < bottom; row++) {
      const at = row * this.width + column;
      data[at] = blend(colour, data[at] as number, share);
    }
  }

  private fill(left: number, right: number, top: number, bottom: number, colour: Colour): void {
    const { data, width } = this;
    for (let row = top; row < bottom; row++) {
      const at = row * width + left;
      const end = row * width + right;
      // A call of fill() costs more than a few assignments.
      if (right - left > 16) data.fill(colour, at, end);
      else for (let i = at; i < end; i++) data[i] = colour;
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
