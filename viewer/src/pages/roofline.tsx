// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How fast operations computed and moved data, below what their device lets them reach.

import { useMemo, useState } from "preact/hooks";
import { hashOf } from "../app/state";
import { useResult } from "../app/use_result";
import { count, duration, NOT_MEASURED, percent, perSecond, plural } from "../base/format";
import { kernelName, opName } from "../base/names";
import type { Word } from "../base/vocabulary";
import type { Roofline as RooflineResult, RooflineRow } from "../data/results";
import { Legend, Swatch } from "../parts/bars";
import {
  barColumn,
  type Column,
  durationColumn,
  percentColumn,
  textColumn,
} from "../parts/columns";
import { columnsOf, nounOf, type Own, plainWord } from "../parts/described";
import { type Figure, Figures } from "../parts/figures";
import { factsOf, intensity, RooflineChart } from "../parts/roofline_chart";
import { type BoundTime, boundTimes, pointsOf, wordsOf } from "../parts/roofline_points";
import { Segments } from "../parts/segments";
import { Loading } from "../parts/states";
import { Table } from "../parts/table";
import { NoGpuWork } from "./no_gpu_work";

/** Points in the chart: those with the most time. The table has all operations. */
const MOST_POINTS = 1000;

function figuresOf(device: RooflineRow): Figure[] {
  const figures: Figure[] = [
    {
      label: "Known",
      value: percent(device.known_ratio),
      below: `of ${duration(device.total_ns)}: FLOP, bytes and peaks`,
    },
    {
      label: "Of the roof",
      value: percent(device.roof_ratio),
      below: device.bound === "unknown" ? "nothing is known" : `bound by ${device.bound}`,
    },
    {
      label: "Computes",
      value: perSecond(device.flop_per_s, "FLOP"),
      below:
        device.peak_flop_ratio === null
          ? `known for ${duration(device.flop_ns)}`
          : `${percent(device.peak_flop_ratio)} of ${perSecond(device.peak_flop_per_s, "FLOP")}`,
    },
    {
      label: "Moves",
      value: perSecond(device.gb_per_s === null ? null : device.gb_per_s * 1e9, "B"),
      below:
        device.peak_gb_per_s === null
          ? `known for ${duration(device.bytes_ns)}`
          : `${percent(device.peak_gb_ratio)} of ${perSecond(device.peak_gb_per_s * 1e9, "B")}`,
    },
    {
      label: "Intensity",
      value: intensity(device.flop_per_byte),
      below: "FLOP a byte, where both are known",
    },
  ];
  if (device.step_flop_ratio !== null) {
    figures.push({
      label: "FLOP utilisation",
      value: percent(device.step_flop_ratio),
      below: `of ${plural(device.step_count ?? 0, "step", "steps")}, by what is known`,
    });
  }
  return figures;
}

/** Says where figures and peaks come from. */
function sourcesOf(result: RooflineResult, device: RooflineRow): [string, string][] {
  const peaks = result.peaks.filter((peak) => peak.name === device.device_name);
  const all = (texts: readonly string[]) =>
    [...new Set(texts)].filter((text) => text !== "").join("; ") || NOT_MEASURED;
  return [
    ["FLOP from", plainWord(device.flop_evidence) ?? NOT_MEASURED],
    ["Bytes from", plainWord(device.bytes_evidence) ?? NOT_MEASURED],
    ["Peak of computing", all(peaks.map((peak) => peak.peak_flop_source))],
    ["Peak of memory", all(peaks.map((peak) => peak.peak_gb_source))],
  ];
}

