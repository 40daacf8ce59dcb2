// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The program that the made-up trace is of: steps, in each step layers, in each layer operators that
// launch kernels, and Python around it. Times are whole nanoseconds.

import { CLASSES, type ClassName, type ProcessInfo, type TrackKind } from "../trace/api";
import type { MadeTrack } from "./made_fold";

/** Numbers that look random and are the same for the same seed. */
class Dice {
  constructor(private state: number) {}

  /** Returns a number from 0 up to 1. */
  next(): number {
    this.state = (Math.imul(this.state, 1664525) + 1013904223) >>> 0;
    return this.state / 2 ** 32;
  }

  /** Returns a whole number around a middle: mostly near, sometimes four times as much. */
  around(middle: number): number {
    const far = this.next() < 0.05 ? 4 : 1;
    return Math.max(1, Math.round(middle * (0.5 + this.next()) * far));
  }
}

interface Row {
  readonly start: number;
  readonly end: number;
  readonly name: number;
  readonly cls: number;
  readonly depth: number;
  readonly join: number;
}

/** A track that grows; closed rows come in any order and are sorted at the end. */
class Growing {
  readonly rows: Row[] = [];
  readonly values: [number, number][] = [];

  constructor(
    readonly kind: TrackKind,
    readonly process: number,
    readonly name: string,
    readonly device: number | null,
    readonly tid: number | null,
    readonly unit = "",
    public other = -1,
  ) {}

  finish(): MadeTrack {
    const values = this.values;
    if (values.length > 0) {
      const empty = new Float64Array(values.length);
      return {
        ...this.head(1),
        start: Float64Array.from(values, ([time]) => time),
        value: Float64Array.from(values, ([, value]) => value),
        duration: empty,
        name_of: new Uint32Array(values.length),
        cls: new Uint8Array(values.length),
        depth: new Uint8Array(values.length),
        join: new Int32Array(values.length).fill(-1),
      };
    }
    const rows = this.rows;
    const depths = rows.reduce((most, row) => Math.max(most, row.depth + 1), 1);
    return {
      ...this.head(depths),
      start: Float64Array.from(rows, (row) => row.start),
      duration: Float64Array.from(rows, (row) => row.end - row.start),
      name_of: Uint32Array.from(rows, (row) => row.name),
      cls: Uint8Array.from(rows, (row) => row.cls),
      depth: Uint8Array.from(rows, (row) => row.depth),
      join: Int32Array.from(rows, (row) => row.join),
      value: new Float64Array(0),
    };
  }

  private head(depths: number) {
    const { kind, process, name, device, tid, unit, other } = this;
    return { kind, process, name, device, tid, unit, other, depths };
  }
}

const KERNELS: readonly (readonly [string, ClassName, number])[] = [
  ["gemm bf16 tn 128×128×64", "gemm", 60_000],
  ["flash_fwd bf16 hd64 128×128", "attention", 116_000],
  ["mul bf16 · strided", "elementwise", 27_000],
  ["copy bf16 · strided", "copy_cast", 29_000],
  ["reduce mean f32", "reduction", 9_000],
  ["add bf16 · strided", "elementwise", 4_000],
  ["cast bf16→f32 · unrolled", "copy_cast", 2_500],
];

/** Names that a page must survive: markup, other directions, a megabyte, halves of characters. */
export const HOSTILE = [
  '<img src=x onerror="window.hostile=1">',
  "\u202eآسان\u0000\u0007 \ud800",
  "x".repeat(1 << 20),
  "__proto__",
  "",
] as const;

const OPERATORS = ["linear", "addmm", "scaled_dot_product_attention", "mul", "copy_", "mean"];
const MODULES = ["Attention", "MLP", "RMSNorm", "Linear"];

export class MadeProgram {
  readonly names: string[] = [];
  readonly tracks: MadeTrack[] = [];
  readonly processes: ProcessInfo[] = [];
  end = 0;
  private readonly known = new Map<string, number>();

  constructor(
    seed: number,
    processes: number,
    events: number,
    private readonly hostile: boolean,
  ) {
    for (let process = 0; process < processes; process++) {
      const pid = 25286 + process;
      this.processes.push({
        pid,
        host: "node-1",
        name: process === 0 ? "python3" : `worker ${process}`,
      });
      this.process(new Dice(seed + process * 7919), process, pid, Math.floor(events / processes));
    }
  }

  private name(given: string): number {
    // The first kernels get names from hell; their number is that of the kernel.
    const place = KERNELS.findIndex(([kernel]) => kernel === given);
    const text = this.hostile ? (HOSTILE[place] ?? given) : given;
    let index = this.known.get(text);
    if (index === undefined) {
      index = this.names.length;
      this.names.push(text);
      this.known.set(text, index);
    }
    return index;
  }

