// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { css: true, include: ["src/**/*.test.ts", "src/**/*.test.tsx"] },
});
