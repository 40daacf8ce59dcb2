// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Copies and sets of memory on the GPU: how much, how fast, and what the hardware would allow.

import { useMemo } from "preact/hooks";
import { hashOf } from "../app/state";
import { useKeyed } from "../app/use_keyed";
import { bytes, count, duration, percent, plural, speed } from "../base/format";
import type { Look } from "../base/vocabulary";
import type { Copies, Memcpy as MemcpyResult } from "../data/results";
import { merged, Swatch, WallBar } from "../parts/bars";
import { longestCell } from "../parts/columns";
import { columnsOf, type Own } from "../parts/described";
import { type Figure, Figures } from "../parts/figures";
import { Loading } from "../parts/states";
import { Table } from "../parts/table";
import { NoGpuWork } from "./no_gpu_work";

type By = "memcpy" | "memcpy:size" | "memcpy:stream";

const CHOICES: readonly (readonly [By, string])[] = [
  ["memcpy", "Direction"],
  ["memcpy:size", "Size"],
  ["memcpy:stream", "Stream"],
];

const DIRECTIONS: Readonly<Record<string, string>> = {
  HtoD: "Host to device",
  DtoH: "Device to host",
  DtoD: "Device to device",
  PtoP: "GPU to GPU",
};

function isSet(row: Copies): boolean {
  return row.name === "Memset";
}

/** Directions of copies are shades of one hue. */
const LOOKS: Readonly<Record<string, Look>> = {
  HtoD: "d_copy",
  DtoH: "d_copy/78",
  DtoD: "d_copy/58",
  PtoP: "d_copy/44",
};

function lookOf(row: Copies): Look {
  return isSet(row) ? "d_other" : (LOOKS[row.name] ?? "d_copy");
}

/** Returns whether a copy goes through memory that the system may move: it is slower then. */
function isPageable(row: Copies): boolean {
  return row.source === "pageable" || row.destination === "pageable";
}

function nameOf(row: Copies): string {
  return DIRECTIONS[row.name] ?? row.name;
}

/** Returns how rows of a direction are named in the timeline. */
function timelineName(row: Copies): string {
  return isSet(row) ? "Memset " : `Memcpy ${row.name.slice(0, 200)}`;
}

const LIMITS: Readonly<Record<string, string>> = { pcie: "PCIe", memory: "the device’s memory" };

/** What the page adds to the columns of copies. */
function ownOf(by: By): Own<Copies> {
  const words = (row: Copies) => nameOf(row).slice(0, 300);
  return {
    bar: { color: lookOf },
    cells: {
      name: {
        width: "16%",
        value: nameOf,
        cell: (row) => (
          <>
            <Swatch look={lookOf(row)} />
            {by === "memcpy" ? (
              <a href={hashOf("timeline", { q: timelineName(row) })}>{words(row)}</a>
            ) : (
              words(row)
            )}
          </>
        ),
      },
      max_ns: longestCell(
        (row) => row.max_ns,
        (row) => ({ start_ns: row.max_start_ns, pid: row.pid, device: row.device }),
      ),
      limit_gb_per_s: { title: (row) => LIMITS[row.limit ?? ""] ?? "not known" },
    },
  };
}

function figuresOf(result: MemcpyResult): Figure[] {
  const { copies, total_ns, total_bytes } = result;
  const sum = (rows: readonly Copies[], read: (row: Copies) => number | null) =>
    rows.reduce((total, row) => total + (read(row) ?? 0), 0);
  const figures: Figure[] = [
    {
      label: "Copied and set",
      value: bytes(total_bytes),
      below: plural(result.count, "copy", "copies and sets"),
    },
    { label: "Time", value: duration(total_ns), below: "of all, summed" },
    {
      label: "Not hidden",
      value: duration(result.exposed_ns),
      below: "while no kernel ran",
      isCause: total_ns > 0 && result.exposed_ns > total_ns / 2 && result.exposed_ns > 1e9,
    },
    {
      label: "Speed",
      value: speed(total_bytes, total_ns),
      below: "size by time, of all",
    },
  ];
  if (result.by !== "direction") return figures;
  const hosts = copies.filter((row) => row.name === "HtoD" || row.name === "DtoH");
  const hostBytes = sum(hosts, (row) => row.total_bytes);
  const pageable = hosts.filter(isPageable);
  const real = copies.filter((row) => !isSet(row));
  const realCount = sum(real, (row) => row.count);
  const sets = copies.filter(isSet);
  if (hostBytes > 0) {
    figures.push({
      label: "Through pageable memory",
      value: percent(sum(pageable, (row) => row.total_bytes) / hostBytes),
      below: `of ${bytes(hostBytes)} between host and device`,
    });
    const best = Math.max(...hosts.map((row) => row.limit_ratio ?? 0));
    figures.push({
      label: "Of PCIe’s limit",
      value: best === 0 ? "—" : percent(best),
      below: best === 0 ? "the link is not known" : "the fastest direction",
    });
  }
  if (realCount > 0) {
    figures.push({
      label: "Asynchronous",
      value: percent(sum(real, (row) => row.async_count) / realCount),
      below: `of ${plural(realCount, "copy", "copies")}`,
    });
  }
  if (sets.length > 0) {
    figures.push({
      label: "Memsets",
      value: count(sum(sets, (row) => row.count)),
      below: `${bytes(sum(sets, (row) => row.total_bytes))} in ${duration(sum(sets, (row) => row.total_ns))}`,
    });
  }
  return figures;
}

/** Time by direction and memory: the same as the table, as one bar. */
function barParts(rows: readonly Copies[]) {
  const parts = rows.map((row) => {
    const way = isPageable(row) ? ", pageable" : "";
    return { name: `${nameOf(row)}${way}`, value: row.total_ns, look: lookOf(row) };
  });
  return merged(parts);
}

export function Memcpy() {
  const { by, loaded, choice } = useKeyed<By>(CHOICES);
  const rows = loaded.state === "ready" ? loaded.value.copies : [];
  const key = loaded.state === "ready" ? loaded.value.by : "";
  const columns = useMemo(
    () => columnsOf("memcpy", "copies", key, rows, ownOf(by)),
    [rows, key, by],
  );
  if (loaded.state === "loading") return <Loading what="copies" />;
  if (loaded.state === "absent" || (loaded.value.count === 0 && rows.length === 0)) {
    return (
      <NoGpuWork
        loaded={loaded}
        what="copies"
        title="No copies were recorded"
        would="Copies and sets by direction and kind of memory, their speed beside what the link allows, and how much of them kernels hide."
      />
    );
  }
  return (
    <div class="page">
      <div class="head">
        <h2>
          Copies
          <small>
            {plural(loaded.value.count, "copy", "copies and sets")},{" "}
            {duration(loaded.value.total_ns)} on the GPU
          </small>
        </h2>
        <a href={hashOf("overlap")}>What ran meanwhile</a>
      </div>
      <Figures figures={figuresOf(loaded.value)} />
      {by === "memcpy" && <WallBar parts={barParts(rows)} whole={loaded.value.total_ns} />}
      <div class="section">
        <Table
          key={by}
          rows={rows}
          columns={columns}
          noun={["copy", "copies"]}
          sort="total_ns"
          extra={choice}
        />
      </div>
    </div>
  );
}
