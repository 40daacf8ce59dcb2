// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Builds the page as one HTML file without a request to anywhere: scripts, styles and the worker
// are inside. `gpuprof report` puts the data of a recording into it.

import preact from "@preact/preset-vite";
import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

export default defineConfig({
  plugins: [preact(), viteSingleFile()],
  build: { target: "es2022", outDir: "dist", cssCodeSplit: false, modulePreload: false },
  worker: { format: "iife" },
});
