// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from "vitest";
import { whyLossesUnknown } from "./losses";
import type { Overview } from "./results";

function overviewOf(isOwn: boolean, ended: string, fault = ""): Overview {
  return {
    cost: isOwn ? {} : null,
    processes: [{ ended }],
    meta: { inputs: [{ fault }] },
  } as unknown as Overview;
}

describe("whyLossesUnknown", () => {
  it("knows the losses of a whole recording alone", () => {
    expect(whyLossesUnknown(overviewOf(true, "exit 0"))).toBe("");
    expect(whyLossesUnknown(overviewOf(false, ""))).toBe("another tool wrote the trace");
    expect(whyLossesUnknown(overviewOf(false, "", "cut"))).toBe("another tool wrote the trace");
    const cut = "block cut: 28 of its 146 bytes are there";
    expect(whyLossesUnknown(overviewOf(true, "no end recorded", cut))).toBe("the trace has no end");
    expect(whyLossesUnknown(overviewOf(true, "exit 0", cut))).toBe("the trace is cut");
  });

  it("takes a recording of nothing as its own", () => {
    const nothing = { cost: null, processes: [], meta: { inputs: [] } } as unknown as Overview;
    expect(whyLossesUnknown(nothing)).toBe("");
  });
});
