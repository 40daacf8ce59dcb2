// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One bar that sums to the whole, with labels below its wide parts; swatches; tags.

import { duration, percent } from "../base/format";
import { hueOf, type Look, strengthOf } from "../base/vocabulary";

export interface Part {
  readonly name: string;
  readonly value: number;
  readonly look: Look;
}

/** Returns how an element is filled with a look: by a class for patterns, by a style for colours. */
export function fillOf(look: Look): {
  readonly class?: string;
  readonly style?: Readonly<Record<string, string>>;
} {
  if (look === "hatch" || look === "late" || look === "wait" || look === "thin") {
    return { class: look };
  }
  const hue = `var(--${hueOf(look)})`;
  const strength = strengthOf(look);
  if (strength === 100) return { style: { background: hue } };
  return {
    style: {
      background: `color-mix(in srgb, ${hue} ${strength}%, var(--bg))`,
      // A shade alone would hardly stand out from the ground.
      boxShadow: `inset 0 0 0 1px ${hue}`,
    },
  };
}

export function Swatch({ look }: { look: Look }) {
  const fill = fillOf(look);
  const kind = fill.class ?? (look.startsWith("n") ? "pale" : "");
  return <span class={kind === "" ? "swatch" : `swatch ${kind}`} style={fill.style} />;
}

/** Returns the parts with those of one name summed: the names of a bar's parts differ. */
export function merged(parts: readonly Part[]): Part[] {
  const sums = new Map<string, Part>();
  for (const part of parts) {
    const value = part.value + (sums.get(part.name)?.value ?? 0);
    sums.set(part.name, { ...part, value });
  }
  return [...sums.values()];
}

/** Parts narrower than this share of the bar have no label; the table beside the bar has them all. */
const LABELLED = 0.055;
/** The label of a part that begins behind this ends with the part, and may begin before it. */
const LAST = 0.88;
/** Shares of a bar of 700 pixels: of a letter, and of the label's line and padding. */
const LETTER = 0.008;
const PADDING = 0.014;

/** A part with its place in the bar: shares of the whole. */
export interface Place extends Part {
  readonly begin: number;
  readonly width: number;
}

export interface Label {
  readonly place: Place;
  readonly from: number;
  to: number;
  readonly isEnd: boolean;
}

/** Places the labels. None covers another: of two without room for both, the longer part has one. */
export function labelsOf(places: readonly Place[], figures: (place: Place) => string): Label[] {
  const roomFor = (place: Place) =>
    Math.max(place.name.length, figures(place).length) * LETTER + PADDING;
  const labels: Label[] = [];
  for (const place of places) {
    if (place.width <= LABELLED) continue;
    const to = place.begin + place.width;
    if (place.begin <= LAST) {
      labels.push({ place, from: place.begin, to, isEnd: false });
      continue;
    }
    const wanted = to - roomFor(place);
    let isKept = true;
    for (let last = labels.at(-1); last !== undefined; last = labels.at(-1)) {
      const taken = last.isEnd ? last.to : Math.min(last.to, last.from + roomFor(last.place));
      if (taken <= wanted) {
        last.to = Math.min(last.to, wanted);
        break;
      }
      isKept = last.place.value < place.value;
      if (!isKept) break;
      labels.pop();
    }
    if (isKept) labels.push({ place, from: Math.max(0, wanted), to, isEnd: true });
  }
  return labels;
}

/**
 * A bar of parts of a whole. What the parts leave out of it is hatched and named `rest`, so the bar
 * always sums up.
 */
export function WallBar(props: {
  parts: readonly Part[];
  whole: number;
  rest?: string;
  write?: (value: number) => string;
}) {
  const write = props.write ?? duration;
  const sum = props.parts.reduce((total, part) => total + part.value, 0);
  const whole = Math.max(props.whole, sum);
  const parts = props.parts.filter((part) => part.value > 0);
  const left = whole - sum;
  if (left > whole * 1e-6 && props.rest !== undefined) {
    parts.push({ name: props.rest, value: left, look: "hatch" });
  }
  let begin = 0;
  const places = parts.map((part) => {
    const width = whole === 0 ? 0 : part.value / whole;
    const place = { ...part, begin, width };
    begin += width;
    return place;
  });
  const figures = (place: Place) => `${write(place.value)} · ${percent(place.width)}`;
  const words = places.map((place) => `${place.name} ${write(place.value)}`).join(", ");
  return (
    <div>
      <div class="wall" role="img" aria-label={words}>
        {places.map((place) => (
          <i
            key={place.name}
            class={fillOf(place.look).class}
            title={`${place.name}: ${write(place.value)}, ${percent(place.width)}`}
            style={{ flex: `${place.width} 0 0`, ...fillOf(place.look).style }}
          />
        ))}
      </div>
      <div class="wall-labels" aria-hidden="true">
        {labelsOf(places, figures).map(({ place, from, to, isEnd }) => {
          const edge = isEnd ? { right: `${(1 - to) * 100}%` } : { left: `${from * 100}%` };
          return (
            <span
              key={place.name}
              class={isEnd ? "end" : undefined}
              style={{ ...edge, maxWidth: `${(to - from) * 100}%` }}
            >
              <b>{place.name}</b>
              <em>{figures(place)}</em>
            </span>
          );
        })}
      </div>
    </div>
  );
}

export function Legend(props: { parts: readonly { name: string; look: Look }[] }) {
  return (
    <span class="legend">
      {props.parts.map((part) => (
        <span key={part.name}>
          <Swatch look={part.look} />
          {part.name}
        </span>
      ))}
    </span>
  );
}

/** Tensor cores: a filled tag if they were used, a dashed one if they could be. */
export function TensorCoreTag(props: { isUsed: boolean; isEligible: boolean | null; why: string }) {
  if (props.isUsed) {
    return (
      <span class="tag on" title={`Tensor cores are used: ${props.why}`}>
        TC
      </span>
    );
  }
  if (props.isEligible !== true) return null;
  return (
    <span class="tag off" title={`Tensor cores could be used: ${props.why}`}>
      tc
    </span>
  );
}
