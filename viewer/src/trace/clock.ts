// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Converts ticks to nanoseconds: straight lines between readings of the clocks, as
// analysis/read/clock_map.cc does it. The results are the same to the nanosecond. The lines are
// made with 64-bit integers; rows are converted with doubles, and with integers where a double
// could round to the other side.

export interface Snapshot {
  readonly ticks: bigint;
  readonly monotonic: bigint;
  readonly realtime: bigint;
  readonly bracket: number;
  readonly cupti: bigint;
}

interface Knot {
  readonly ticks: bigint;
  readonly ns: bigint;
  /** Nanoseconds a tick from here on, times 2^48. */
  readonly rate: bigint;
}

/** A line begins at each. */
export interface Point {
  readonly ticks: bigint;
  readonly ns: bigint;
  readonly nsPerTick: number;
}

const RATE_BITS = 48n;
const MOST_DISTANCE = 1n << 51n;
const TIME_LIMIT = 1n << 61n;
const LATEST_MONOTONIC = 1n << 58n;
const LATEST_REALTIME = 1n << 61n;
const SHORTEST_LINE = 100_000_000n;
const SHORTEST_FIT = 200_000n;

const rateOf = (nsPerTick: number) => BigInt(Math.round(nsPerTick * 2 ** 48));
const isPlausible = (nsPerTick: number) => nsPerTick >= 0.05 && nsPerTick <= 500;
const between = (from: Snapshot, to: Snapshot) =>
  Number(to.monotonic - from.monotonic) / Number(to.ticks - from.ticks);
const clamp = (value: bigint, most: bigint) =>
  value > most ? most : value < -most ? -most : value;

/** Keeps readings in order of both clocks. */
function inOrder(all: readonly Snapshot[]): Snapshot[] {
  const kept: Snapshot[] = [];
  for (const each of all) {
    if (each.monotonic > LATEST_MONOTONIC || each.realtime > LATEST_REALTIME) continue;
    const last = kept[kept.length - 1];
    if (last !== undefined) {
      if (each.ticks <= last.ticks || each.monotonic <= last.monotonic) continue;
      if (!isPlausible(between(last, each))) continue;
    }
    kept.push(each);
  }
  return kept;
}

/** Leaves out readings that were interrupted, and the former of two that are close together. */
function knotsOf(ordered: readonly Snapshot[]): Snapshot[] {
  const brackets = ordered.map((each) => each.bracket).sort((a, b) => a - b);
  const widest = 4 * (brackets[brackets.length >> 1] ?? 0) + 2000;
  const kept: Snapshot[] = [];
  ordered.forEach((each, i) => {
    if (each.bracket > widest && i !== 0 && i + 1 !== ordered.length) return;
    const last = kept[kept.length - 1];
    if (kept.length > 1 && last !== undefined && each.monotonic - last.monotonic < SHORTEST_LINE)
      kept.pop();
    kept.push(each);
  });
  return kept;
}

export class ClockMap {
  realtimeOffset = 0n;
  isGuess = false;
  private knots: Knot[] = [{ ticks: 0n, ns: 0n, rate: rateOf(1) }];
  private shift = 0n;

  static ofSnapshots(
    snapshots: readonly Snapshot[],
    isMonotonic: boolean,
    ticksPerSecond: number,
    anchorTicks: bigint,
    anchorRealtime: bigint,
  ): ClockMap {
    const map = new ClockMap();
    let told = ticksPerSecond === 0 ? 1 : 1e9 / ticksPerSecond;
    if (isMonotonic || !isPlausible(told)) told = 1;
    const ordered = inOrder(snapshots);
    const first = ordered[0];
    if (first === undefined) {
      const ns = anchorRealtime <= LATEST_REALTIME ? anchorRealtime : 0n;
      map.knots = [{ ticks: anchorTicks, ns, rate: rateOf(told) }];
      map.isGuess = true;
      return map;
    }
    map.realtimeOffset = BigInt.asIntN(64, first.realtime - first.monotonic);
    const kept = knotsOf(ordered);
    const begin = kept[0] ?? first;
    const covered = (kept[kept.length - 1] ?? begin).monotonic - begin.monotonic;
    if (isMonotonic || kept.length < 2 || (covered < SHORTEST_FIT && ticksPerSecond !== 0)) {
      map.knots = [{ ticks: begin.ticks, ns: begin.monotonic, rate: rateOf(told) }];
      return map;
    }
    map.knots = [];
    kept.forEach((from, i) => {
      const to = kept[i + 1];
      if (to === undefined) return;
      map.knots.push({ ticks: from.ticks, ns: from.monotonic, rate: rateOf(between(from, to)) });
    });
    return map;
  }

  static ofPoints(points: readonly Point[]): ClockMap {
    const map = new ClockMap();
    if (points.length !== 0)
      map.knots = points.map(({ ticks, ns, nsPerTick }) => ({
        ticks,
        ns,
        rate: rateOf(nsPerTick),
      }));
    return map;
  }

