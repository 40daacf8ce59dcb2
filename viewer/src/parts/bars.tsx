// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One bar that sums to the whole, with labels below its wide parts; swatches; tags.

import { duration, percent } from "../base/format";
import type { Look } from "../base/vocabulary";

export interface Part {
  readonly name: string;
  readonly value: number;
  readonly look: Look;
}

export function Swatch({ look }: { look: Look }) {
  if (look === "hatch") return <span class="swatch hatch" />;
  const isPale = look.startsWith("n");
  return (
    <span class={isPale ? "swatch pale" : "swatch"} style={{ background: `var(--${look})` }} />
  );
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
  const words = places.map((place) => `${place.name} ${write(place.value)}`).join(", ");
  return (
    <div>
      <div class="wall" role="img" aria-label={words}>
        {places.map((place) => (
          <i
            key={place.name}
            class={place.look === "hatch" ? "hatch" : undefined}
            title={`${place.name}: ${write(place.value)}, ${percent(place.width)}`}
            style={{
              flex: `${place.width} 0 0`,
              ...(place.look !== "hatch" && { background: `var(--${place.look})` }),
            }}
          />
        ))}
      </div>
      <div class="wall-labels" aria-hidden="true">
        {places
          .filter((place) => place.width > LABELLED)
          .map((place) => {
            const isEnd = place.begin > 0.88;
            const edge = isEnd
              ? { right: `${(1 - place.begin - place.width) * 100}%` }
              : { left: `${place.begin * 100}%`, maxWidth: `${place.width * 100}%` };
            return (
              <span key={place.name} class={isEnd ? "end" : undefined} style={edge}>
                <b>{place.name}</b>
                <em>
                  {write(place.value)} · {percent(place.width)}
                </em>
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
