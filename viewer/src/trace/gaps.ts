// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// When a device had no work in a range. A gap ends where the next work of any of its streams
// begins. Time before the device's first work and behind its last is no gap.

import { type DeviceGaps, type Gap, isSelected, type Selection } from "./api";
import { Floats, Words } from "./growing";
import type { TrackEntry } from "./tracks";

/** Gaps that are told one by one: the longest. */
const MOST_GAPS = 1000;

interface Device {
  readonly process: number;
  readonly device: number;
  readonly tracks: TrackEntry[];
}

function devicesOf(tracks: readonly TrackEntry[], selection: Selection): Device[] {
  const devices = new Map<string, Device>();
  for (const entry of tracks) {
    const { kind, device, process } = entry.info;
    if (kind !== "stream" || device === null || !isSelected(entry.info, selection)) continue;
    const key = `${process} ${device}`;
    const known = devices.get(key);
    if (known === undefined) devices.set(key, { process, device, tracks: [entry] });
    else known.tracks.push(entry);
  }
  return [...devices.values()];
}

/** Finds the gaps of a device. Names are those of the trace. */
async function gapsOf(
  { tracks, process, device }: Device,
  { start_ns, end_ns }: Selection,
  nameOf: (name: number) => string,
): Promise<DeviceGaps> {
  const [starts, ends, names] = [new Floats(), new Floats(), new Words()];
  let [first, last] = [Infinity, -Infinity];
  let left_out = 0;
  for (const { spans } of tracks) {
    if (spans === null) continue;
    left_out += spans.absentRows(start_ns, end_ns);
    first = Math.min(first, spans.first);
    last = Math.max(last, spans.last);
    await spans.within(start_ns, end_ns, (start, end, name) => {
      starts.push(start);
      ends.push(end);
      names.push(name);
    });
  }
  const order = new Uint32Array(starts.length).map((_, i) => i);
  if (tracks.length > 1) order.sort((x, y) => starts.at(x) - starts.at(y));
  // Work before the range: the range begins within the device's time.
  let covered = first < start_ns ? start_ns : Infinity;
  let [idle, count] = [0, 0];
  const begin = Math.min(covered, order.length === 0 ? Infinity : starts.at(order[0] as number));
  const found: Gap[] = [];
  const add = (until: number, name: string) => {
    if (until <= covered) return;
    idle += until - covered;
    count += 1;
    found.push({ start_ns: covered, end_ns: until, next: name });
    if (found.length > 4 * MOST_GAPS) keepLongest(found);
  };
  for (const i of order) {
    add(Math.min(starts.at(i), end_ns), nameOf(names.at(i)));
    covered = covered === Infinity ? ends.at(i) : Math.max(covered, ends.at(i));
  }
  if (last > end_ns) {
    add(end_ns, "");
    covered = Math.max(covered, end_ns);
  }
  keepLongest(found);
  const window_ns = Math.max(0, Math.min(covered, end_ns) - Math.max(begin, start_ns));
  return { process, device, window_ns, idle_ns: idle, gap_count: count, left_out, gaps: found };
}

function keepLongest(gaps: Gap[]): void {
  gaps.sort((x, y) => y.end_ns - y.start_ns - (x.end_ns - x.start_ns));
  gaps.length = Math.min(gaps.length, MOST_GAPS);
}

/** Finds the gaps of all selected devices that had work in the range or around it. */
export async function findGaps(
  tracks: readonly TrackEntry[],
  selection: Selection,
  nameOf: (name: number) => string,
): Promise<DeviceGaps[]> {
  const all: DeviceGaps[] = [];
  for (const device of devicesOf(tracks, selection))
    all.push(await gapsOf(device, selection, nameOf));
  return all.filter(({ window_ns }) => window_ns > 0);
}
