// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a search found, in the order of time: each leads to its place. Only rows in view are elements.

import { useEffect, useRef, useState } from "preact/hooks";
import { shown } from "./labels";
import type { Model } from "./model";
import { unitFor } from "./range_table";
import { count, fixed, position } from "./units";

const ROW_PX = 24;
const SPARE_ROWS = 8;

/** Shows the hits of the search; nothing is searched for: nothing. */
export function HitList({ model }: { readonly model: Model }) {
  const match = model.match.value;
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const hits = match?.answer.hits ?? [];
  const selected = match === null ? -1 : model.hitIndex();
  useEffect(() => {
    // The list follows the buttons and keys that walk through the hits.
    const place = box.current;
    if (place === null || selected < 0) return;
    const y = selected * ROW_PX;
    const isSeen = y >= place.scrollTop && y + 2 * ROW_PX <= place.scrollTop + place.clientHeight;
    if (!isSeen) place.scrollTop = Math.max(0, y - place.clientHeight / 2);
  }, [selected]);
  if (match === null) return null;
  const longest = hits.reduce((most, hit) => Math.max(most, hit.end_ns - hit.start_ns), 0);
  const unit = unitFor(longest);
  const tall = box.current?.clientHeight ?? 600;
  const first = Math.max(0, Math.floor(top / ROW_PX) - SPARE_ROWS);
  const last = Math.min(hits.length, Math.ceil((top + tall) / ROW_PX) + SPARE_ROWS);
  const isOfOne = new Set(hits.map((hit) => hit.name)).size === 1;
  const left = match.answer.count - hits.length;
  return (
    <section class="tl-hits" aria-label="Hits">
      <h2>
        Hits <small>{count(match.answer.count)}, in order of time</small>
      </h2>
      <div
        class="tl-hit-rows"
        ref={box}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      >
        <table>
          <thead>
            <tr>
              <th scope="col">#</th>
              <th scope="col">at</th>
              <th scope="col">{unit.name}</th>
              <th scope="col" class="tl-name">
                {isOfOne ? "track" : "name"}
              </th>
            </tr>
          </thead>
          <tbody>
            {first > 0 && <tr class="tl-gap" style={{ height: `${first * ROW_PX}px` }} />}
            {hits.slice(first, last).map((hit, i) => (
              <tr key={first + i} class={first + i === selected ? "tl-on" : ""}>
                <td>
                  <button
                    type="button"
                    class="tl-link"
                    aria-current={first + i === selected ? "true" : undefined}
                    onClick={() => void model.pick(hit.track, hit.row, "all")}
                  >
                    {count(first + i + 1)}
                  </button>
                </td>
                <td>{position(hit.start_ns, model.whole.end)}</td>
                <td>{fixed((hit.end_ns - hit.start_ns) / unit.ns, unit.decimals)}</td>
                <td class="tl-name" title={shown(hit.name, 500)}>
                  <bdi>
                    {isOfOne
                      ? shown(model.trace.info.tracks[hit.track]?.name ?? "", 40)
                      : shown(hit.name, 60)}
                  </bdi>
                </td>
              </tr>
            ))}
            {last < hits.length && (
              <tr class="tl-gap" style={{ height: `${(hits.length - last) * ROW_PX}px` }} />
            )}
          </tbody>
        </table>
      </div>
      {left > 0 && <p class="tl-quiet">{count(left)} more are not listed.</p>}
    </section>
  );
}
