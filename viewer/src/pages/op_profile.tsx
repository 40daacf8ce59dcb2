// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The time of devices as a tree of programs, categories and operations.

import { useMemo, useState } from "preact/hooks";
import { hashOf } from "../app/state";
import { useResult } from "../app/use_result";
import { duration, percent } from "../base/format";
import { opName } from "../base/names";
import type { Look, Word } from "../base/vocabulary";
import type { OpProfile as OpProfileResult, OpProfileRow } from "../data/results";
import { Swatch } from "../parts/bars";
import { columnsOf, nounOf, type Own } from "../parts/described";
import { type Figure, Figures } from "../parts/figures";
import { wordsOf } from "../parts/roofline_points";
import { Loading } from "../parts/states";
import { Table, type Tree } from "../parts/table";
import { isShown, nodesOf } from "../parts/tree_rows";
import { NoGpuWork } from "./no_gpu_work";

/** A tree with more rows begins with its operations folded. */
const MOST_OPEN = 60;

/** Returns how far below the top a row stands. */
function depthOf({ level }: OpProfileRow, by: string): number {
  const isInProgram = by === "program" ? 1 : 0;
  if (level === "category") return isInProgram;
  return level === "operation" ? isInProgram + 1 : 0;
}

function lookOf(row: OpProfileRow, words: ReadonlyMap<string, Word>): Look {
  if (row.level === "idle") return "hatch";
  if (row.level === "program") return "bar";
  return words.get(row.level === "category" ? row.name : row.category)?.look ?? "d_other";
}

function nameOf(row: OpProfileRow): string {
  if (row.level === "idle") return "Idle";
  return row.level === "operation" ? opName(row.name) : row.name;
}

function figuresOf(result: OpProfileResult): Figure[] {
  const { total_ns, window_ns, busy_ns, idle_ns } = result;
  const of = (part: number | null) =>
    part === null || window_ns === null || window_ns === 0 ? null : part / window_ns;
  return [
    { label: "Work", value: duration(total_ns), below: "of kernels, copies and memsets" },
    { label: "Busy", value: duration(busy_ns), below: `${percent(of(busy_ns))} of the window` },
    { label: "Idle", value: duration(idle_ns), below: `${percent(of(idle_ns))} of the window` },
    { label: "Window", value: duration(window_ns), below: "from first to last work, all devices" },
  ];
}

/** The swatch of a category, and the sign of what can be unfolded. */
function Name(props: {
  row: OpProfileRow;
  depth: number;
  isOpen: boolean | undefined;
  look: Look;
}) {
  const { row, depth, isOpen, look } = props;
  const sign = isOpen === undefined ? "" : isOpen ? "▾" : "▸";
  return (
    <span style={{ paddingLeft: `${depth * 16}px` }}>
      <span class="unfolds" aria-hidden="true">
        {sign}
      </span>
      {row.level !== "program" && <Swatch look={look} />}
      {isOpen === undefined ? nameOf(row).slice(0, 300) : <b>{nameOf(row).slice(0, 300)}</b>}
    </span>
  );
}

function Ready({ result }: { result: OpProfileResult }) {
  const { rows, by } = result;
  const nodes = useMemo(() => nodesOf(rows, (row) => depthOf(row, by)), [rows, by]);
  const places = useMemo(() => new Map(rows.map((row, index) => [row, index])), [rows]);
  const folded = () =>
    new Set(
      nodes.flatMap(({ row, hasParts }, at) => (hasParts && row.level === "category" ? [at] : [])),
    );
  const [closed, setClosed] = useState<ReadonlySet<number>>(() =>
    rows.length > MOST_OPEN ? folded() : new Set(),
  );
  /** Rises when the table is to forget its order. */
  const [fresh, setFresh] = useState(0);
  const words = useMemo(
    () => wordsOf(rows.flatMap((row) => (row.level === "category" ? [row.name] : []))),
    [rows],
  );
  const at = (row: OpProfileRow) => places.get(row) ?? 0;
  const tree: Tree<OpProfileRow> = {
    depth: (row) => nodes[at(row)]?.depth ?? 0,
    isOpen: (row) => (nodes[at(row)]?.hasParts === true ? !closed.has(at(row)) : undefined),
    onOpen: (row, isOpen) => {
      const next = new Set(closed);
      if (isOpen) next.delete(at(row));
      else next.add(at(row));
      setClosed(next);
    },
    isShown: (row) => isShown(nodes, at(row), (index) => closed.has(index)),
  };
  const columns = useMemo(() => {
    const own: Own<OpProfileRow> = {
      sort: "total_ns",
      bar: { color: (row) => lookOf(row, words), width: "14%" },
      cells: {
        name: {
          width: "30%",
          value: nameOf,
          cell: (row) => (
            <Name
              row={row}
              depth={tree.depth(row)}
              isOpen={tree.isOpen(row)}
              look={lookOf(row, words)}
            />
          ),
        },
        level: { isHidden: true },
        flop_evidence: { isHidden: true },
      },
    };
    return columnsOf("op_profile", "rows", by, rows, own);
  }, [rows, by, words, closed]);
  const fold = (next: ReadonlySet<number>) => {
    setClosed(next);
    setFresh(fresh + 1);
  };
  return (
    <div class="page">
      <div class="head">
        <h2>
          Operation profile
          <small>
            the time of devices by{" "}
            {by === "program" ? "program, category and operation" : "category and operation"}
          </small>
        </h2>
        <span class="links">
          <a href={hashOf("roofline")}>Roofline</a>
          <a href={hashOf("kernels")}>Kernels</a>
        </span>
      </div>
      <Figures figures={figuresOf(result)} />
      <section class="section">
        <Table
          key={fresh}
          rows={rows}
          columns={columns}
          noun={nounOf("op_profile", "rows", by)}
          sort=""
          height="max(280px, calc(100vh - var(--tabs, 0px) - 270px))"
          tree={tree}
          extra={
            <>
              <button type="button" class="button" onClick={() => fold(new Set())}>
                Unfold all
              </button>
              <button type="button" class="button" onClick={() => fold(folded())}>
                Fold categories
              </button>
            </>
          }
        />
      </section>
    </div>
  );
}

export function OpProfile() {
  const loaded = useResult("op_profile");
  if (loaded.state === "loading") return <Loading what="the profile of operations" />;
  if (loaded.state === "absent" || loaded.value.rows.length === 0) {
    return (
      <NoGpuWork
        loaded={loaded}
        what="operations on devices"
        would="The time of devices as a tree of programs, categories and operations, with what each part reached of the peaks."
      />
    );
  }
  return <Ready result={loaded.value} />;
}
