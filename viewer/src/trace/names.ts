// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Names of rows and their classes: one table for the whole trace. Names are text from outside;
// nobody makes HTML of them.

import { CLASSES, type ClassName } from "./api";
import type { BitField } from "./layout";
import { kindOf, tableOf } from "./layout";
import type { ProcessFile } from "./process_file";

const CLASS_NUMBER = new Map<string, number>(CLASSES.map((name, i) => [name, i]));

export function classNumber(name: ClassName): number {
  return CLASS_NUMBER.get(name) ?? 0;
}

/** What a pass knows of a kernel's name. */
export interface KernelName {
  readonly full: string;
  readonly short: string;
  readonly family: string;
}

/** Reads the names of kernels from the JSON of the pass `kernels`, by mangled and by full name. */
export function kernelNames(result: unknown): Map<string, KernelName> {
  const names = new Map<string, KernelName>();
  const rows = isRecord(result) && Array.isArray(result.kernels) ? result.kernels : [];
  for (const row of rows) {
    if (!isRecord(row) || typeof row.name !== "string") continue;
    const short = typeof row.short_name === "string" && row.short_name !== "" ? row.short_name : "";
    const family = typeof row.family === "string" ? row.family : "other";
    const name = { full: row.name, short: short || shortened(row.name), family };
    names.set(row.name, name);
    if (typeof row.mangled === "string" && row.mangled !== "") names.set(row.mangled, name);
  }
  return names;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Shortens a C++ name: the last part of a mangled name, and no arguments. */
export function shortened(name: string): string {
  if (name.startsWith("_Z")) return mangledPart(name) ?? cut(name);
  const plain = name.replace(/^void /, "");
  const end = plain.slice(1).search(/[<(]/);
  return cut(end < 1 ? plain : plain.slice(0, end + 1));
}

const MOST_LETTERS = 400;
function cut(name: string): string {
  return name.length <= MOST_LETTERS ? name : `${name.slice(0, MOST_LETTERS)}…`;
}

/** Returns the identifiers at the front of a mangled name, joined: "at::native::gelu". */
function mangledPart(name: string): string | null {
  let at = 2;
  if (name[at] === "L") at++;
  if (name[at] === "N") at++;
  while (at < name.length && "KVRO".includes(name[at] ?? "")) at++;
  const parts: string[] = [];
  while (at < name.length) {
    const match = /^\d{1,4}/.exec(name.slice(at, at + 4));
    if (match === null) break;
    const length = Number(match[0]);
    at += match[0].length;
    const part = name.slice(at, at + length);
    if (part.length < length || length === 0) break;
    parts.push(part.startsWith("_GLOBAL__N_") ? "(anonymous)" : part);
    at += length;
  }
  return parts.length === 0 ? null : parts.join("::");
}

/** Operations that wait for input. */
const LOADER = /DataLoader|dataloader/;

/** The classes of the timeline that stand for several families; the others have their names. */
const CLASS_OF_FAMILY: Readonly<Record<string, ClassName>> = {
  matrix: "gemm",
  convolution: "gemm",
  attention: "attention",
  normalisation: "reduction",
  softmax: "reduction",
  reduction: "reduction",
  elementwise: "elementwise",
  optimizer: "elementwise",
  random: "elementwise",
  copy: "copy_cast",
  embedding: "copy_cast",
  routing: "copy_cast",
  index: "copy_cast",
  collective: "collective",
};

/** Returns the class of a kernel of a family. */
export function classOfFamily(family: string): ClassName {
  return CLASS_OF_FAMILY[family] ?? "other";
}

export class Names {
  readonly text: string[] = [];
  readonly cls: number[] = [];
  /** Full names of what `text` shortens. */
  readonly full = new Map<number, string>();
  private readonly known = new Map<string, number>();
  constructor(private readonly kernels: Map<string, KernelName>) {}

  /** Returns the number of a name. The page draws only so many letters. */
  add(name: string, cls: ClassName, full = name): number {
    const text = cut(name);
    const key = `${cls} ${text} ${full === text ? "" : full}`;
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const id = this.text.length;
    this.text.push(text);
    this.cls.push(classNumber(cls));
    if (full !== text) this.full.set(id, full);
    this.known.set(key, id);
    return id;
  }

  addKernel(recorded: string): number {
    const told = this.kernels.get(recorded);
    const full = told?.full ?? recorded;
    const short = told?.short ?? shortened(recorded);
    return this.add(
      short === "" ? "(kernel without a name)" : short,
      classOfFamily(told?.family ?? "other"),
      full,
    );
  }
}

/** Waits for the device by what is waited for. */
const SYNC_WORDS: Readonly<Record<string, string>> = {
  event: "wait for an event",
  stream_wait: "stream waits for an event",
  stream: "wait for the stream",
  context: "wait for the device",
};

/** Returns the text for a value of a field of a packed column. */
export function fieldText(field: BitField, value: bigint): string {
  const bits = (value >> BigInt(field.first_bit)) & ((1n << BigInt(field.bits)) - 1n);
  if (field.type === "enum") return field.values?.[bits.toString()] ?? bits.toString();
  if (field.type === "flag") return bits === 0n ? "no" : "yes";
  if (field.type === "gpu") return bits === 0n ? "" : (bits - 1n).toString();
  if (field.type !== "flags") return bits.toString();
  const set: string[] = [];
  for (const [bit, name] of Object.entries(field.values ?? {}))
    if ((bits & BigInt(bit)) !== 0n) set.push(name);
  return set.join(", ");
}

function field(
  table: "memcpy" | "memset" | "wait" | "range" | "sync" | "overhead",
  column: string,
  name: string,
) {
  const columns = tableOf(kindOf(table))?.columns ?? [];
  return columns.find((each) => each.name === column)?.fields?.find((each) => each.name === name);
}

function enumText(of: BitField | undefined, value: number): string {
  return of === undefined ? String(value) : fieldText(of, BigInt(value));
}

/** Returns keys of a table's rows whose class may differ from that of the others. */
export function classedKeys(file: ProcessFile, kind: number): number[] {
  const { signatures, functions, strings } = file.tables;
  switch (tableOf(kind)?.name) {
    case "kernel":
      return [...signatures.keys()];
    case "api":
      return [...functions.keys()];
    case "op":
      return [...strings.keys()].filter((key) => LOADER.test(file.tables.text(key)));
    default:
      return [];
  }
}

/** Returns what names the keys of a table's rows (its third column), remembered by key. */
export function keyNamer(names: Names, file: ProcessFile, kind: number): (key: number) => number {
  const find = namer(names, file, kind);
  const few: number[] = [];
  const many = new Map<number, number>();
  return (key) => {
    const known = key < 65_536 ? few[key] : many.get(key);
    if (known !== undefined) return known;
    const id = find(key);
    if (key < 65_536) few[key] = id;
    else many.set(key, id);
    return id;
  };
}

function namer(names: Names, file: ProcessFile, kind: number): (key: number) => number {
  const { tables } = file;
  const text = (key: number, none: string) => tables.text(key) || none;
  switch (tableOf(kind)?.name) {
    case "kernel":
      return (key) => names.addKernel(tables.text(tables.signatures.get(key)?.name ?? 0));
    case "memcpy": {
      const kindField = field("memcpy", "operation", "kind");
      return (key) => names.add(`Memcpy ${enumText(kindField, key)}`, "memcpy");
    }
    case "memset": {
      const target = field("memset", "operation", "destination");
      return (key) => names.add(`Memset ${enumText(target, key)}`, "memset");
    }
    case "graph_launch":
      return (key) => names.add(`CUDA graph ${key}`, "other");
    case "api":
      return (key) => {
        const name = text(tables.functions.get(key) ?? 0, `function ${key}`);
        const plain = name.replace(/_(ptsz|ptds|v\d+)*$/, "").replace(/_v\d+$/, "");
        return names.add(plain, /Synchronize/.test(name) ? "sync" : "api", name);
      };
    case "op":
      return (key) => {
        const name = text(key, "(operation without a name)");
        return names.add(name, LOADER.test(name) ? "input" : "op");
      };
    case "python":
      return (key) => names.add(text(key, "(function without a name)"), "python");
    case "range":
      return (key) => names.add(text(key, "(range without a message)"), "range");
    case "host_function":
      return () => names.add("host function", "sync");
    case "sync": {
      const kindField = field("sync", "operation", "kind");
      return (key) => names.add(SYNC_WORDS[enumText(kindField, key)] ?? "wait", "sync");
    }
    case "overhead": {
      const kindField = field("overhead", "operation", "kind");
      return (key) => names.add(enumText(kindField, key).replaceAll("_", " "), "other");
    }
    case "wait": {
      const kindField = field("wait", "operation", "kind");
      return (key) => names.add(`${enumText(kindField, key)} wait`, "wait");
    }
    case "file_read":
      return (key) => names.add(text(key, "(file not known)"), "file");
    default:
      return (key) => names.add(String(key), "other");
  }
}
