// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Asks the engine and the page's reader the same random questions about one bundle:
// node compare_timeline.mjs ENGINE FOLDER KERNELS STEPS HEAP [SEED]. ENGINE is the program
// gpuprof_timeline_answers; the next three are files with the JSON of these passes, which the
// page's reader takes its names and steps from. Prints how much was compared. Fails at a difference.
//
// All is equal to the last nanosecond, but for what the page's reader does not know:
// - It joins work and calls by correlation and time alone. So operations among causes and effects
//   may be others.
// - It does not name a thread without a name by its program, nor a range by its payload.
// - It has names of its own for processes, and words of its own for faults.
// - It does not read the details of imported rows, nor the caller of a Python function. It does not
//   take TensorFlow's IteratorGetNext for a wait for input.

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { argv } from "node:process";
import { isDeepStrictEqual } from "node:util";
import type { EventDetail, EventRef, TrackInfo } from "../../viewer/src/trace/api";
import { CLASSES } from "../../viewer/src/trace/api";
import { openInPage } from "../../viewer/src/trace/engine";

const [engine = "", folder = "", kernels = "", steps = "", heap = "", first = "1"] = argv.slice(2);

// biome-ignore lint/suspicious/noExplicitAny: answers of two programs are compared as they are
type Any = any;

const files = readdirSync(folder)
  .filter((name) => /\.(gpt|pb)$/.test(name))
  .sort()
  .map((name) => {
    const bytes = new Uint8Array(readFileSync(`${folder}/${name}`));
    const read = async (offset: number, length: number) => bytes.slice(offset, offset + length);
    return { name, size: bytes.length, read };
  });
const paths: Record<string, string> = { kernels, steps, heap };
const result = async (pass: string) => JSON.parse(readFileSync(paths[pass] ?? "", "utf8"));
const manifest = { version: 1, title: "", gpuprof: "", passes: [], failed: [] } as const;
const page = await openInPage({ manifest, files, result }, undefined, { eagerRows: 1e9, longRows: 1e9 });

/** Replaces references to arrays by the arrays. */
function decoded(bytes: Buffer): Any {
  if (bytes.toString("latin1", 0, 4) !== "GTA1") return JSON.parse(bytes.toString("utf8"));
  const length = bytes.readUInt32LE(4);
  const base = 8 + length;
  if (base % 8 !== 0) throw new Error("arrays are not aligned");
  const own = new Uint8Array(bytes).buffer;
  const kinds = { f64: Float64Array, u32: Uint32Array, u8: Uint8Array } as const;
  return JSON.parse(bytes.toString("utf8", 8, base), (_, value) => {
    if (typeof value?.at !== "number") return value;
    const kind = kinds[value.type as keyof typeof kinds];
    return new kind(own, base + value.at, value.length);
  });
}

function askEngine(questions: readonly unknown[]): Any[] {
  const input = questions.map((question) => `${JSON.stringify(question)}\n`).join("");
  const done = spawnSync(engine, [folder], { input, maxBuffer: 2 ** 31 - 1 });
  if (done.status !== 0) throw new Error(`${engine}: ${done.stderr}`);
  const answers: Any[] = [];
  for (let at = 0; at < done.stdout.length; ) {
    const length = Number(done.stdout.readBigUInt64LE(at));
    const bytes = done.stdout.subarray(at + 9, at + 9 + length);
    answers.push(done.stdout[at + 8] === 0 ? decoded(bytes) : { error: bytes.toString() });
    at += 9 + length;
  }
  return answers;
}

/** Makes arrays and names of an answer plain, so that both engines' are alike. */
function plain(answer: Any): Any {
  if (ArrayBuffer.isView(answer)) return Array.from(answer as Any);
  if (Array.isArray(answer)) return answer.map(plain);
  if (typeof answer !== "object" || answer === null) return answer;
  return Object.fromEntries(Object.entries(answer).map(([key, value]) => [key, plain(value)]));
}

function named(answer: Any): Any {
  const { spans, names } = plain(answer);
  return spans.map((each: Any) => ({
    ...each,
    name: each.name.map((name: number) => names[name] ?? name),
  }));
}

/** Order of equal rows is not promised. */
function sorted(rows: Any[]): Any[] {
  return plain(rows).sort((x: Any, y: Any) => {
    const [a, b] = [JSON.stringify(x), JSON.stringify(y)];
    return a < b ? -1 : a > b ? 1 : 0;
  });
}

let seed = Number(first) + 7;
function random(): number {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed / 2_147_483_647;
}
const below = (count: number) => Math.floor(random() * count);

function differ(what: string, ours: Any, theirs: Any): never {
  const text = (value: Any) => JSON.stringify(value)?.slice(0, 3000);
  throw new Error(`${folder}: ${what} differs\nengine: ${text(ours)}\npage:   ${text(theirs)}`);
}
function same(what: string, ours: Any, theirs: Any): void {
  if (!isDeepStrictEqual(ours, theirs)) differ(what, ours, theirs);
}