  private process(dice: Dice, process: number, pid: number, events: number): void {
    const base = this.tracks.length;
    const stream = new Growing("stream", process, "stream 7", process, null, "", base + 5);
    const copies = new Growing("stream", process, "stream 14", process, null, "", base + 5);
    const queue = new Growing("queue", process, "Launched, waiting", process, null, "kernels");
    const memory = new Growing("memory", process, "Allocated", process, null, "bytes");
    const steps = new Growing("steps", process, "ProfilerStep", null, pid);
    const api = new Growing("api", process, `thread ${pid} (main)`, null, pid, "", base);
    const op = new Growing("op", process, `thread ${pid} (main)`, null, pid);
    const python = new Growing("python", process, `thread ${pid} (main)`, null, pid);
    const waits = new Growing("wait", process, `thread ${pid} (main)`, null, pid);
    const all = [stream, copies, queue, memory, steps, api, op, python, waits];
    const count = (): number =>
      all.reduce((sum, one) => sum + one.rows.length + one.values.length, 0);
    const add = (
      track: Growing,
      name: string,
      cls: ClassName,
      depth: number,
      start: number,
      end: number,
      join = -1,
    ): void => {
      const index = CLASSES.indexOf(cls);
      track.rows.push({ start, end, name: this.name(name), cls: index, depth, join });
    };
    let host = 120_000;
    let device = 150_000;
    let allocated = 2 ** 30;
    let number = 0;
    /** A frame whose end is known once its inside is made: the place is kept. */
    const within = (
      track: Growing,
      name: string,
      cls: ClassName,
      depth: number,
      inside: () => void,
    ) => {
      const at = track.rows.length;
      const start = host;
      add(track, name, cls, depth, start, start);
      host += dice.around(900);
      inside();
      host += dice.around(600);
      const row = track.rows[at];
      if (row !== undefined) track.rows[at] = { ...row, end: host };
    };
    const launch = (): void => {
      const kernel = KERNELS[Math.floor(dice.next() ** 1.5 * KERNELS.length)] ?? KERNELS[0];
      if (kernel === undefined) return;
      const [name, cls, time] = kernel;
      const start = host;
      host += dice.around(4_000);
      add(api, "cudaLaunchKernel", "api", 0, start, host, stream.rows.length);
      const begin = Math.max(device + dice.around(900), host + 2_000);
      const ends = begin + dice.around(time);
      add(stream, name, cls, 0, begin, ends, api.rows.length - 1);
      device = ends;
      queue.values.push([start, Math.max(0, Math.round((device - host) / 20_000))]);
      allocated += Math.round((dice.next() - 0.5) * 2 ** 24);
      memory.values.push([host, Math.max(2 ** 28, allocated)]);
    };
    const operator = (depth: number): void => {
      const name = OPERATORS[Math.floor(dice.next() * OPERATORS.length)] ?? "linear";
      within(op, `aten::${name}`, "op", depth, () => {
        const inner = dice.next();
        if (depth < 4 && inner < 0.5) operator(depth + 1);
        if (depth < 4 && inner < 0.2) operator(depth + 1);
        if (depth === 4 || inner > 0.3) launch();
        host += dice.around(1_200);
      });
    };
    const module = (depth: number, layer: number): void => {
      const name = MODULES[Math.floor(dice.next() * MODULES.length)] ?? "Linear";
      within(python, `nn.Module: ${name}_${layer}`, "python", depth, () => {
        within(python, "torch/nn/modules/module.py(1500): _call_impl", "python", depth + 1, () => {
          within(python, "forward", "python", depth + 2, () => {
            if (depth < 10 && dice.next() < 0.6) module(depth + 3, layer);
            if (depth < 10 && dice.next() < 0.4) module(depth + 3, layer);
            operator(0);
            if (dice.next() < 0.7) operator(0);
            host += dice.around(3_000);
          });
        });
      });
    };
    const step = (): void => {
      const start = host;
      within(python, "train.py(12): train_step", "python", 3, () => {
        const fetch = host;
        host += dice.around(300_000);
        if (dice.next() < 0.3) host += 2_000_000;
        add(waits, "DataLoader.__next__", "input", 0, fetch, host);
        for (let layer = 0; layer < 24 && count() < events; layer++) module(4, layer);
        const copy = Math.max(host, (copies.rows.at(-1)?.end ?? 0) + 500);
        add(copies, "memcpy HtoD", "memcpy", 0, copy, copy + dice.around(40_000));
        const wait = host;
        host = Math.max(host + 2_000, device);
        add(waits, "cudaStreamSynchronize", "sync", 0, wait, host);
        device = host;
      });
      add(steps, `step ${number++}`, "range", 0, start, host);
    };
    // Three frames stand around all of it, as in every program.
    add(python, "train.py(1): <module>", "python", 0, 1_000, 1_000);
    add(python, "train.py(40): main", "python", 1, 20_000, 20_000);
    add(python, "train.py(28): run", "python", 2, 40_000, 40_000);
    while (count() < events) {
      step();
      host += dice.around(20_000);
    }
    const end = host + 100_000;
    for (let i = 0; i < 3; i++) {
      const row = python.rows[i];
      if (row !== undefined) python.rows[i] = { ...row, end: end - i * 10_000 };
    }
    this.end = Math.max(this.end, end, device + 1000);
    for (const track of all) this.tracks.push(track.finish());
  }
}
