// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from "vitest";
import { plain } from "./plain";

describe("plain", () => {
  it("tells what turns text, is not seen, or is a control", () => {
    expect(plain("gpj.\u202egnp")).toBe("gpj.\\u202egnp");
    expect(plain("no\u00adpe\u034f\u180e\u3164")).toBe("no\\u00adpe\\u034f\\u180e\\u3164");
    expect(plain("a\u001b[2J\u009b\u007f")).toBe("a\\u001b[2J\\u009b\\u007f");
    expect(plain("a\ufe0fb\u{e0100}c\u{e0041}")).toBe("a\\ufe0fb\\U000e0100c\\U000e0041");
    expect(plain("\u2028\ufff9\ud800x")).toBe("\\u2028\\ufff9\\ud800x");
  });

  it("keeps blanks, emoji and what scripts are spelt with", () => {
    const kept = [
      "two\nlines\tand \u00a0 blanks",
      "\u2764\ufe0f \u{1f468}\u{1f3fd}\u200d\u{1f467} \u{1f3f3}\ufe0f\u200d\u{1f308}",
      "\u0645\u06cc\u200c\u062e \u0915\u094d\u200d\u0937 שלום",
    ];
    for (const text of kept) expect(plain(text)).toBe(text);
  });

  it("tells the same characters where they spell nothing", () => {
    expect(plain("\u{1f468}\u200dx")).toBe("\u{1f468}\\u200dx");
    expect(plain("\u200d\u{1f467}")).toBe("\\u200d\u{1f467}");
    expect(plain("1\ufe0f\u00a9\ufe0f")).toBe("1\\ufe0f\u00a9\\ufe0f");
    expect(plain("\u0645\u200cx\u0915\u200d\u0937")).toBe("\u0645\\u200cx\u0915\\u200d\u0937");
  });
});