const NO_MESSAGE = "(range without a message)";
const unnamed = (await page.search(NO_MESSAGE, 1)).count;
const hasIterators = (await page.search("IteratorGetNext", 1)).count > 0;

const told: Record<string, number> = { cells: 0, events: 0, ops_that_differ: 0 };

interface Asked {
  readonly question: Any;
  check(ours: Any): Promise<void>;
}
const asked: Asked[] = [];
const ask = (question: Any, check: (ours: Any) => Promise<void>) => asked.push({ question, check });

const { tracks, start_ns, end_ns } = page.info;
const whole = Math.max(end_ns - start_ns, 1);
const drawn = tracks.filter(({ kind }) => !["queue", "memory", "counter"].includes(kind));
const curves = tracks.filter(({ kind }) => ["queue", "memory", "counter"].includes(kind));
const kinds = [...new Set(drawn.map(({ kind }) => kind))];

function someWindow(turn: number): [number, number] {
  const length = turn === 0 ? whole : whole * random() ** (turn % 2 === 0 ? 2 : 6);
  const from = start_ns + (whole - length) * random();
  // Pages ask with fractions, too.
  return turn % 3 === 0 ? [from, from + length] : [Math.floor(from), Math.ceil(from + length)];
}
const window = (turn: number) => {
  const [start, end] = someWindow(turn);
  return { start_ns: start, end_ns: end };
};

ask({ ask: "info" }, async (ours) => {
  // The names of processes are those of the passes.
  const withoutNames = (info: Any) => ({
    ...info,
    processes: info.processes.map(({ pid, host }: Any) => ({ pid, host })),
  });
  const { classes, faults: _, ...rest } = withoutNames(ours);
  const { faults: _theirs, ...theirs } = plain(withoutNames(page.info));
  same("classes", classes, [...CLASSES]);
  rest.tracks.forEach((track: Any, i: number) => {
    const other = theirs.tracks[i];
    if (track.tid !== null && track.name.startsWith(`${other?.name} (`)) track.name = other.name;
  });
  same("info", rest, theirs);
});

for (let turn = 0; turn < 60; turn++) {
  const at = window(turn);
  const ns_per_px = Math.max((at.end_ns - at.start_ns) / (100 + 3000 * random()), 0.001);
  const ids = drawn.filter(() => turn < 5 || random() < 0.5).map(({ id }) => id);
  ask({ ask: "spans", tracks: ids, ...at, ns_per_px }, async (ours) => {
    const theirs = named(await page.spans(ids, at.start_ns, at.end_ns, ns_per_px));
    if (ours.error !== undefined) differ("spans", ours, theirs);
    const mine = named(ours);
    told.cells = (told.cells ?? 0) + mine.reduce((sum: number, each: Any) => sum + each.start_ns.length, 0);
    mine.forEach((each: Any, i: number) => {
      theirs[i].name.forEach((name: unknown, k: number) => {
        if (name === NO_MESSAGE) each.name[k] = name;
      });
      if (hasIterators && tracks[each.track]?.kind === "op")
        for (const both of [each, theirs[i]]) both.cls = both.bars = null;
      same(`spans of ${JSON.stringify({ ...at, ns_per_px })} ${JSON.stringify(tracks[each.track])}`, each, theirs[i]);
    });
  });
}

for (let turn = 0; turn < 30; turn++)
  for (const { id, kind } of curves.filter(() => turn < 2 || random() < 0.2)) {
    const at = window(turn);
    const ns_per_px = Math.max((at.end_ns - at.start_ns) / (1 + 2000 * random()), 0.001);
    ask({ ask: "counter", track: id, ...at, ns_per_px }, async (ours) => {
      const theirs = await page.counter(id, at.start_ns, at.end_ns, ns_per_px);
      same(`counter of ${kind}`, plain(ours), plain(theirs));
    });
  }

