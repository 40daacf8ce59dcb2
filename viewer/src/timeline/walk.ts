// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Walking through the trace with keys: from slice to slice, from row to row, from step to step.

import { neighbour, placeOf, vertical } from "./hits";
import { shown } from "./labels";
import { isCounter, visible } from "./layout";
import type { Model } from "./model";
import { nearest, sibling, stepFrom } from "./moves";
import { duration } from "./units";
import { around } from "./view";

/** Does something that asks the trace; what fails is said and not thrown. */
async function attempt(model: Model, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (reason) {
    model.failed(reason);
  }
}

/** Shows the step before or after the one in the middle of the view. */
export function walkStep(model: Model, step: 1 | -1): Promise<void> {
  return attempt(model, async () => {
    const track = model.trace.info.tracks.find((info) => info.kind === "steps" && info.rows > 0);
    if (track === undefined) {
      model.spoken.value = "No steps were recorded";
      return;
    }
    const middle = (model.view.start + model.view.end) / 2;
    const found = await stepFrom(model.trace, track.id, middle, step);
    if (found === null) return;
    model.show(around({ start: found.start_ns, end: found.end_ns }, 0.05, model.whole), true);
    model.spoken.value = `${shown(found.name)}, ${duration(found.end_ns - found.start_ns)}`;
  });
}

/** Selects some event when none is: the one in the middle of the first track that has slices. */
async function first(model: Model): Promise<void> {
  const middle = (model.view.start + model.view.end) / 2;
  for (const { band } of visible(model.layout, model.scroll, model.height)) {
    if (band.track === null || isCounter(band.track.kind) || band.track.rows === 0) continue;
    const track = band.track.id;
    const found =
      (await model.trace.at(track, middle)) ??
      (await nearest(model.trace, track, middle, 1, 0)) ??
      (await nearest(model.trace, track, middle, -1, 0));
    if (found !== null) return model.pick(track, found.row, "all");
  }
}

/** Selects the slice before or after the selected one, in its row. */
export function walkSlice(model: Model, step: 1 | -1): Promise<void> {
  return attempt(model, async () => {
    const picked = model.picked.value;
    if (picked === null) return first(model);
    const picture = model.store.picture(picked.track);
    const event = { row: picked.row, start: picked.start_ns };
    const next = picture === undefined ? "folded" : neighbour(picture, event, step);
    if (next !== null && next !== "folded") return model.pick(picked.track, next.row, "all");
    // Folded here, or beyond what is loaded: the trace knows.
    const end_ns = picked.start_ns + picked.duration_ns;
    const found = await sibling(model.trace, { ...picked, end_ns }, step);
    if (found !== null) return model.pick(found.track, found.row, "all");
  });
}

/** Selects the slice above or below the selected one. */
export function walkRow(model: Model, step: 1 | -1): Promise<void> {
  return attempt(model, async () => {
    const picked = model.picked.value;
    if (picked === null) return first(model);
    const end_ns = picked.start_ns + picked.duration_ns;
    const group = model.groupsOfTracks[picked.track] ?? "";
    const place = placeOf(model, { ...picked, end_ns }, group);
    if (place === null) return;
    const middle =
      (Math.max(picked.start_ns, model.view.start) + Math.min(end_ns, model.view.end)) / 2;
    const found = vertical(model, place, middle, step);
    if (found === null) return;
    if ("row" in found && found.row !== null) return model.pick(found.track, found.row, "all");
    const event = await model.trace.at(found.track, middle);
    if (event !== null) await model.pick(event.track, event.row, "all");
  });
}
