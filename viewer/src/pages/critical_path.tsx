// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the end of a step waited for, and how long the step would be without some of the time.

import { useMemo } from "preact/hooks";
import { timelineHash } from "../app/state";
import { useResult } from "../app/use_result";
import { count, duration, plural } from "../base/format";
import { kernelName, opName } from "../base/names";
import { DEVICE_CATEGORIES, wordOf } from "../base/vocabulary";
import type { CriticalPaths, PathShare, WhatIf } from "../data/results";
import { WallBar } from "../parts/bars";
import { DeviceCategoryTable } from "../parts/category_table";
import { columnsOf, nounOf, type Own } from "../parts/described";
import { Loading } from "../parts/states";
import { Table } from "../parts/table";
import { NoGpuWork } from "./no_gpu_work";

type Path = CriticalPaths["paths"][number];

/** Pieces without a name of their own are named by their kind. */
const KINDS: Readonly<Record<string, string>> = {
  launch: "the way of launches to the device",
  host: "other work of the host",
  copy: "copies",
  dependency: "waits for other streams",
  none: "nothing that was recorded",
};

function nameOf(row: PathShare): string {
  const name = kernelName(opName(row.short_name || row.name));
  return name === "" ? (KINDS[row.kind] ?? row.kind) : name;
}

const SHARES: Own<PathShare> = {
  bar: { width: "20%" },
  cells: { name: { value: nameOf, width: "34%" } },
};

const WHAT_IF: Readonly<Record<string, string>> = {
  compute: "kernels took no time",
  collectives: "collectives took no time",
  copies: "copies took no time",
  host: "the host’s own work took no time",
  input: "input was always there",
  compile: "nothing was compiled",
  launches: "launches took no time",
  sync: "the host never waited for the GPU",
  profiler: "the profiler took no time",
};

const WHAT_IFS: Own<WhatIf> = {
  bar: { width: "20%" },
  cells: { subject: { title: (row) => WHAT_IF[row.subject] ?? row.subject } },
};

function stepWords(path: Path): string {
  if (path.first_step === null) return "the whole recording";
  if (path.first_step === path.last_step) return `step ${path.first_step}`;
  return `steps ${path.first_step} to ${path.last_step ?? path.first_step}`;
}

function OnePath({ path }: { path: Path }) {
  const shares = useMemo(
    () => columnsOf("critical_path", "paths.shares", "", path.shares, SHARES),
    [path],
  );
  const whatIfs = useMemo(
    () => columnsOf("critical_path", "paths.what_ifs", "", path.what_ifs, WHAT_IFS),
    [path],
  );
  return (
    <section>
      <h2>
        Critical path of {stepWords(path)}
        <small>
          {duration(path.duration_ns)}, {plural(path.node_count, "piece", "pieces")} of work and{" "}
          {count(path.edge_count)} dependencies;{" "}
          <a href={timelineHash(path.start_ns, path.start_ns + path.duration_ns)}>
            show in timeline
          </a>
        </small>
      </h2>
      <WallBar
        parts={path.categories.map((each) => ({
          ...wordOf(DEVICE_CATEGORIES, each.category),
          value: each.total_ns,
        }))}
        whole={path.duration_ns}
        rest="Not explained"
      />
      <div class="columns">
        <div>
          <h2>
            If some of the time were not there
            <small>the other dependencies stay; at most so much is saved</small>
          </h2>
          <Table
            rows={path.what_ifs}
            columns={whatIfs}
            noun={nounOf("critical_path", "paths.what_ifs")}
            sort="saved_ns"
            isSide
          />
        </div>
        <DeviceCategoryTable rows={path.categories} base="of path" isNarrow />
      </div>
      <section class="section">
        <Table
          rows={path.shares}
          columns={shares}
          noun={nounOf("critical_path", "paths.shares")}
          sort="total_ns"
          height="max(280px, calc(100vh - var(--tabs, 0px) - 460px))"
        />
      </section>
    </section>
  );
}

export function CriticalPath() {
  const loaded = useResult("critical_path");
  if (loaded.state === "loading") return <Loading what="critical paths" />;
  if (loaded.state === "absent" || loaded.value.paths.length === 0) {
    return (
      <NoGpuWork
        loaded={loaded}
        what="critical path"
        would="The chain of work that the end of a step waited for, and what a step would take without some of it."
      />
    );
  }
  return (
    <div class="page">
      {loaded.value.paths.map((path) => (
        <OnePath key={`${path.host} ${path.pid} ${path.start_ns}`} path={path} />
      ))}
    </div>
  );
}