for (let turn = 0; turn < 40; turn++) {
  const at = window(turn);
  const some = <T>(list: readonly T[]) => list.filter(() => random() < 0.7);
  const narrowed = {
    ...(random() < 0.3 && { tracks: some(tracks.map(({ id }) => id)) }),
    ...(random() < 0.3 && { processes: some(page.info.processes.map((_, i) => i)) }),
    ...(random() < 0.2 && { devices: [0] }),
  };
  const selection = { ...at, ...narrowed };
  for (const kind of kinds)
    ask({ ask: "range", kind, ...selection }, async (ours) => {
      const theirs = await page.range(kind, selection);
      for (const row of ours.rows) {
        if (hasIterators && row.name.startsWith("IteratorGetNext")) row.cls = "op";
        if ((row.call_kind !== undefined) !== (kind === "api")) differ("call kinds", row, kind);
        delete row.call_kind;
      }
      const totals = (rows: Any) => rows.map((row: Any) => row.total_ns);
      if (kind === "range" && unnamed > 0) {
        const sum = (rows: Any) => totals(rows).reduce((x: number, y: number) => x + y, 0);
        same("time of ranges", sum(ours.rows), sum(theirs.rows));
        return;
      }
      same(`order of ${kind}`, totals(ours.rows), totals(theirs.rows));
      same(`range of ${kind}`, { ...ours, rows: sorted(ours.rows) }, { ...plain(theirs), rows: sorted([...theirs.rows]) });
    });
  ask({ ask: "gaps", ...selection }, async (ours) => {
    const theirs = await page.gaps(selection);
    same("gaps", ours.devices, plain(theirs.devices));
  });
  ask({ ask: "calls", ...selection }, async (ours) => {
    const { names, ...tree } = plain(ours);
    const { names: theirNames, ...theirs } = plain(await page.calls(selection));
    same("call tree", tree, theirs);
    same("names of calls", names, theirNames);
  });
}

for (let turn = 0; turn < 200 && drawn.length > 0; turn++) {
  const { id, kind } = drawn[below(drawn.length)] as TrackInfo;
  const time_ns = Math.floor(start_ns + whole * random());
  ask({ ask: "at", track: id, time_ns }, async (ours) => {
    const theirs = await page.at(id, time_ns);
    if (theirs?.name === NO_MESSAGE) ours.name = NO_MESSAGE;
    same(`at ${time_ns} of ${kind}`, ours, theirs);
  });
}

const DETAILS = ["called by", "operation", "framework scope", "HLO module", "HLO category", "input shapes", "input types"];
const kindOf = (ref: EventRef) => tracks[ref.track]?.kind ?? "";
function compareEvents(ours: Any, theirs: EventDetail, track: TrackInfo): void {
  const what = `event ${theirs.row} of ${track.kind} (${theirs.name})`;
  if (theirs.name === NO_MESSAGE) ours.name = NO_MESSAGE;
  const { causes, effects, call_kind: _, ...rest } = ours;
  causes.forEach((cause: Any, i: number) => {
    if (theirs.causes[i]?.name === NO_MESSAGE) cause.name = NO_MESSAGE;
  });
  const { causes: theirCauses, effects: theirEffects, ...others } = plain(theirs);
  rest.fields = rest.fields.filter(({ name }: Any) => !DETAILS.includes(name));
  others.fields = others.fields.filter(({ name }: Any) => name !== "parent");
  if (theirs.name.startsWith("IteratorGetNext")) rest.cls = others.cls;
  same(what, rest, others);
  told.events = (told.events ?? 0) + 1;
  // Which operation caused work the passes decide.
  const withoutOps = (refs: EventRef[]) => refs.filter((ref) => kindOf(ref) !== "op");
  const ops = (refs: EventRef[]) => refs.filter((ref) => kindOf(ref) === "op");
  const calls = (refs: EventRef[]) => refs.some((ref) => kindOf(ref) === "api");
  if (calls(causes) === calls(theirCauses)) same(`causes of ${what}`, withoutOps(causes), withoutOps(theirCauses));
  if (!isDeepStrictEqual(ops(causes), ops(theirCauses))) told.ops_that_differ = (told.ops_that_differ ?? 0) + 1;
  if (track.kind !== "op") same(`effects of ${what}`, effects, theirEffects);
}
for (let turn = 0; turn < 300 && drawn.length > 0; turn++) {
  const track = drawn[below(drawn.length)] as TrackInfo;
  const row = below(track.rows);
  ask({ ask: "event", track: track.id, row }, async (ours) => {
    let theirs: EventDetail;
    try {
      theirs = await page.event(track.id, row);
    } catch (error) {
      if (ours.error === undefined) differ("event that is not there", ours, String(error));
      return;
    }
    compareEvents(ours, theirs, track);
  });
}

for (const text of ["e", "aten::", "GEMM", "cuda", "mul", "step", "no such name", ""])
  for (const limit of [1, 50])
    ask({ ask: "search", text, limit }, async (ours) => {
      if (unnamed > 0) return;
      const theirs = plain(await page.search(text, limit));
      const { names, hits, ...sums } = ours;
      same(`search for ${text}`, sums, { count: theirs.count, total_ns: theirs.total_ns });
      same(`names with ${text}`, sorted(names), sorted(theirs.names));
      const starts = (refs: EventRef[]) => refs.map((ref) => ref.start_ns);
      same(`hits of ${text}`, starts(hits), starts(theirs.hits));
    });

const answers = askEngine(asked.map(({ question }) => question));
if (answers.length !== asked.length) throw new Error(`${answers.length} answers to ${asked.length} questions`);
for (const [i, { check }] of asked.entries()) await check(answers[i]);
console.log(JSON.stringify({ questions: asked.length, ...told }));
