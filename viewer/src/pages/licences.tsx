// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Whose work the page contains, and under which licences.

import { useMemo } from "preact/hooks";
import { noticesIn } from "../base/notices";
import { Remark } from "../parts/states";

export function Licences() {
  const text = useMemo(() => noticesIn(document), []);
  return (
    <div class="page">
      <div class="head">
        <h2>Licences</h2>
      </div>
      <p>gpuprof is under the Apache License 2.0.</p>
      {text === "" ? <Remark>This page was not built whole.</Remark> : <pre>{text}</pre>}
      <p class="quiet">
        The licences of the command are told by: <code>gpuprof help licences</code>
      </p>
    </div>
  );
}
