// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Whose work the page contains, and under which licences.

import { useEffect, useMemo, useState } from "preact/hooks";
import { noticesIn } from "../base/notices";
import { textIn } from "../data/report";
import { Remark } from "../parts/states";

export function Licences() {
  const text = useMemo(() => noticesIn(document), []);
  const [ofEngine, setOfEngine] = useState("");
  useEffect(() => {
    textIn(document, "gpuprof-notices").then(setOfEngine, () => {});
  }, []);
  return (
    <div class="page">
      <div class="head">
        <h2>Licences</h2>
      </div>
      <p>gpuprof is under the Apache License 2.0.</p>
      {text === "" ? <Remark>This page was not built whole.</Remark> : <pre>{text}</pre>}
      {ofEngine !== "" && (
        <>
          <h3>The engine in this page, and the command that wrote it</h3>
          <pre>{ofEngine}</pre>
        </>
      )}
      <p class="quiet">
        The licences of the command are told by: <code>gpuprof help licences</code>
      </p>
    </div>
  );
}
