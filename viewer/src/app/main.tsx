// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Where the page begins: finds its data and draws the shell. The same script is the worker's, too.

import { render } from "preact";
import { openSource } from "../data/open";
import { beWorker, isWorker } from "../engine/worker";
import { Broken } from "../parts/states";
import { showTextsPlainly } from "./plain_texts";
import { keepScope } from "./scope";
import { Shell } from "./shell";
import { followBrowser, source } from "./state";
import "./tokens.css";
import "./styles.css";
import "../parts/parts.css";
import "../parts/tables.css";
import "../parts/overview.css";

function begin(place: HTMLElement): void {
  showTextsPlainly();
  followBrowser();
  keepScope();
  try {
    source.value = openSource(document);
  } catch (error) {
    render(
      <div class="page">
        <Broken title="This report cannot be read">
          {error instanceof Error ? error.message : String(error)}
        </Broken>
      </div>,
      place,
    );
    return;
  }
  const found = source.value;
  if (found === null) {
    render(
      <div class="page">
        <Broken title="There is no recording in this page">
          Write one with: gpuprof report BUNDLE
        </Broken>
      </div>,
      place,
    );
    return;
  }
  render(<Shell source={found} />, place);
}

if (isWorker()) {
  beWorker();
} else {
  const place = document.getElementById("app");
  if (place !== null) begin(place);
}
