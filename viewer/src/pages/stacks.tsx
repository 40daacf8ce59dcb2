// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Flame graphs: call stacks weighted by GPU time, processor time, Python time, waits or memory.

import { useContext, useEffect, useMemo, useState } from "preact/hooks";
import { useTrace } from "../app/open_trace";
import type { PageProps } from "../app/pages";
import { parsePart, scopeWords } from "../app/scope";
import { hashOf, load, replaceParams, route } from "../app/state";
import { PagePart, useResult } from "../app/use_result";
import { bytes, count, duration, percent } from "../base/format";
import { KERNEL_FAMILIES, type Look, wordOf } from "../base/vocabulary";
import type { Stacks as StacksResult } from "../data/results";
import type { Source } from "../data/source";
import { Flame, placeOfFrame } from "../parts/flame";
import { buildFlame, type FlameNode, frameKind, sumOfHits } from "../parts/flame_tree";
import { Segments } from "../parts/segments";
import { Loading, Remark, whyNot } from "../parts/states";
import { makeFilter } from "../parts/table_data";
import { TimeFlame } from "../parts/time_flame";

type Weight =
  | "stacks:kernel"
  | "stacks:cpu"
  | "stacks:gil"
  | "stacks:python"
  | "stacks:wait"
  | "stacks:heap_alloc"
  | "stacks:heap_live"
  | "stacks:heap_peak";

const WEIGHTS: readonly (readonly [Weight, string])[] = [
  ["stacks:kernel", "GPU time"],
  ["stacks:cpu", "Processor time"],
  ["stacks:gil", "Waits for the GIL"],
  ["stacks:python", "Python time"],
  ["stacks:wait", "Waits"],
  ["stacks:heap_alloc", "Allocated"],
  ["stacks:heap_peak", "At the peak"],
  ["stacks:heap_live", "Still live"],
];

/** What records the stacks of each weight. */
const OPTIONS: Readonly<Record<Weight, readonly [string, string]>> = {
  "stacks:kernel": ["launches", "--trace cuda,launches"],
  "stacks:cpu": ["samples", "--trace samples"],
  "stacks:gil": ["samples", "--trace samples"],
  "stacks:python": ["python", "--trace python"],
  "stacks:wait": ["locks", "--trace locks"],
  "stacks:heap_alloc": ["heap", "--trace heap"],
  "stacks:heap_peak": ["heap", "--trace heap"],
  "stacks:heap_live": ["heap", "--trace heap"],
};

function writer(unit: string): (value: number) => string {
  if (unit === "bytes") return bytes;
  if (unit === "ns") return duration;
  return (value) => `${count(value)} ${unit}`;
}

/** Families of kernels by each of their names; null: the boxes are no kernels. */
type Families = ReadonlyMap<string, string> | null;

/** Returns the ground of a box: kernels have the colour of their family, Python is the palest. */
function lookOf(node: FlameNode, families: Families): Look {
  if (families !== null && node.children.size === 0) {
    return wordOf(KERNEL_FAMILIES, families.get(node.name) ?? "other").look;
  }
  const kind = node.frame === null ? "native" : frameKind(node.frame);
  return kind === "python" ? "n1" : kind === "module" ? "n3" : "n2";
}

