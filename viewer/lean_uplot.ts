// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Leaves out of uPlot what no chart of the page uses: axes and legends of time, logarithmic scales,
// legends, selections, points and lines that are not stepped. uPlot is one module whose parts all refer to each
// other, so a bundler keeps all of it. Only the build uses this file.

import type { Plugin } from "vite";

/**
 * Functions that uPlot calls for each chart, whose results charts of the page do not use. No chart
 * has a selection: buttons of the mouse are for the page.
 */
const UNHEARD = [
  "dblClick",
  "fmtDate",
  "linear",
  "mouseDown",
  "mouseUp",
  "points",
  "timeAxisSplits",
  "timeAxisStamps",
  "timeAxisVals",
  "timeSeriesStamp",
  "timeSeriesVal",
];

/** Functions that a chart would have to ask for. */
const UNASKED = [
  "addBand",
  "addSeries",
  "asinhAxisSplits",
  "delBand",
  "delSeries",
  "initLegendRow",
  "join",
  "log10AxisValsFilt",
  "log2AxisValsFilt",
  "logAxisSplits",
  "monotoneCubic",
  "numSeriesVal",
  "rangeAsinh",
  "rangeLog",
  "setBand",
  "setLegendValues",
  "timeAxisVal",
  "tzDate",
];

/** Puts an empty function in the place of each: nothing refers to the full one, which falls away. */
export function leanUplot(): Plugin {
  return {
    name: "lean-uplot",
    apply: "build",
    transform(code, id) {
      if (!id.includes("uPlot.esm.js")) return undefined;
      let lean = code;
      for (const name of [...UNHEARD, ...UNASKED]) {
        const front = `function ${name}(`;
        if (lean.split(front).length !== 2) this.error(`uPlot has no one function ${name}`);
        const body = UNHEARD.includes(name) ? "" : `throw Error("lean_uplot.ts")`;
        lean = lean.replace(front, `function ${name}() { ${body} }\nfunction left_out_${name}(`);
      }
      return { code: lean, map: null };
    },
  };
}