/** The time by what bounds it, and what has no point. */
function Bounds(props: { result: RooflineResult; device: RooflineRow; rows: RooflineRow[] }) {
  const { result, device, rows } = props;
  const times = useMemo(() => boundTimes(rows), [rows]);
  const columns = useMemo((): Column<BoundTime>[] => {
    const whole = times.reduce((sum, { ns }) => sum + ns, 0);
    return [
      textColumn("name", "Bound by", ({ name }) => name),
      durationColumn("ns", "time", ({ ns }) => ns),
      percentColumn("share", "share", ({ ns }) => (whole === 0 ? null : ns / whole)),
      barColumn("bar", "", times, ({ ns }) => ns, { width: "22%" }),
    ];
  }, [times]);
  const unknown = rows.filter((row) => row.bound === "unknown");
  const moving = unknown.filter((row) => row.bytes !== null);
  const still = rows.filter((row) => row.flop_per_byte === 0);
  return (
    <div>
      <h2 style={{ marginBottom: "8px" }}>What bounds the time</h2>
      <Table rows={times} columns={columns} noun={["bound", "bounds"]} sort="" isSide />
      <p class="quiet" style={{ marginTop: "8px" }}>
        {percent(1 - device.known_ratio)} of the device's time has no known work.
        {unknown.length > 0 &&
          ` ${plural(unknown.length, "operation has", "operations have")} no bound and no point` +
            `${moving.length > 0 ? `; of ${count(moving.length)} the bytes are known` : ""}.`}
        {still.length > 0 &&
          ` ${plural(still.length, "operation computes", "operations compute")} nothing and so has no point.`}
      </p>
      <dl class="pairs" style={{ marginTop: "12px", gridTemplateColumns: "136px minmax(0,1fr)" }}>
        {sourcesOf(result, device).map(([name, value]) => [
          <dt key={name}>{name}</dt>,
          <dd key={`${name} is`}>{value}</dd>,
        ])}
      </dl>
    </div>
  );
}

/** What is known of one operation, with the ways to its calls and kernels. */
function Detail({ row, words }: { row: RooflineRow; words: ReadonlyMap<string, Word> }) {
  const word = words.get(row.category);
  const isKernel = row.op_evidence === "none";
  const name = isKernel ? kernelName(row.name) : opName(row.name);
  return (
    <section class="section">
      <h2>
        {word !== undefined && <Swatch look={word.look} />}
        {name.slice(0, 300)}
        <small>
          {word?.name}; {plural(row.count, "execution", "executions")}
        </small>
      </h2>
      <dl class="pairs" style={{ gridTemplateColumns: "136px minmax(0,1fr) 136px minmax(0,1fr)" }}>
        {factsOf(row).map(([fact, value]) => [
          <dt key={fact}>{fact}</dt>,
          <dd key={`${fact} is`}>{value}</dd>,
        ])}
      </dl>
      <p class="links" style={{ marginTop: "8px" }}>
        <a href={hashOf("kernels", { q: name })}>Its kernels</a>
        {!isKernel && <a href={hashOf("ops", { q: name })}>Its calls</a>}
        <a href={hashOf("timeline", { q: row.name.slice(0, 200) })}>Find in the timeline</a>
      </p>
    </section>
  );
}

function ownOf(words: ReadonlyMap<string, Word>): Own<RooflineRow> {
  const lookOf = (row: RooflineRow) => words.get(row.category)?.look ?? "d_other";
  return {
    bar: { color: lookOf, width: "10%" },
    cells: {
      name: {
        width: "26%",
        value: (row) => opName(row.name),
        title: (row) => row.name,
        cell: (row) => (
          <>
            <Swatch look={lookOf(row)} />
            {opName(row.name).slice(0, 300)}
          </>
        ),
      },
      bound: { cell: (row) => plainWord(row.bound) ?? <span class="quiet">not known</span> },
      roof_ratio: { cell: (row) => <b>{percent(row.roof_ratio)}</b> },
      flop_evidence: { isHidden: true },
      flop_per_byte: { cell: (row) => intensity(row.flop_per_byte) },
    },
  };
}

