// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Decoded rows in memory, under a limit of bytes: what was used last stays. Any value can be made
// again, so nothing is lost when it goes.

export class Cache {
  private readonly entries = new Map<object, { value: Promise<unknown>; bytes: number }>();
  private total = 0;

  constructor(readonly limit: number) {}

  get bytes(): number {
    return this.total;
  }

  /** Returns the value of a key, made if it is not there. `size`: of a value, in bytes. */
  get<T>(key: object, make: () => Promise<T>, size: (value: T) => number): Promise<T> {
    const known = this.entries.get(key);
    if (known !== undefined) {
      this.entries.delete(key);
      this.entries.set(key, known);
      return known.value as Promise<T>;
    }
    const entry = { value: make(), bytes: 0 };
    this.entries.set(key, entry);
    entry.value.then(
      (value) => {
        if (this.entries.get(key) !== entry) return;
        entry.bytes = size(value as T);
        this.total += entry.bytes;
        this.trim(key);
      },
      () => this.entries.delete(key),
    );
    return entry.value;
  }

  /** Forgets a value: what was made of it is kept. */
  drop(key: object): void {
    this.total -= this.entries.get(key)?.bytes ?? 0;
    this.entries.delete(key);
  }

  private trim(newest: object): void {
    for (const [key, entry] of this.entries) {
      if (this.total <= this.limit) return;
      if (key === newest || entry.bytes === 0) continue;
      this.entries.delete(key);
      this.total -= entry.bytes;
    }
  }
}
