// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// For tests: pictures of exact areas, and how alike two pictures look (SSIM, Wang et al. 2004).

/** A picture with three numbers from 0 to 255 a pixel. */
export class Exact {
  readonly data: Float64Array;

  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    this.data = new Float64Array(width * height * 3);
  }

  /** Copies pixels of four bytes each. */
  static of(width: number, height: number, bytes: Uint8Array): Exact {
    const made = new Exact(width, height);
    for (let i = 0; i < width * height; i++)
      for (let k = 0; k < 3; k++) made.data[i * 3 + k] = bytes[i * 4 + k] ?? 0;
    return made;
  }

  /** Puts a rectangle over the picture. A pixel takes the colour by the share that is covered. */
  rect(x: number, y: number, width: number, height: number, colour: readonly number[]): void {
    const [right, bottom] = [Math.min(x + width, this.width), Math.min(y + height, this.height)];
    for (let row = Math.max(0, Math.floor(y)); row < bottom; row++) {
      const tall = Math.min(row + 1, bottom) - Math.max(row, y);
      for (let column = Math.max(0, Math.floor(x)); column < right; column++) {
        const share = (Math.min(column + 1, right) - Math.max(column, x)) * tall;
        const at = (row * this.width + column) * 3;
        for (let k = 0; k < 3; k++)
          this.data[at + k] = (this.data[at + k] ?? 0) * (1 - share) + (colour[k] ?? 0) * share;
      }
    }
  }

  /** Puts a colour on the pixels of a rectangle that a mask of the same size has. */
  mask(
    mask: { readonly data: Uint32Array },
    x: number,
    y: number,
    width: number,
    height: number,
    colour: readonly number[],
  ): void {
    const [right, bottom] = [Math.min(x + width, this.width), Math.min(y + height, this.height)];
    for (let row = Math.round(y); row < bottom; row++)
      for (let column = Math.round(x); column < right; column++)
        if (mask.data[row * this.width + column] === 1) this.rect(column, row, 1, 1, colour);
  }

  /** Returns one of the three numbers in a part of the picture, `factor` pixels of a side joined. */
  channel(
    which: number,
    x: number,
    y: number,
    width: number,
    height: number,
    factor: number,
  ): Grey {
    const [w, h] = [Math.floor(width / factor), Math.floor(height / factor)];
    const data = new Float64Array(w * h);
    for (let row = 0; row < h * factor; row++) {
      for (let column = 0; column < w * factor; column++) {
        const value = this.data[((y + row) * this.width + x + column) * 3 + which] ?? 0;
        const to = Math.floor(row / factor) * w + Math.floor(column / factor);
        data[to] = (data[to] ?? 0) + value / factor / factor;
      }
    }
    return { width: w, height: h, data };
  }
}

export interface Grey {
  readonly width: number;
  readonly height: number;
  readonly data: Float64Array;
}

const RADIUS = 5;
const WEIGHTS = (() => {
  const all = Array.from({ length: 2 * RADIUS + 1 }, (_, i) =>
    Math.exp(-((i - RADIUS) ** 2) / (2 * 1.5 ** 2)),
  );
  const sum = all.reduce((x, y) => x + y, 0);
  return all.map((each) => each / sum);
})();

/** Smooths by a Gauss window of 11 by 11. At the edges the outermost values go on. */
function smooth({ width, height, data }: Grey): Float64Array {
  const pass = (from: Float64Array, step: number, along: number, across: number): Float64Array => {
    const to = new Float64Array(from.length);
    const other = step === 1 ? width : 1;
    for (let line = 0; line < across; line++) {
      for (let i = 0; i < along; i++) {
        let sum = 0;
        for (let k = -RADIUS; k <= RADIUS; k++) {
          const at = Math.min(Math.max(i + k, 0), along - 1);
          sum += (WEIGHTS[k + RADIUS] ?? 0) * (from[line * other + at * step] ?? 0);
        }
        to[line * other + i * step] = sum;
      }
    }
    return to;
  };
  return pass(pass(data, 1, width, height), width, height, width);
}

/** Returns how alike two pictures look: 1 is the same. */
export function ssim(one: Grey, two: Grey): number {
  const product = (x: Float64Array, y: Float64Array): Grey => {
    return { ...one, data: x.map((each, i) => each * (y[i] ?? 0)) };
  };
  const [x, y] = [smooth(one), smooth(two)];
  const xx = smooth(product(one.data, one.data));
  const yy = smooth(product(two.data, two.data));
  const xy = smooth(product(one.data, two.data));
  const [c1, c2] = [(0.01 * 255) ** 2, (0.03 * 255) ** 2];
  const sum = x.reduce((before, mx, i) => {
    const my = y[i] ?? 0;
    const spread = (xx[i] ?? 0) - mx * mx + (yy[i] ?? 0) - my * my;
    const both = (xy[i] ?? 0) - mx * my;
    const place = (2 * mx * my + c1) * (2 * both + c2);
    return before + place / ((mx * mx + my * my + c1) * (spread + c2));
  }, 0);
  return sum / x.length;
}
