// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { expect, it } from "vitest";
import { hashOf, parseHash, timelineHash } from "./state";

it("reads the place of a hash", () => {
  expect(parseHash("").page).toBe("overview");
  expect(parseHash("#").page).toBe("overview");
  const route = parseHash("#kernels?q=gemm%20bf16&by=op");
  expect(route.page).toBe("kernels");
  expect(route.params.get("q")).toBe("gemm bf16");
});

it("writes hashes that it reads back", () => {
  const q = "a&b=c?#<b>";
  expect(parseHash(hashOf("ops", { q, by: "" })).params.get("q")).toBe(q);
  expect(hashOf("ops", { by: "" })).toBe("#ops");
  expect(timelineHash(1.4, 2_000_000_000)).toBe("#timeline?v=1,2000000000");
});
