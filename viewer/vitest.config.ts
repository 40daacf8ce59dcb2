// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { defineConfig } from "vitest/config";

export default defineConfig({
  // Properties of a second each take long on a busy machine.
  test: { css: true, testTimeout: 900_000, include: ["src/**/*.test.ts", "src/**/*.test.tsx"] },
});
