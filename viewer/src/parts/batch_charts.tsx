// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Waits of steps for their batches as bars, and the life of some batches as lanes.

import { useMemo, useState } from "preact/hooks";
import { duration, fixed, significant } from "../base/format";
import type { InputBatch } from "../data/results";
import { columnsOfWaits, isFirst, lifeOf, type Piece } from "./batch_life";
import { hideCard, showCard } from "./card";
import { unitOfTimes } from "./columns";
import "./pictures.css";
import { useWidth } from "./use_width";

/** Returns what is known of a batch, as names and values. Times are since a moment. */
export function factsOfBatch(batch: InputBatch, since_ns: number): [string, string][] {
  const at = (ns: number) => `${duration(ns - since_ns)}`;
  const facts: [string, string][] = [
    ["asked", at(batch.asked_ns)],
    ["taken", at(batch.asked_ns + batch.wait_ns)],
    ["waited for", duration(batch.wait_ns)],
  ];
  if (batch.worker_pid === 0) return [...facts, ["worker", "not known"]];
  return [
    ["worker", String(batch.worker_pid)],
    ...(batch.begin_ns === 0 ? [] : [["started", at(batch.begin_ns)] as [string, string]]),
    ["ready", at(batch.ready_ns)],
    ...facts,
    ["made in", batch.service_ns === 0 ? "not known" : duration(batch.service_ns)],
    ["ready before it was asked for", duration(batch.margin_ns)],
  ];
}

/** Moves a place by the arrow keys. Null: the key means something else. */
function moved(event: KeyboardEvent, at: number, last: number): number | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  if (event.key === "Home") return 0;
  if (event.key === "End") return last;
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  return step === undefined ? null : Math.max(0, Math.min(last, at + step));
}

const LEFT = 46;
const BAR_HEIGHT = 120;
const BAR_FOOT = 18;

export interface BatchChartProps {
  /** In the order in which they were taken. */
  readonly batches: readonly InputBatch[];
  readonly onPick: (index: number) => void;
}

