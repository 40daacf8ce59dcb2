// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Arrows from cause to effect, as curves: only of the event that is selected or under the pointer.

import type { EventDetail, EventRef } from "../trace/api";
import { type Place, placeOf, type Sight } from "./hits";
import { duration } from "./units";

/** More arrows are not drawn: an operator may have launched thousands of kernels. */
export const MOST_ARROWS = 40;

export interface Arrow {
  /** The dot, at the cause. */
  readonly x0: number;
  readonly y0: number;
  /** The head, at the effect. */
  readonly x1: number;
  readonly y1: number;
  /** The effect is above its cause: the arrow runs upward. */
  readonly up: boolean;
  /** Words where the cause is out of view; "": it is seen. */
  readonly label: string;
}

function join(cause: Place, effect: Place, label: string): Arrow {
  const up = effect.y <= cause.y;
  return {
    x0: (cause.left + cause.right) / 2,
    y0: up ? cause.y : cause.y + cause.height,
    x1: effect.left + 1,
    y1: up ? effect.y + effect.height + 1 : effect.y - 1,
    up,
    label,
  };
}

/** Returns the arrows of an event. `groups` names the group of each track. */
export function arrowsOf(
  sight: Sight,
  detail: EventDetail,
  groups: readonly string[],
): readonly Arrow[] {
  const group = (track: number): string => groups[track] ?? "";
  const place = (ref: Omit<EventRef, "name">): Place | null =>
    placeOf(sight, ref, group(ref.track));
  const self: EventRef = {
    track: detail.track,
    row: detail.row,
    name: detail.name,
    start_ns: detail.start_ns,
    end_ns: detail.start_ns + detail.duration_ns,
  };
  const here = place(self);
  if (here === null) return [];
  const found: Arrow[] = [];
  // What contains the event on its own track is seen without an arrow.
  const cause = detail.causes.find((ref) => ref.track !== detail.track);
  const from = cause === undefined ? null : place(cause);
  if (cause !== undefined && from !== null) {
    const outOfView = cause.end_ns < sight.view.start || cause.start_ns > sight.view.end;
    const before = Math.max(0, detail.start_ns - cause.end_ns);
    found.push(join(from, here, outOfView ? `launched ${duration(before)} before` : ""));
  }
  let drawn = 0;
  for (const effect of detail.effects) {
    if (effect.track === detail.track) continue;
    if (drawn++ >= MOST_ARROWS) break;
    const to = place(effect);
    if (to !== null) found.push(join(here, to, ""));
  }
  return found;
}

/** Returns the event along the arrow: an effect if there is one, else the cause. */
export function follow(detail: EventDetail): EventRef | undefined {
  const other = (refs: readonly EventRef[]): EventRef | undefined =>
    refs.find((ref) => ref.track !== detail.track) ?? refs[0];
  return other(detail.effects) ?? other(detail.causes);
}
