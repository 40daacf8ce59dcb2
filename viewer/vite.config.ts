// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Builds the page as one HTML file without a request to anywhere: script and styles are
// inside. `gpuprof report` puts the data of a recording into it.

import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";
import { notices } from "./scripts/notices.mjs";

export default defineConfig({
  plugins: [viteSingleFile(), notices()],
  build: {
    target: "es2022",
    outDir: "dist",
    cssCodeSplit: false,
    modulePreload: false,
  },
});