  /** From here on times are those of the clock plus this. */
  setShift(shift: bigint): void {
    this.shift = shift;
  }

  private knotAt(ticks: bigint): Knot {
    let low = 0;
    let high = this.knots.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.knots[middle] as Knot).ticks <= ticks) low = middle + 1;
      else high = middle;
    }
    return this.knots[Math.max(low - 1, 0)] as Knot;
  }

  convert(ticks: bigint): bigint {
    const knot = this.knotAt(ticks);
    const distance = clamp(BigInt.asIntN(64, ticks - knot.ticks), MOST_DISTANCE);
    return clamp(knot.ns + this.shift + ((distance * knot.rate) >> RATE_BITS), TIME_LIMIT);
  }

  /** Returns a converter of ticks that are counted from `origin` on. */
  from(origin: bigint): FastClock {
    return new FastClock(
      this.knots.map(({ ticks, ns, rate }) => ({
        ticks: Number(clamp(ticks - origin, 1n << 62n)),
        ns: Number(clamp(ns + this.shift, TIME_LIMIT)),
        rate,
      })),
    );
  }
}

interface FastKnot {
  readonly ticks: number;
  readonly ns: number;
  readonly rate: bigint;
}

const FAR = 2 ** 51;
const LIMIT = 2 ** 61;

/** Converts doubles; remembers the line it is on. */
export class FastClock {
  private from = 0;
  private to = -1;
  private origin = 0;
  private base = 0;
  private rate = 0n;
  private ratio = 1;

  constructor(private readonly knots: readonly FastKnot[]) {}

  convert(ticks: number): number {
    if (ticks < this.from || ticks >= this.to) this.seek(ticks);
    const distance = ticks - this.origin;
    if (this.ratio === 1 && distance < FAR && distance > -FAR) return this.base + distance;
    const exact = distance * this.ratio;
    const floor = Math.floor(exact);
    const rest = exact - floor;
    const margin = Math.abs(exact) * 2 ** -50;
    if (rest > margin && rest < 1 - margin && distance < FAR && distance > -FAR)
      return this.base + floor;
    return this.slowly(distance);
  }

  /** Converts in place. */
  convertAll(ticks: Float64Array, count: number): void {
    for (let i = 0; i < count; i++) ticks[i] = this.convert(ticks[i] as number);
  }

  private slowly(distance: number): number {
    const near = Math.max(Math.min(distance, FAR), -FAR);
    const time = this.base + Number((BigInt(near) * this.rate) >> RATE_BITS);
    return Math.max(Math.min(time, LIMIT), -LIMIT);
  }

  private seek(ticks: number): void {
    let low = 0;
    let high = this.knots.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.knots[middle] as FastKnot).ticks <= ticks) low = middle + 1;
      else high = middle;
    }
    const place = Math.max(low - 1, 0);
    const knot = this.knots[place] as FastKnot;
    const next = this.knots[place + 1];
    this.from = place === 0 ? Number.NEGATIVE_INFINITY : knot.ticks;
    this.to = next === undefined ? Number.POSITIVE_INFINITY : next.ticks;
    this.origin = knot.ticks;
    this.base = knot.ns;
    this.rate = knot.rate;
    this.ratio = Number(knot.rate) / 2 ** 48;
  }
}

interface Reading {
  readonly cupti: bigint;
  readonly ns: bigint;
}

function stepBetween(from: Reading, to: Reading): bigint {
  const passed = to.ns - from.ns;
  const step = to.cupti - from.cupti - passed;
  const most = 100_000n + BigInt(Math.round(1e-3 * Number(passed)));
  return step > most || step < -most ? step : 0n;
}

/** Returns the lines from CUPTI's clock to ours, as analysis/read/cupti_clock.cc finds them. */
export function cuptiPoints(readings: readonly Reading[]): Point[] {
  const kept: Reading[] = [];
  for (const each of readings) {
    if (each.cupti > LATEST_REALTIME) continue;
    const last = kept[kept.length - 1];
    if (last !== undefined) {
      const passed = each.ns - last.ns;
      if (passed <= 0n) continue;
      if (passed < SHORTEST_LINE && stepBetween(last, each) === 0n) continue;
    }
    kept.push(each);
  }
  const points: Point[] = [];
  for (let i = 0; i < kept.length; i++) {
    const from = kept[i] as Reading;
    const to = kept[i + 1];
    const step = to === undefined ? 0n : stepBetween(from, to);
    const isPlain = to === undefined || step !== 0n;
    const pace = isPlain ? 1 : Number(to.ns - from.ns) / Number(to.cupti - from.cupti);
    points.push({ ticks: from.cupti, ns: from.ns, nsPerTick: pace });
    if (step === 0n || to === undefined) continue;
    const passed = to.ns - from.ns;
    if (passed + step <= 0n) break;
    const middle = (passed + step) / 2n;
    points.push({ ticks: from.cupti + middle, ns: from.ns + middle - step, nsPerTick: 1 });
  }
  return points;
}
