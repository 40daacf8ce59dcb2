// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The hover card: one at a time, beside the pointer, without controls. What it says also stands in a
// table or a drawer.

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export interface CardContent {
  readonly x: number;
  readonly y: number;
  readonly title: ComponentChildren;
  readonly pairs: readonly (readonly [ComponentChildren, ComponentChildren])[];
  /** What a click does. */
  readonly click?: string;
}

const shown = signal<CardContent | null>(null);

export function showCard(content: CardContent): void {
  shown.value = content;
}

export function hideCard(): void {
  shown.value = null;
}

/** Returns where the card is whole: 14 px from the pointer, on the side that has room. */
export function cardPlace(
  pointer: { x: number; y: number },
  card: { width: number; height: number },
  page: { width: number; height: number },
): { left: number; top: number } {
  const right = pointer.x + 14;
  const below = pointer.y + 14;
  const left = right + card.width + 8 > page.width ? pointer.x - 14 - card.width : right;
  const top = below + card.height + 8 > page.height ? pointer.y - 14 - card.height : below;
  return { left: Math.max(8, left), top: Math.max(8, top) };
}

export function Card() {
  const content = shown.value;
  const box = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ left: 0, top: 0 });
  useLayoutEffect(() => {
    const size = box.current?.getBoundingClientRect();
    if (content === null || size === undefined) return;
    setPlace(cardPlace(content, size, { width: innerWidth, height: innerHeight }));
  }, [content]);
  if (content === null) return null;
  return (
    <div class="card" role="tooltip" ref={box} style={{ left: place.left, top: place.top }}>
      <h4>{content.title}</h4>
      <dl>
        {content.pairs.map(([name, value], index) => [
          <dt key={`name ${index}`}>{name}</dt>,
          <dd key={`value ${index}`}>{value}</dd>,
        ])}
      </dl>
      {content.click !== undefined && <p>{content.click}</p>}
    </div>
  );
}
