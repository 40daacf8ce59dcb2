// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Typed arrays that grow. Two classes and not one: each then always meets one kind of array, which
// keeps its inner loops fast.

export class Floats {
  private data = new Float64Array(64);
  length = 0;
  /** Takes values over. */
  static of(values: Float64Array): Floats {
    const made = new Floats();
    made.data = values as Float64Array<ArrayBuffer>;
    made.length = values.length;
    return made;
  }
  push(value: number): void {
    if (this.length === this.data.length) {
      const grown = new Float64Array(this.length * 2 + 64);
      grown.set(this.data);
      this.data = grown;
    }
    this.data[this.length++] = value;
  }
  at(i: number): number {
    return this.data[i] as number;
  }
  set(i: number, value: number): void {
    this.data[i] = value;
  }
  /** Gives back the room for more values. */
  trim(): void {
    if (this.data.length > this.length) this.data = this.data.slice(0, this.length);
  }
  taken(): Float64Array {
    return this.data.slice(0, this.length);
  }
  /** Returns the first place whose value is not less. Values ascend. */
  lowerBound(value: number): number {
    return lowerBound(this.data, value, this.length);
  }
}

export class Words {
  private data = new Uint32Array(64);
  length = 0;
  /** Takes values over. */
  static of(values: Uint32Array): Words {
    const made = new Words();
    made.data = values as Uint32Array<ArrayBuffer>;
    made.length = values.length;
    return made;
  }
  push(value: number): void {
    if (this.length === this.data.length) {
      const grown = new Uint32Array(this.length * 2 + 64);
      grown.set(this.data);
      this.data = grown;
    }
    this.data[this.length++] = value;
  }
  at(i: number): number {
    return this.data[i] as number;
  }
  set(i: number, value: number): void {
    this.data[i] = value;
  }
  /** Gives back the room for more values. */
  trim(): void {
    if (this.data.length > this.length) this.data = this.data.slice(0, this.length);
  }
  taken(): Uint32Array {
    return this.data.slice(0, this.length);
  }
}

/** Returns the first place in ascending values whose value is not less than `value`. */
export function lowerBound(values: ArrayLike<number>, value: number, count: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
