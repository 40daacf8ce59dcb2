// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The captures of a folder: open one, compare two, and order running processes to record.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { PageProps } from "../app/pages";
import { bytes, count, percent, plural } from "../base/format";
import {
  type Capture,
  compareAddress,
  type Folder,
  type Order,
  order,
  type Recorder,
  type Watch,
  watchFolder,
} from "../data/captures";
import { type Column, idColumn, mibColumn, textColumn } from "../parts/columns";
import { Figures } from "../parts/figures";
import { Broken, Loading } from "../parts/states";
import { Table } from "../parts/table";

/** Returns a moment in the reader's own time: 2026-03-01 17:05. */
function moment(ns: number): string {
  const at = new Date(ns / 1e6);
  const two = (part: number) => String(part).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

function stateWords({ state, progress, reason }: Capture): string {
  if (state === "importing")
    return progress === null ? "importing" : `importing, ${percent(progress)}`;
  return state === "failed" ? `failed: ${reason}` : "ready";
}

function StateCell({ capture }: { capture: Capture }) {
  if (capture.state === "failed")
    return <span class="bad">{stateWords(capture).slice(0, 300)}</span>;
  if (capture.state === "ready") return <span>ready</span>;
  return <span class="prose">{stateWords(capture)}</span>;
}

function captureColumns(
  ticked: ReadonlySet<string>,
  onTick: (id: string) => void,
): Column<Capture>[] {
  return [
    {
      id: "tick",
      header: "Compare",
      tip: "Tick two captures to compare them",
      value: (capture) => (ticked.has(capture.id) ? "ticked" : ""),
      cell: (capture) => (
        <input
          type="checkbox"
          aria-label={`Compare ${capture.title.slice(0, 80)}`}
          checked={ticked.has(capture.id)}
          disabled={capture.state !== "ready"}
          onChange={() => onTick(capture.id)}
        />
      ),
    },
    textColumn("title", "Capture", (capture) => capture.title, {
      width: "36%",
      cell: (capture) =>
        capture.state === "ready" ? (
          <a href={`c/${encodeURIComponent(capture.id)}/`}>{capture.title.slice(0, 300)}</a>
        ) : (
          <span>{capture.title.slice(0, 300)}</span>
        ),
    }),
    textColumn("kind", "kind", (capture) =>
      capture.importer === "" ? capture.kind : `${capture.kind}, ${capture.importer}`,
    ),
    mibColumn("size", "size, MiB", (capture) => capture.bytes),
    {
      id: "modified",
      header: "modified",
      isNumber: true,
      value: (capture) => capture.modified_ns,
      cell: (capture) => moment(capture.modified_ns),
    },
    textColumn("state", "state", stateWords, {
      width: "28%",
      cell: (capture) => <StateCell capture={capture} />,
    }),
  ];
}

const ORDERS: readonly (readonly [Order, string])[] = [
  ["start", "Start"],
  ["stop", "Stop"],
  ["snapshot", "Snapshot"],
];

function processColumns(onOrder: (recorder: Recorder, what: Order) => void): Column<Recorder>[] {
  return [
    idColumn("pid", "pid", (recorder) => recorder.pid),
    textColumn("command", "Command", (recorder) => recorder.command, { width: "44%" }),
    textColumn("state", "state", (recorder) => recorder.state),
    textColumn("into", "records into", (recorder) => recorder.title || null, { width: "20%" }),
    {
      id: "orders",
      header: "Recording",
      value: (recorder) => recorder.state,
      cell: (recorder) => (
        <span class="orders">
          {ORDERS.map(([what, words]) => (
            <button
              key={what}
              type="button"
              class="link"
              aria-label={`${words} recording ${recorder.pid}`}
              onClick={() => onOrder(recorder, what)}
            >
              {words}
            </button>
          ))}
        </span>
      ),
    },
  ];
}

function folderWords(captures: readonly Capture[]): string {
  const importing = captures.filter((each) => each.state === "importing").length;
  const failed = captures.filter((each) => each.state === "failed").length;
  const words = [
    importing > 0 && `${count(importing)} being imported`,
    failed > 0 && `${count(failed)} cannot be read`,
  ].filter(Boolean);
  return words.length === 0 ? "all can be opened" : words.join(", ");
}

interface ReadyProps {
  readonly folder: Folder;
  /** Asks what is in the folder now. */
  readonly again: () => void;
}

function Processes({ folder: { processes }, again }: ReadyProps) {
  const [said, setSaid] = useState("");
  const columns = useMemo(
    () =>
      processColumns(async ({ pid }, what) => {
        setSaid(`Process ${pid}: …`);
        setSaid(`Process ${pid}: ${await order(pid, what)}`);
        again();
      }),
    [],
  );
  return (
    <section class="section">
      <div class="head">
        <h2>
          Processes that can record<small>into this folder, now</small>
        </h2>
        <span class="prose" role="status" aria-live="polite">
          {said.slice(0, 400)}
        </span>
      </div>
      {processes.length === 0 ? (
        <p class="quiet">
          None runs now. <code>gpuprof run --capture=off -- COMMAND</code> begins one that waits for
          Start.
        </p>
      ) : (
        <Table
          rows={processes}
          columns={columns}
          noun={["process", "processes"]}
          sort="pid"
          isSide
        />
      )}
    </section>
  );
}

function Ready({ folder, again }: ReadyProps) {
  const [ticked, setTicked] = useState<readonly string[]>([]);
  const { captures, processes } = folder;
  const chosen = captures.filter((each) => ticked.includes(each.id) && each.state === "ready");
  const columns = useMemo(() => {
    const onTick = (id: string) =>
      setTicked((now) =>
        now.includes(id) ? now.filter((each) => each !== id) : [...now, id].slice(-2),
      );
    return captureColumns(new Set(ticked), onTick);
  }, [ticked]);
  const [one, other] = chosen;
  const isPair = one !== undefined && other !== undefined;
  const newest = Math.max(0, ...captures.map((each) => each.modified_ns));
  return (
    <div class="page">
      <div class="head">
        <h2>
          Captures<small>{plural(captures.length, "recording", "recordings")} in this folder</small>
        </h2>
      </div>
      <Figures
        figures={[
          {
            label: "Captures",
            value: count(captures.length),
            below: folderWords(captures),
          },
          {
            label: "Size",
            value: bytes(captures.reduce((sum, each) => sum + each.bytes, 0)),
            below: "of all",
          },
          {
            label: "Newest",
            value: newest === 0 ? "—" : moment(newest).slice(11),
            below: newest === 0 ? "there is none" : moment(newest).slice(0, 10),
          },
          {
            label: "Processes",
            value: count(processes.length),
            below: `${count(processes.filter((each) => each.state === "recording").length)} recording`,
          },
        ]}
      />
      <div class="section">
        {captures.length === 0 ? (
          <p class="quiet">
            There are none yet. <code>gpuprof run -o FOLDER/run1 -- COMMAND</code> records one.
          </p>
        ) : (
          <Table
            rows={captures}
            columns={columns}
            noun={["capture", "captures"]}
            sort="modified"
            height="max(240px, calc(100vh - var(--tabs, 0px) - 460px))"
            extra={
              <>
                <button
                  type="button"
                  class="button"
                  disabled={!isPair}
                  onClick={() => {
                    if (isPair) location.href = compareAddress(one, other);
                  }}
                >
                  Compare
                </button>
                <span class="quiet" aria-live="polite">
                  {isPair
                    ? `${one.title.slice(0, 40)} and ${other.title.slice(0, 40)}`
                    : "Tick two to compare"}
                </span>
              </>
            }
          />
        )}
      </div>
      <Processes folder={folder} again={again} />
    </div>
  );
}

export function Captures(_props: PageProps) {
  const [folder, setFolder] = useState<Folder | null>(null);
  const [fault, setFault] = useState("");
  const watch = useRef<Watch | null>(null);
  useEffect(() => {
    let last = "";
    const begun = watchFolder((next) => {
      setFault("");
      // The same answer again: what has the focus, stays.
      const text = JSON.stringify(next);
      if (text !== last) setFolder(next);
      last = text;
    }, setFault);
    watch.current = begun;
    return begun.stop;
  }, []);
  const again = () => watch.current?.again();
  return (
    <>
      {fault !== "" && (
        <div class="page" style={{ paddingBottom: 0 }}>
          <Broken title="The list of captures is not up to date">{fault}</Broken>
        </div>
      )}
      {folder !== null ? (
        <Ready folder={folder} again={again} />
      ) : (
        fault === "" && <Loading what="captures" />
      )}
    </>
  );
}
