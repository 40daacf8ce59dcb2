// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A chart of uPlot that follows the width of its place and the theme.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { themeChanges } from "../app/state";

/** Returns the value of a colour token now. */
export function color(token: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${token}`).trim();
}

/** Returns the stripes of a wait for a canvas. They are as wide as those of the style sheet. */
export function stripes(context: CanvasRenderingContext2D, hue: string): CanvasPattern | string {
  const ratio = devicePixelRatio;
  const size = Math.round(14 * ratio);
  const tile = document.createElement("canvas");
  tile.width = size;
  tile.height = size;
  const pen = tile.getContext("2d");
  if (pen === null) return hue;
  pen.fillStyle = color("bg");
  pen.fillRect(0, 0, size, size);
  pen.globalAlpha = 0.62;
  pen.fillStyle = hue;
  pen.fillRect(0, 0, size, size);
  pen.globalAlpha = 1;
  pen.strokeStyle = hue;
  pen.lineWidth = size / (2 * Math.SQRT2);
  pen.beginPath();
  for (const from of [-size, 0, size]) {
    pen.moveTo(from, size);
    pen.lineTo(from + size, 0);
  }
  pen.stroke();
  return context.createPattern(tile, "repeat") ?? hue;
}

const FONT = '11px -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans Condensed", sans-serif';

/** Returns what axes of all charts share. */
export function axis(extra: uPlot.Axis): uPlot.Axis {
  return {
    stroke: () => color("text3"),
    grid: { stroke: () => color("line"), width: 1 },
    ticks: { show: false },
    font: FONT,
    gap: 4,
    ...extra,
  };
}

/** Writes words beside a line of the chart, on the ground's colour so that they can be read. */
export function writeLabel(
  plot: uPlot,
  text: string,
  x: number,
  y: number,
  align: CanvasTextAlign,
  token = "text",
): void {
  const { ctx } = plot;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.font = FONT.replace("11px", `${11 * ratio}px`);
  ctx.textAlign = align;
  ctx.textBaseline = "middle";
  ctx.lineJoin = "round";
  ctx.lineWidth = 3 * ratio;
  ctx.strokeStyle = color("bg");
  ctx.strokeText(text, x, y);
  ctx.fillStyle = color(token);
  ctx.fillText(text, x, y);
  ctx.restore();
}

export interface PlotProps {
  readonly data: uPlot.AlignedData;
  /** Made once for a set of data. */
  readonly options: Omit<uPlot.Options, "width" | "height">;
  readonly height: number;
  /** What the picture shows, for people who do not see it. */
  readonly label: string;
  /** A place is named by its index: hovered, or reached by the arrow keys. */
  readonly onCursor?: (index: number | null, x: number, y: number) => void;
  readonly onPick?: (index: number) => void;
}

export function Plot(props: PlotProps) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const { data, options, height } = props;
  useEffect(() => {
    const place = host.current;
    if (place === null) return undefined;
    const made = new uPlot({ ...options, width: place.clientWidth, height }, data, place);
    plot.current = made;
    const observer = new ResizeObserver(() => {
      if (place.clientWidth > 0) made.setSize({ width: place.clientWidth, height });
    });
    observer.observe(place);
    const unsubscribe = themeChanges.subscribe(() => made.redraw(false));
    return () => {
      observer.disconnect();
      unsubscribe();
      made.destroy();
      plot.current = null;
    };
  }, [data, options, height]);

  const place = useRef<number | null>(null);
  const tell = (index: number | null, x: number, y: number) => {
    place.current = index;
    props.onCursor?.(index, x, y);
  };
  const onMove = (event: PointerEvent) => {
    const made = plot.current;
    if (made === null) return;
    const box = made.over.getBoundingClientRect();
    const x = event.clientX - box.left;
    const isInside = x >= 0 && x <= box.width;
    tell(isInside ? made.posToIdx(x) : null, event.clientX, event.clientY);
  };
  const onKey = (event: KeyboardEvent) => {
    const made = plot.current;
    if (made === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const last = data[0].length - 1;
    const now = place.current;
    const next =
      event.key === "ArrowRight"
        ? Math.min(last, (now ?? -1) + 1)
        : event.key === "ArrowLeft"
          ? Math.max(0, (now ?? 1) - 1)
          : null;
    if (next !== null) {
      event.preventDefault();
      const box = made.over.getBoundingClientRect();
      const x = made.valToPos(data[0][next] ?? 0, "x");
      made.setCursor({ left: x, top: box.height / 2 });
      tell(next, box.left + x, box.top + 20);
    } else if (event.key === "Enter" && now !== null) {
      props.onPick?.(now);
    }
  };
  return (
    <div
      class="chart"
      role="application"
      aria-label={props.label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the chart takes arrow keys.
      tabIndex={0}
      ref={host}
      onPointerMove={onMove}
      onPointerLeave={() => tell(null, 0, 0)}
      onBlur={() => tell(null, 0, 0)}
      onKeyDown={onKey}
      onClick={() => {
        if (place.current !== null) props.onPick?.(place.current);
      }}
    />
  );
}
