// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from "vitest";
import { assistantFindings } from "./assistant";

function pageWith(text: string | null): Document {
  return {
    getElementById: (id: string) =>
      id === "gpuprof-assistant" && text !== null ? { textContent: text } : null,
  } as unknown as Document;
}

describe("findings of assistants", () => {
  it("are none in a page without them", () => {
    expect(assistantFindings(pageWith(null))).toEqual([]);
    expect(assistantFindings(pageWith("{"))).toEqual([]);
    expect(assistantFindings(pageWith('{"title":"x"}'))).toEqual([]);
  });

  it("are read member by member", () => {
    const list = [
      { title: "Copies wait", severity: "high", evidence: ["12 ms", 3], window_ns: [1, 5] },
      { text: "without a title" },
      { title: "Other", severity: "urgent", window_ns: [5, 1], author: 7 },
    ];
    const read = assistantFindings(pageWith(JSON.stringify(list)));
    expect(read.map((each) => each.title)).toEqual(["Copies wait", "Other"]);
    expect(read[0]?.evidence).toEqual(["12 ms"]);
    expect(read[0]?.window_ns).toEqual([1, 5]);
    expect(read[1]).toMatchObject({ severity: "info", window_ns: null, author: "" });
  });
});