function Detail(props: { node: FlameNode; root: FlameNode; write: (value: number) => string }) {
  const { node, root, write } = props;
  const children = [...node.children.values()].sort((a, b) => b.value - a.value).slice(0, 6);
  const share = (value: number) => percent(root.value === 0 ? 0 : value / root.value);
  return (
    <div class="drawer">
      <div>
        <h2 style={{ overflowWrap: "anywhere" }}>
          {node.name.slice(0, 400)}
          <small>{placeOfFrame(node)}</small>
        </h2>
        <dl class="pairs">
          <dt>Total</dt>
          <dd>
            {write(node.value)} · {share(node.value)}
          </dd>
          <dt>Own</dt>
          <dd>
            {write(node.self)} · {share(node.self)}
          </dd>
          <dt>Depth</dt>
          <dd>{node.depth}</dd>
        </dl>
      </div>
      <div>
        <h2>
          Called from here<small>{node.children.size} names</small>
        </h2>
        <table class="side">
          <tbody>
            {children.map((child) => (
              <tr key={child.name}>
                <td class="tight" style={{ width: "60%" }} title={child.name.slice(0, 2000)}>
                  {child.name.slice(0, 200)}
                </td>
                <td class="number">{write(child.value)}</td>
                <td class="number">{share(child.value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

type Order = "root" | "leaf" | "time";

const ORDERS: readonly (readonly [Order, string])[] = [
  ["root", "From the root"],
  ["leaf", "From the leaf"],
];
const BY_TIME: readonly [Order, string] = ["time", "By time"];

/** The calls of one thread in the order of time: they come from the events themselves. */
function ByTime(props: { source: Source; fits: ((name: string) => boolean) | null }) {
  const now = useTrace(props.source);
  const tracks = useMemo(
    () =>
      now.state === "open"
        ? now.trace.info.tracks
            .filter((track) => track.kind === "python")
            .sort((a, b) => b.rows - a.rows)
        : [],
    [now],
  );
  const [chosen, setChosen] = useState<string | null>(null);
  if (now.state === "loading") return <Loading what="the events of the recording" />;
  if (now.state === "failed")
    return <p class="page quiet">The events cannot be read: {now.why}.</p>;
  const track = tracks.find((each) => String(each.id) === chosen) ?? tracks[0];
  if (track === undefined) return <p class="page quiet">No thread has calls of Python here.</p>;
  return (
    <>
      {tracks.length > 1 && (
        <div style={{ padding: "8px 24px 0" }}>
          <label>
            Thread{" "}
            <select
              class="input"
              value={String(track.id)}
              onChange={(event) => setChosen(event.currentTarget.value)}
            >
              {tracks.map((each) => (
                <option key={each.id} value={String(each.id)}>
                  {now.trace.info.processes[each.process]?.pid} {each.name.slice(0, 80)}
                </option>
              ))}
            </select>
          </label>
        </div>
      )}
      <TimeFlame key={track.id} trace={now.trace} track={track.id} fits={props.fits} />
    </>
  );
}

/** What a flame graph needs of a result. */
export type Weighted = Omit<StacksResult, "meta" | "by" | "by_default" | "truncated">;

interface GraphProps {
  readonly source: Source;
  readonly result: Weighted;
  readonly by: Weight;
}

/** Returns the families that the pass `kernels` tells. */
function useFamilies(isKernel: boolean): Families {
  const kernels = useResult("kernels");
  return useMemo(() => {
    if (!isKernel) return null;
    const families = new Map<string, string>();
    if (kernels.state !== "ready") return families;
    for (const { name, short_name, family } of kernels.value.kernels) {
      if (family === null) continue;
      families.set(name, family);
      families.set(short_name, family);
    }
    return families;
  }, [isKernel, kernels]);
}

function Graph({ source, result, by }: GraphProps) {
  const isKernel = by === "stacks:kernel";
  const families = useFamilies(isKernel);
  const [order, setOrder] = useState<Order>("root");
  const isInverted = order === "leaf";
  const isByTime = order === "time";
  const [isFolded, setFolded] = useState(true);
  const [find, setFind] = useState(route.value.params.get("q") ?? "");
  const root = useMemo(() => buildFlame(result, isInverted), [result, isInverted]);
  const [zoomed, setZoomed] = useState<FlameNode | null>(null);
  const [picked, setPicked] = useState<FlameNode | null>(null);
  const write = useMemo(() => writer(result.unit), [result.unit]);
  const filter = useMemo(() => makeFilter(find), [find]);
  const fits = find === "" ? null : filter.test;
  const hits = fits === null ? 0 : sumOfHits(root, fits);
  const shown = zoomed ?? root;
  const path: FlameNode[] = [];
  for (let node: FlameNode | null = shown; node !== null; node = node.parent) path.unshift(node);
  const turn = (next: Order) => {
    setOrder(next);
    setZoomed(null);
    setPicked(null);
  };
  return (
    <>
      <div class="tool-bar">
        <Segments
          label="Order"
          options={by === "stacks:python" ? [...ORDERS, BY_TIME] : ORDERS}
          value={order}
          onChange={turn}
        />
        {!isByTime && (
          <label>
            <input
              type="checkbox"
              checked={isFolded}
              onChange={(event) => setFolded(event.currentTarget.checked)}
            />
            Fold chains
          </label>
        )}
        <input
          class="input"
          type="search"
          placeholder="Find frame, /regex/"
          aria-label="Find frame"
          value={find}
          onInput={(event) => setFind(event.currentTarget.value)}
          data-find
        />
        <span class="quiet" aria-live="polite">
          {fits === null
            ? `${write(result.total)} ${result.meaning.replace(/^bytes /, "")}${
                result.estimated
                  ? `, sampled: ${write(result.total_low)} to ${write(result.total_high)}`
                  : ""
              }`
            : `${write(hits)} in frames that match, ${percent(hits / Math.max(1, root.value))}`}
        </span>
      </div>
      {isByTime ? (
        <ByTime source={source} fits={fits} />
      ) : (
        <>
          <div style={{ padding: "4px 24px" }} class="prose links">
            {zoomed === null ? (
              <span>
                Click selects, double-click or <kbd>Enter</kbd> zooms, <kbd>Esc</kbd> goes back.
                Ordered by width.
              </span>
            ) : (
              path.slice(-6).map((node) => (
                <button
                  key={node.depth}
                  type="button"
                  class="link"
                  onClick={() => setZoomed(node === root ? null : node)}
                >
                  {node.name.slice(0, 60)}
                </button>
              ))
            )}
          </div>
          <div style={{ padding: "0 24px", flex: 1, display: "flex", minHeight: 0 }}>
            <Flame
              root={root}
              zoomed={shown}
              onZoom={(node) => setZoomed(node === root ? null : node)}
              picked={picked}
              onPick={setPicked}
              isFolded={isFolded}
              fits={fits}
              write={write}
              look={(node) => lookOf(node, families)}
            />
          </div>
          {picked !== null && <Detail node={picked} root={root} write={write} />}
        </>
      )}
    </>
  );
}

/** Returns the weight of a key of the pass. */
function weightOf(key: string | null): Weight | null {
  return WEIGHTS.find(([each]) => each === `stacks:${key}`)?.[0] ?? null;
}

/**
 * Returns the first weight that has stacks; without any, that of the pass's own choice. Fills
 * `leaves` with how to leave what is asked for.
 */
async function firstWeight(part: string, leaves: (() => void)[]): Promise<Weight> {
  const ask = (pass: Weight | "stacks") => {
    const [answer, leave] = load(pass, part);
    leaves.push(leave);
    return answer;
  };
  for (const [key] of WEIGHTS) {
    const loaded = await ask(key);
    if (loaded.state === "ready" && loaded.value.stacks.length > 0) return key;
  }
  const own = await ask("stacks");
  return (own.state === "ready" ? weightOf(own.value.by) : null) ?? "stacks:kernel";
}

export interface StacksProps extends PageProps {
  /** The Python functions of the scope, where the other results are of a wider part. */
  readonly python?: Weighted;
}

export function Stacks({ source, python }: StacksProps) {
  const [by, setChosen] = useState<Weight | null>(
    weightOf(route.value.params.get("by")) ?? (python === undefined ? null : "stacks:python"),
  );
  const part = useContext(PagePart);
  useEffect(() => {
    if (by !== null) return;
    let isWanted = true;
    const leaves: (() => void)[] = [];
    firstWeight(part, leaves).then((first) => isWanted && setChosen((now) => now ?? first));
    return () => {
      isWanted = false;
      for (const leave of leaves) leave();
    };
  }, [by, part]);
  if (by === null) return <Loading what="stacks" />;
  return <OfWeight source={source} python={python} by={by} onChoose={setChosen} />;
}

interface OfWeightProps {
  readonly source: Source;
  readonly python: Weighted | undefined;
  readonly by: Weight;
  onChoose(by: Weight): void;
}

function OfWeight({ source, python, by, onChoose }: OfWeightProps) {
  const part = useContext(PagePart);
  const loaded = useResult(by);
  if (loaded.state === "loading") return <Loading what="stacks" />;
  const ofRange = by === "stacks:python" ? python : undefined;
  const result = ofRange ?? (loaded.state === "ready" ? loaded.value : null);
  const [name, option] = OPTIONS[by];
  const skipped = loaded.state === "ready" ? loaded.value.meta.skipped : [];
  const reason = whyNot(skipped, [name], {
    why: "No call stack has this weight in the recording. This option records them:",
    option,
  });
  return (
    <div class="page full">
      <div class="tool-bar">
        <h2>Flame graph</h2>
        <Segments
          label="Weight"
          options={WEIGHTS}
          value={by}
          onChange={(next) => {
            onChoose(next);
            replaceParams({ by: next.slice("stacks:".length) });
          }}
        />
      </div>
      {python !== undefined && ofRange === undefined && (
        <Remark>These stacks are of {scopeWords(parsePart(part))}.</Remark>
      )}
      {result !== null && result.stacks.length > 0 ? (
        <Graph key={by} source={source} result={result} by={by} />
      ) : (
        <div class="empty">
          <h1>No stacks of this weight</h1>
          <p>{loaded.state === "absent" ? loaded.reason : reason.why}</p>
          {reason.option !== "" && (
            <div class="command">
              <code>
                gpuprof run <mark>{reason.option}</mark> -- COMMAND
              </code>
            </div>
          )}
          <p>
            <a href={hashOf("overview")}>Back to the overview</a>
          </p>
        </div>
      )}
    </div>
  );
}
