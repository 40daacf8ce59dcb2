// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Names short enough for a cell. The full name stays in titles, details and copies.

/** Drops what every operation of PyTorch begins with, and the machinery of its loader. */
export function opName(name: string): string {
  return name
    .replace(/^enumerate\(DataLoader\)#_\w+\./, "DataLoader.")
    .replace(/^autograd::engine::/, "")
    .replace(/^aten::/, "");
}

/** Writes shapes with a true multiplication sign, and an arrow for a cast. */
export function kernelName(name: string): string {
  return name.replace(/(\d)x(?=\d)/g, "$1×").replaceAll("->", "→");
}

/** Writes a grid or block without its trailing ones: "17888,1,1" is "17,888". */
export function launchShape(shape: string | null): string | null {
  if (shape === null || shape === "") return null;
  const sizes = shape.split(",").map(Number);
  while (sizes.length > 1 && sizes[sizes.length - 1] === 1) sizes.pop();
  return sizes.map((size) => size.toLocaleString("en-US")).join("·");
}

/** Returns the last two parts of a path. */
export function shortPath(path: string): string {
  return path.split("/").slice(-2).join("/");
}
