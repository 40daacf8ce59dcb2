// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The colours can be read and told apart: contrast by WCAG, colour blindness by the matrices of
// Machado 2009 at full severity, differences by CIEDE2000.

import { describe, expect, it } from "vitest";
import css from "./tokens.css?raw";

type Vector = readonly [number, number, number];

function blockOf(start: string): Map<string, string> {
  const from = css.indexOf(start);
  const body = css.slice(css.indexOf("{", from), css.indexOf("}", from));
  return new Map(
    [...body.matchAll(/--(\w+): (#[0-9a-f]{6});/g)].map((match) => [
      match[1] ?? "",
      match[2] ?? "",
    ]),
  );
}

const THEMES = { light: blockOf(":root {"), dark: blockOf(':root[data-theme="dark"] {') };

function linear(hex: string): Vector {
  const channel = (at: number) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

function contrast(a: string, b: string): number {
  const light = (hex: string) => {
    const [red, green, blue] = linear(hex);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [x, y] = [light(a), light(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

const SIGHT: Readonly<Record<string, readonly [Vector, Vector, Vector]>> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

/** Returns CIELAB of a colour as somebody with this sight sees it. */
function lab(hex: string, sight: string): Vector {
  const from = linear(hex);
  const rows = SIGHT[sight] ?? [from, from, from];
  const seen = rows.map((row) =>
    Math.min(1, Math.max(0, row[0] * from[0] + row[1] * from[1] + row[2] * from[2])),
  );
  const [red = 0, green = 0, blue = 0] = seen;
  const x = (0.4124564 * red + 0.3575761 * green + 0.1804375 * blue) / 0.95047;
  const y = 0.2126729 * red + 0.7151522 * green + 0.072175 * blue;
  const z = (0.0193339 * red + 0.119192 * green + 0.9503041 * blue) / 1.08883;
  const f = (t: number) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  return [116 * f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))];
}

const degrees = (radians: number) => (radians * 180) / Math.PI;
const radians = (angle: number) => (angle * Math.PI) / 180;

function difference(first: Vector, second: Vector): number {
  const meanC = (Math.hypot(first[1], first[2]) + Math.hypot(second[1], second[2])) / 2;
  const stretch = 1 + 0.5 * (1 - Math.sqrt(meanC ** 7 / (meanC ** 7 + 25 ** 7)));
  const [a1, a2] = [first[1] * stretch, second[1] * stretch];
  const [c1, c2] = [Math.hypot(a1, first[2]), Math.hypot(a2, second[2])];
  const h1 = (degrees(Math.atan2(first[2], a1)) + 360) % 360;
  const h2 = (degrees(Math.atan2(second[2], a2)) + 360) % 360;
  const isGrey = c1 * c2 === 0;
  let dh = isGrey ? 0 : h2 - h1;
  if (dh > 180) dh -= 360;
  else if (dh < -180) dh += 360;
  let h = (h1 + h2) / 2;
  if (isGrey) h = h1 + h2;
  else if (Math.abs(h1 - h2) > 180) h += h1 + h2 < 360 ? 180 : -180;
  const [l, c] = [(first[0] + second[0]) / 2, (c1 + c2) / 2];
  const t =
    1 -
    0.17 * Math.cos(radians(h - 30)) +
    0.24 * Math.cos(radians(2 * h)) +
    0.32 * Math.cos(radians(3 * h + 6)) -
    0.2 * Math.cos(radians(4 * h - 63));
  const dL = (second[0] - first[0]) / (1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2));
  const dC = (c2 - c1) / (1 + 0.045 * c);
  const dH = (2 * Math.sqrt(c1 * c2) * Math.sin(radians(dh / 2))) / (1 + 0.015 * c * t);
  const turn = 30 * Math.exp(-(((h - 275) / 25) ** 2));
  const rotation = -Math.sin(radians(2 * turn)) * 2 * Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7));
  return Math.sqrt(dL ** 2 + dC ** 2 + dH ** 2 + rotation * dC * dH);
}

/** The least difference of two slots: for normal sight, protan, deutan, tritan. */
const LEAST: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  light: { normal: 17, protan: 12, deutan: 10.6, tritan: 11.6 },
  // Copies and input: the stripes of waits tell them apart.
  dark: { normal: 16.4, protan: 13.3, deutan: 9.4, tritan: 10.9 },
};

for (const [theme, tokens] of Object.entries(THEMES)) {
  const of = (name: string) => tokens.get(name) ?? "";
  describe(`the ${theme} theme`, () => {
    it("has text that can be read on every ground", () => {
      for (const text of ["text", "text2", "text3", "accent", "good", "warn", "bad"]) {
        for (const ground of ["bg", "surface", "sunken", "hover", "sel"]) {
          expect(contrast(of(text), of(ground)), `${text} on ${ground}`).toBeGreaterThanOrEqual(
            4.5,
          );
        }
      }
      for (const ground of ["n1", "n2", "n3"]) {
        for (const text of ["text", "text2"]) {
          expect(contrast(of(text), of(ground)), `${text} on ${ground}`).toBeGreaterThanOrEqual(
            4.5,
          );
        }
      }
    });

    it("has slots that stand out, with labels that can be read", () => {
      const slots = [...tokens.keys()].filter((name) => name.startsWith("d_"));
      expect(slots).toHaveLength(9);
      for (const slot of slots) {
        expect(contrast(of(slot), of("bg")), slot).toBeGreaterThanOrEqual(3);
        const label = of(`on_${slot.slice(2)}`);
        expect(contrast(label, of(slot)), `label on ${slot}`).toBeGreaterThanOrEqual(4.5);
      }
    });

    it("has slots that everybody can tell apart", () => {
      // Waits and kernels share a picture, so all slots are one vocabulary.
      const slots = [...tokens.keys()].filter((name) => name.startsWith("d_"));
      for (const sight of Object.keys(SIGHT)) {
        const least = LEAST[theme]?.[sight] ?? 100;
        slots.forEach((a, index) => {
          for (const b of slots.slice(index + 1)) {
            const apart = difference(lab(of(a), sight), lab(of(b), sight));
            expect(apart, `${a} and ${b}, ${sight}`).toBeGreaterThanOrEqual(least);
          }
        });
      }
    });
  });
}