/** Waits of all steps; those that share a column show the longest of them. */
export function WaitBars(
  props: BatchChartProps & { readonly from: number; readonly count: number },
) {
  const { batches, onPick, from, count } = props;
  const [place, width] = useWidth<HTMLDivElement>();
  const [at, setAt] = useState<number | null>(null);
  const columns = useMemo(
    () => columnsOfWaits(batches, Math.max(1, (width - LEFT) / 3)),
    [batches, width],
  );
  // The first of an epoch is cut off: workers begin with it, and it would hide the others.
  const most = useMemo(() => {
    const settled = batches.filter((_, index) => !isFirst(batches, index));
    const waits = (settled.length > 0 ? settled : batches).map((batch) => batch.wait_ns);
    return Math.max(1, ...waits);
  }, [batches]);
  const unit = unitOfTimes(most);
  const step = columns.length === 0 ? 0 : (width - LEFT) / columns.length;
  const y = (ns: number) =>
    BAR_HEIGHT - (Math.min(ns, most * 1.08) / (most * 1.08)) * (BAR_HEIGHT - 4);
  const xOf = (index: number) => LEFT + (index / Math.max(1, batches.length)) * (width - LEFT);
  const show = (column: number | null, x: number, top: number) => {
    setAt(column);
    const index = column === null ? undefined : columns[column];
    const batch = index === undefined ? undefined : batches[index];
    if (batch === undefined) {
      hideCard();
      return;
    }
    showCard({
      x,
      y: top,
      title: `Batch ${batch.number}${batches[0]?.epoch === batches[batches.length - 1]?.epoch ? "" : ` of epoch ${batch.epoch}`}`,
      pairs: factsOfBatch(batch, batches[0]?.asked_ns ?? 0),
      click: "Click: show the life of this batch",
    });
  };
  const columnAt = (x: number) =>
    step === 0 || x < LEFT ? null : Math.min(columns.length - 1, Math.floor((x - LEFT) / step));
  const pick = () => {
    const index = at === null ? undefined : columns[at];
    if (index !== undefined) onPick(index);
  };
  const now = at === null ? undefined : batches[columns[at] ?? -1];
  return (
    <>
      <div
        class="chart input-chart"
        role="application"
        aria-label={`Waits of ${batches.length} steps for their batches, the longest ${duration(most)}; arrow keys go through them`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the chart takes arrow keys.
        tabIndex={0}
        ref={place}
        style={{ height: `${BAR_HEIGHT + BAR_FOOT}px` }}
        onPointerMove={(event) => {
          const box = place.current?.getBoundingClientRect();
          if (box !== undefined)
            show(columnAt(event.clientX - box.left), event.clientX, event.clientY);
        }}
        onPointerLeave={() => show(null, 0, 0)}
        onBlur={() => show(null, 0, 0)}
        onKeyDown={(event) => {
          const next = moved(event, at ?? -1, columns.length - 1);
          const box = place.current?.getBoundingClientRect();
          if (next !== null && box !== undefined) {
            event.preventDefault();
            show(next, box.left + LEFT + next * step, box.top + 20);
          } else if (event.key === "Enter") pick();
        }}
        onClick={pick}
      >
        {width > 0 && (
          <svg width={width} height={BAR_HEIGHT + BAR_FOOT} aria-hidden="true">
            {[1, 0.5, 0].map((share) => (
              <g key={share}>
                <line class="grid" x1={LEFT} x2={width} y1={y(most * share)} y2={y(most * share)} />
                <text x={LEFT - 6} y={y(most * share) + 4} text-anchor="end">
                  {share === 0
                    ? "0"
                    : `${significant((most * share) / unit.ns)}${share === 1 ? ` ${unit.name}` : ""}`}
                </text>
              </g>
            ))}
            <rect
              class="shown"
              x={xOf(from)}
              y={0}
              width={Math.max(2, xOf(from + count) - xOf(from))}
              height={BAR_HEIGHT}
            />
            {columns.map((index, column) => {
              const top = y(batches[index]?.wait_ns ?? 0);
              return (
                <rect
                  key={column}
                  class={column === at ? "bar now" : "bar"}
                  x={LEFT + column * step}
                  y={top}
                  width={Math.max(1, step > 3 ? step - 1 : step)}
                  height={BAR_HEIGHT - top}
                />
              );
            })}
            <text x={LEFT} y={BAR_HEIGHT + 14}>
              batch {batches[0]?.number}
            </text>
            <text x={width} y={BAR_HEIGHT + 14} text-anchor="end">
              {batches[batches.length - 1]?.number}
            </text>
          </svg>
        )}
      </div>
      <span class="visually-hidden" aria-live="polite">
        {now !== undefined && `Batch ${now.number}: waited for ${duration(now.wait_ns)}`}
      </span>
    </>
  );
}

const NAMES = 92;
const LANE = 30;
const LETTER = 6.2;

/** Writes what fits into a piece. */
function fitting(width: number, ...texts: readonly string[]): string {
  return texts.find((text) => text.length * LETTER + 8 <= width) ?? "";
}

/** Some batches: who made them, when they were asked for, and how long a step waited for them. */
export function BatchLife(
  props: BatchChartProps & { readonly from: number; readonly count: number },
) {
  const { batches, onPick, from, count } = props;
  const [place, width] = useWidth<HTMLDivElement>();
  const [at, setAt] = useState<number | null>(null);
  const life = useMemo(() => lifeOf(batches, from, count), [batches, from, count]);
  const { start_ns, end_ns, workers, waits, steps } = life;
  const unit = unitOfTimes(end_ns - start_ns);
  const waitUnit = unitOfTimes(Math.max(...waits.map((piece) => piece.to_ns - piece.from_ns)));
  const x = (ns: number) =>
    NAMES + Math.max(0, Math.min(1, (ns - start_ns) / (end_ns - start_ns))) * (width - NAMES);
  const lanes = workers.length + 1;
  const height = lanes * LANE + 20;
  const show = (index: number | null, left: number, top: number) => {
    setAt(index);
    const batch = index === null ? undefined : batches[index];
    if (batch === undefined) {
      hideCard();
      return;
    }
    showCard({
      x: left,
      y: top,
      title: `Batch ${batch.number}`,
      pairs: factsOfBatch(batch, start_ns),
      click: "Click: show it in the trace viewer",
    });
  };
  const box = (piece: Piece, lane: number, look: string, text: string) => {
    const [left, right] = [x(piece.from_ns), x(piece.to_ns)];
    const isNow = piece.at === at ? " now" : "";
    return (
      <g
        key={`${look} ${piece.at}`}
        onPointerMove={(event) => show(piece.at, event.clientX, event.clientY)}
      >
        <rect
          class={`${look}${isNow}`}
          x={left}
          y={lane * LANE}
          width={Math.max(1, right - left - 1)}
          height={LANE - 6}
        />
        {text !== "" && (
          <text class={`on-${look}`} x={left + 5} y={lane * LANE + 16}>
            {text}
          </text>
        )}
      </g>
    );
  };
  const wide = (piece: Piece) => x(piece.to_ns) - x(piece.from_ns);
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  const last = Math.min(batches.length, from + count) - 1;
  const now = at === null ? undefined : batches[at];
  return (
    <>
      <div
        class="chart input-chart"
        role="application"
        aria-label={`Life of batches ${batches[from]?.number ?? 0} to ${batches[last]?.number ?? 0}: a lane for each of ${workers.length} workers, and one for the steps; arrow keys go through the batches`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the chart takes arrow keys.
        tabIndex={0}
        ref={place}
        style={{ height: `${height}px` }}
        onPointerLeave={() => show(null, 0, 0)}
        onBlur={() => show(null, 0, 0)}
        onKeyDown={(event) => {
          const next = moved(event, (at ?? from - 1) - from, last - from);
          const bounds = place.current?.getBoundingClientRect();
          const wait = next === null ? undefined : waits[next];
          if (next !== null && wait !== undefined && bounds !== undefined) {
            event.preventDefault();
            show(wait.at, bounds.left + x(wait.from_ns), bounds.top + workers.length * LANE);
          } else if (event.key === "Enter" && at !== null) onPick(at);
        }}
        onClick={() => at !== null && onPick(at)}
      >
        {width > 0 && (
          <svg width={width} height={height} aria-hidden="true">
            <defs>
              <pattern
                id="input-wait"
                width="10"
                height="10"
                patternUnits="userSpaceOnUse"
                patternTransform="rotate(45)"
              >
                <rect class="pale" width="10" height="10" />
                <rect class="strong" width="5" height="10" />
              </pattern>
            </defs>
            {workers.map(({ pid, pieces }, lane) => (
              <g key={pid}>
                <text class="lane" x={0} y={lane * LANE + 16}>
                  worker {pid}
                </text>
                {pieces.map((piece) => {
                  const batch = batches[piece.at];
                  const name = String(batch?.number ?? "");
                  const time = duration(piece.to_ns - piece.from_ns);
                  return box(piece, lane, "made", fitting(wide(piece), `${name} · ${time}`, name));
                })}
              </g>
            ))}
            <text class="lane" x={0} y={workers.length * LANE + 16}>
              steps
            </text>
            {steps.map((piece) =>
              box(
                piece,
                workers.length,
                "work",
                fitting(wide(piece), String(batches[piece.at]?.number)),
              ),
            )}
            {waits.map((piece) => box(piece, workers.length, "waits", ""))}
            {waits.map((piece) => {
              const text = fitting(
                wide(piece) - 8,
                significant((piece.to_ns - piece.from_ns) / waitUnit.ns),
              );
              return (
                text !== "" && (
                  <g key={piece.at} class="plate">
                    <rect
                      x={x(piece.from_ns) + 4}
                      y={workers.length * LANE + 4}
                      width={text.length * LETTER + 8}
                      height={LANE - 14}
                    />
                    <text x={x(piece.from_ns) + 8} y={workers.length * LANE + 16}>
                      {text}
                    </text>
                  </g>
                )
              );
            })}
            {ticks.map((share) => (
              <text
                key={share}
                x={NAMES + share * (width - NAMES)}
                y={height - 4}
                text-anchor={share === 0 ? "start" : share === 1 ? "end" : "middle"}
              >
                {fixed(((end_ns - start_ns) * share) / unit.ns, share === 0 ? 0 : 1)}
                {share === 1 && ` ${unit.name}`}
              </text>
            ))}
          </svg>
        )}
      </div>
      <div class="legend">
        <span>
          <span class="swatch pale" style={{ background: "var(--n3)" }} />a worker makes a batch
        </span>
        <span>
          <span class="swatch late" />a step waits for its batch, {waitUnit.name}
        </span>
        <span>
          <span class="swatch" style={{ background: "var(--d_forward)" }} />
          the step after it
        </span>
      </div>
      <span class="visually-hidden" aria-live="polite">
        {now !== undefined &&
          `Batch ${now.number}: ${factsOfBatch(now, start_ns)
            .map((pair) => pair.join(" "))
            .join("; ")}`}
      </span>
    </>
  );
}