function Further(props: {
  result: RooflineResult;
  rows: "categories" | "peaks" | "devices";
  words: ReadonlyMap<string, Word>;
}) {
  const { result, rows, words } = props;
  const columns = useMemo(() => {
    const color = (row: object) => words.get((row as RooflineRow).name)?.look ?? "d_other";
    return columnsOf<object>("roofline", rows, "", result[rows], { bar: { color } });
  }, [result, rows, words]);
  if (result[rows].length === 0) return null;
  const titles = { categories: "Categories", peaks: "Peaks", devices: "Whole program" };
  return (
    <section class="section">
      <h2 style={{ marginBottom: "8px" }}>{titles[rows]}</h2>
      <Table
        rows={result[rows] as readonly object[]}
        columns={columns}
        noun={nounOf("roofline", rows)}
        sort={rows === "categories" ? "total_ns" : ""}
      />
    </section>
  );
}

function Ready({ result }: { result: RooflineResult }) {
  const { devices, operations } = result;
  const [name, setName] = useState(devices[0]?.device_name ?? "");
  const [picked, setPicked] = useState<RooflineRow | null>(null);
  const device = devices.find((each) => each.device_name === name);
  const rows = useMemo(
    () => operations.filter((row) => row.device_name === name),
    [operations, name],
  );
  const peaks = useMemo(() => result.peaks.filter((peak) => peak.name === name), [result, name]);
  const all = useMemo(() => pointsOf(rows), [rows]);
  const points = useMemo(() => all.slice(0, MOST_POINTS), [all]);
  const words = useMemo(() => wordsOf(result.categories.map((row) => row.name)), [result]);
  const columns = useMemo(
    () => columnsOf("roofline", "operations", "", operations, ownOf(words)),
    [operations, words],
  );
  const shown = useMemo(() => {
    const found = new Set(points.map((row) => row.category));
    return [...words].flatMap(([key, word]) => (found.has(key) ? [word] : []));
  }, [points, words]);
  if (device === undefined) return null;
  const pick = (row: RooflineRow) => {
    setPicked(row);
    // The row may be far down in its table.
    requestAnimationFrame(() =>
      document.querySelector("tr[aria-selected='true']")?.scrollIntoView({ block: "nearest" }),
    );
  };
  return (
    <div class="page">
      <div class="head">
        <h2>
          Roofline
          <small>
            {device.device_name}: FLOP, bytes and peaks are known for {percent(device.known_ratio)}{" "}
            of {duration(device.total_ns)}
          </small>
        </h2>
        {devices.length > 1 && (
          <Segments
            label="Device"
            options={devices
              .slice(0, 6)
              .map((each) => [each.device_name, each.device_name] as const)}
            value={name}
            onChange={(next) => {
              setName(next);
              setPicked(null);
            }}
          />
        )}
      </div>
      <Figures figures={figuresOf(device)} />
      <section class="section columns">
        <div>
          <h2>
            Operations and roofs
            <small>
              both axes logarithmic, area is time
              {all.length > points.length &&
                `; the longest ${count(points.length)} of ${count(all.length)}`}
            </small>
          </h2>
          {points.length === 0 ? (
            <p class="quiet">
              Of no operation FLOP and bytes are both known, so there are no points.
            </p>
          ) : (
            <>
              <RooflineChart
                points={points}
                peaks={peaks}
                words={words}
                picked={picked}
                onPick={pick}
              />
              <Legend parts={shown} />
            </>
          )}
        </div>
        <Bounds result={result} device={device} rows={rows} />
      </section>
      {picked !== null && <Detail row={picked} words={words} />}
      <section class="section">
        <Table
          rows={operations}
          columns={columns}
          noun={nounOf("roofline", "operations")}
          sort="total_ns"
          height="480px"
          picked={picked}
          onPick={setPicked}
        />
      </section>
      <Further result={result} rows="categories" words={words} />
      <Further result={result} rows="peaks" words={words} />
      {devices.length > 1 && <Further result={result} rows="devices" words={words} />}
    </div>
  );
}

export function Roofline() {
  const loaded = useResult("roofline");
  if (loaded.state === "loading") return <Loading what="rooflines" />;
  if (loaded.state === "absent" || loaded.value.operations.length === 0) {
    return (
      <NoGpuWork
        loaded={loaded}
        what="operations with kernels"
        would="Operations by what they compute and move, below what the device lets them reach, and what bounds them."
      />
    );
  }
  return <Ready result={loaded.value} />;
}
