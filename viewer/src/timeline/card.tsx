// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The card at the pointer: a slice or a folded cell in a few words. It holds no control and takes no
// pointer; the drawer says the same for keyboard and touch.

import { useLayoutEffect, useRef } from "preact/hooks";
import { shown } from "./labels";
import type { Model } from "./model";
import { CLASS_WORDS, className, classVariable } from "./palette";
import { count, duration, percent, position } from "./units";

const AWAY_PX = 14;

/** Shows the card of what is under the pointer. */
const UNKNOWN = "The events are still being read, or are left out of this page";

export function HoverCard({ model }: { readonly model: Model }) {
  const card = useRef<HTMLDivElement>(null);
  const hovered = model.hovered.value;
  useLayoutEffect(() => {
    const element = card.current;
    if (element === null || hovered === null) return;
    const { offsetWidth: width, offsetHeight: height } = element;
    // It flips at the edges, so that it never covers what it is about.
    const right = hovered.x + AWAY_PX + width <= window.innerWidth;
    const below = hovered.y + AWAY_PX + height <= window.innerHeight;
    const x = right ? hovered.x + AWAY_PX : hovered.x - AWAY_PX - width;
    const y = below ? hovered.y + AWAY_PX : hovered.y - AWAY_PX - height;
    element.style.transform = `translate(${Math.max(4, x)}px, ${Math.max(4, y)}px)`;
  });
  // The sheet of keys is over the tracks.
  if (hovered === null || model.help.value) return null;
  const { hit } = hovered;
  const end = model.whole.end;
  const cls = className(hit.cls);
  const oneIn = model.picture(hit.track)?.spans.one_in ?? 1;
  if (hit.row === null) {
    const share = hit.busy_ns / Math.max(hit.end - hit.start, 1);
    const isKnown = !Number.isNaN(share);
    return (
      <div class="tl-card" ref={card} aria-hidden="true">
        <h4>{count(hit.count)} events, folded</h4>
        <dl>
          <dt>from</dt>
          <dd>{position(hit.start, end)}</dd>
          <dt>span</dt>
          <dd>{duration(hit.end - hit.start)}</dd>
          <dt>busy</dt>
          <dd>{isKnown ? `${percent(share)}, ${duration(hit.busy_ns)}` : "not known"}</dd>
          {isKnown && <dt>most time</dt>}
          {isKnown && <dd>{CLASS_WORDS[cls]}</dd>}
          {oneIn > 1 && (
            <>
              <dt>each stands for</dt>
              <dd>{`up to ${count(oneIn)} events: a part was recorded`}</dd>
            </>
          )}
        </dl>
        <p>{isKnown ? "Double-click zooms to it" : UNKNOWN}</p>
      </div>
    );
  }
  const detail = model.hoveredDetail.value;
  const cause = detail?.causes.find((ref) => ref.track !== hit.track);
  const stream = detail?.fields.find((field) => field.name === "stream")?.value;
  const device = model.trace.info.tracks[hit.track]?.device !== null;
  return (
    <div class="tl-card" ref={card} aria-hidden="true">
      <h4>
        {device && <i class="tl-swatch" style={{ background: classVariable(cls) }} />}
        <bdi>{shown(hit.name)}</bdi>
      </h4>
      <dl>
        <dt>start</dt>
        <dd>{position(hit.start, end)}</dd>
        <dt>duration</dt>
        <dd>{duration(hit.end - hit.start)}</dd>
        {cause !== undefined && device && (
          <>
            <dt>launch to start</dt>
            <dd>{duration(Math.max(0, hit.start - cause.end_ns))}</dd>
          </>
        )}
        {stream !== undefined && (
          <>
            <dt>stream</dt>
            <dd>{shown(stream.replace(/^stream /, ""), 40)}</dd>
          </>
        )}
        <dt>class</dt>
        <dd>{CLASS_WORDS[cls]}</dd>
      </dl>
      <p>
        Click selects, <kbd>↵</kbd> then follows the arrow
      </p>
    </div>
  );
}
