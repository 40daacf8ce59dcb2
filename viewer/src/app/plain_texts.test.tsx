// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { options, type VNode } from "preact";
import { describe, expect, it } from "vitest";
import { showTextsPlainly } from "./plain_texts";

interface Node {
  type: unknown;
  props: unknown;
}

describe("what is put into the page", () => {
  showTextsPlainly();
  const put = (node: Node) => {
    options.vnode?.(node as unknown as VNode);
    return node.props;
  };

  it("is plain as a text", () => {
    expect(put({ type: null, props: "a\u202eb\u00ad" })).toBe("a\\u202eb\\u00ad");
    expect(put({ type: null, props: 7 })).toBe(7);
  });

  it("is plain where it is seen or heard, and left alone elsewhere", () => {
    const props = {
      title: "a\u202e",
      "aria-label": "\u200b",
      "data-key": "a\u202e",
      onClick: null,
    };
    expect(put({ type: "td", props })).toEqual({
      title: "a\\u202e",
      "aria-label": "\\u200b",
      "data-key": "a\u202e",
      onClick: null,
    });
    const ofAPart = { title: "a\u202e" };
    expect(put({ type: () => null, props: ofAPart })).toEqual({ title: "a\u202e" });
  });

  it("is plain when Preact makes it of a part's words", () => {
    const made = <p title={"t\u202e"}>{"x"}</p>;
    expect((made.props as { title: string }).title).toBe("t\\u202e");
  });
});
