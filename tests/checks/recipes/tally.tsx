// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The page of docs/extending.md: how many kernels each process ran.

import { useMemo } from "preact/hooks";
import { useResult } from "../app/use_result";
import { columnsOf, nounOf } from "../parts/described";
import { Broken, Loading } from "../parts/states";
import { Table } from "../parts/table";

export function Tally() {
  const loaded = useResult("tally");
  const rows = loaded.state === "ready" ? loaded.value.rows : [];
  const columns = useMemo(() => columnsOf("tally", "rows", "", rows), [rows]);
  if (loaded.state === "loading") return <Loading what="processes" />;
  if (loaded.state === "absent")
    return <Broken title="Kernels of processes cannot be shown">{loaded.reason}</Broken>;
  return (
    <div class="page">
      <h2>Kernels of each process</h2>
      <Table rows={rows} columns={columns} noun={nounOf("tally", "rows")} sort="count" />
    </div>
  );
}
