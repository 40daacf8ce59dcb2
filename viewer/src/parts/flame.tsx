// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A flame graph as boxes: the root on top, the heaviest first. Arrow keys move, Enter zooms.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { percent } from "../base/format";
import { shortPath } from "../base/names";
import { hueOf, type Look } from "../base/vocabulary";
import { hideCard, showCard } from "./card";
import { type FlameBox, type FlameNode, frameName, layOut } from "./flame_tree";

const ROW_PX = 22;
/** Boxes wider than this have a label. */
const LABEL_PX = 22;

export interface FlameProps {
  readonly root: FlameNode;
  /** The node that fills the width. */
  readonly zoomed: FlameNode;
  readonly onZoom: (node: FlameNode) => void;
  readonly picked: FlameNode | null;
  readonly onPick: (node: FlameNode | null) => void;
  readonly isFolded: boolean;
  /** Null: nothing is looked for. */
  readonly fits: ((name: string) => boolean) | null;
  readonly write: (value: number) => string;
  readonly look: (node: FlameNode) => Look;
}

/** Returns where a frame's source is, for people. */
export function placeOfFrame(node: FlameNode): string {
  const frame = node.frame;
  if (frame === null) return "";
  if (frame.file !== "") return `${shortPath(frame.file)}${frame.line > 0 ? `:${frame.line}` : ""}`;
  return frame.module;
}

/** Names of frames may be a megabyte long; a box shows a few words. */
function shortLabel(text: string): string {
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}

function label(box: FlameBox): string {
  if (box.node === null) return `${box.count} narrower`;
  const last = box.chain[box.chain.length - 1] ?? box.node;
  if (box.chain.length === 1) return shortLabel(last.name);
  return `${shortLabel(box.node.name)} › … › ${shortLabel(last.name)}  ${box.chain.length} frames`;
}

/** Finds the box that an arrow key leads to. */
function neighbour(boxes: readonly FlameBox[], now: FlameBox, key: string): FlameBox | undefined {
  const row = (number: number) =>
    boxes.filter((box) => box.row === number && box.node !== null).sort((a, b) => a.x - b.x);
  const middle = now.x + now.width / 2;
  const covers = (box: FlameBox) => box.x <= middle && middle <= box.x + box.width;
  if (key === "ArrowUp") return row(now.row - 1).find(covers);
  if (key === "ArrowDown") {
    return row(now.row + 1).find((box) => box.x + 0.01 >= now.x && box.x < now.x + now.width);
  }
  const same = row(now.row);
  const index = same.indexOf(now);
  return key === "ArrowLeft" ? same[index - 1] : key === "ArrowRight" ? same[index + 1] : undefined;
}

export function Flame(props: FlameProps) {
  const host = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const place = host.current;
    if (place === null) return undefined;
    const measure = () => setWidth(place.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(place);
    return () => observer.disconnect();
  }, []);
  const { root, zoomed, isFolded } = props;
  const layout = useMemo(() => layOut(zoomed, width, isFolded), [zoomed, width, isFolded]);
  const last = (box: FlameBox) => box.chain[box.chain.length - 1] ?? box.node;
  const tabBox =
    layout.boxes.find((box) => box.node !== null && last(box) === props.picked) ?? layout.boxes[0];

  const onKey = (event: KeyboardEvent) => {
    const index = Number((event.target as HTMLElement).dataset.box);
    const now = layout.boxes[index];
    if (now === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter") {
      event.preventDefault();
      const node = last(now);
      if (node !== null) props.onZoom(node);
    } else if (event.key === "Escape" && zoomed !== root) {
      event.stopPropagation();
      props.onZoom(zoomed.parent ?? root);
    } else if (event.key.startsWith("Arrow")) {
      event.preventDefault();
      const next = neighbour(layout.boxes, now, event.key);
      if (next === undefined) return;
      props.onPick(last(next));
      const number = layout.boxes.indexOf(next);
      host.current?.querySelector<HTMLElement>(`[data-box="${number}"]`)?.focus();
    }
  };
  const hover = (box: FlameBox, event: PointerEvent) => {
    const node = last(box);
    showCard({
      x: event.clientX,
      y: event.clientY,
      title: node === null ? `${box.count} narrower frames` : shortLabel(node.name),
      pairs: [
        ["total", `${props.write(box.value)} · ${percent(box.value / Math.max(1, root.value))}`],
        ...(node === null
          ? []
          : ([
              ["own", props.write(node.self)],
              ["in", shortLabel(placeOfFrame(node)) || "unknown"],
            ] as const)),
      ],
      click: "Click selects, double-click zooms",
    });
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: its boxes are buttons; arrows move among them.
    <div class="flame" ref={host} onKeyDown={onKey} onPointerLeave={hideCard}>
      <div style={{ height: `${layout.rows * ROW_PX}px` }}>
        {layout.boxes.map((box, index) => {
          const node = last(box);
          const isHit =
            props.fits !== null && box.chain.some((each) => props.fits?.(each.name) === true);
          const look = node === null || node === root ? "n1" : props.look(node);
          const classes = [
            node === null && "hatch",
            props.fits !== null && (isHit ? "hit" : "dim"),
          ];
          return (
            <button
              key={index}
              type="button"
              data-box={index}
              tabIndex={box === tabBox ? 0 : -1}
              class={classes.filter(Boolean).join(" ") || undefined}
              aria-pressed={node !== null && node === props.picked}
              aria-label={`${label(box)}, ${props.write(box.value)}`}
              style={{
                left: `${box.x}px`,
                top: `${box.row * ROW_PX}px`,
                width: `${box.width}px`,
                padding: box.width < 10 ? 0 : undefined,
                ...(node !== null && {
                  background: `var(--${hueOf(look)})`,
                  fontWeight: look === "n3" ? 600 : undefined,
                  color: look.startsWith("d_") ? `var(--on_${hueOf(look).slice(2)})` : undefined,
                }),
              }}
              onClick={() => props.onPick(node)}
              onDblClick={() => {
                if (node !== null) props.onZoom(node);
              }}
              onPointerMove={(event) => hover(box, event)}
            >
              {box.width >= LABEL_PX ? label(box) : ""}
            </button>
          );
        })}
      </div>
    </div>
  );
}

export { frameName };
