// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { expect, it } from "vitest";
import { hashOf, parseHash, placeHash, timelineHash } from "./state";

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

it("leads to a place in the timeline, with what is around it", () => {
  const place = { start_ns: 1000, end_ns: 1200, pid: 7 };
  expect(placeHash({ ...place, tid: 9 })).toBe("#timeline?v=900,1300&sel=1000,1200&on=7.t9");
  expect(placeHash({ ...place, tid: null, device: 0 })).toBe(
    "#timeline?v=900,1300&sel=1000,1200&on=7.d0",
  );
  expect(placeHash(place)).toBe("#timeline?v=900,1300&sel=1000,1200");
  // A moment has no range to select.
  expect(placeHash({ ...place, start_ns: 5e6, end_ns: 5e6 })).toBe("#timeline?v=4000000,6000000");
});
