// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from "vitest";
import { fromBase64, linkedFiles, openReport, readStretches, unpackText } from "./report";

/** A document that has what the source asks for. */
function page(manifest: string | null, blocks: Record<string, string>[] = []): Document {
  const elements = blocks.map((block) => ({
    textContent: block.text,
    getAttribute: (name: string) => block[name] ?? null,
    kind: block.kind,
  }));
  return {
    baseURI: "file:///tmp/report.html",
    getElementById: (id: string) =>
      id === "gpuprof-manifest" && manifest !== null ? { textContent: manifest } : null,
    querySelectorAll: (selector: string) => elements.filter((e) => selector.endsWith(`-${e.kind}`)),
  } as unknown as Document;
}

const MANIFEST = JSON.stringify({
  version: 1,
  title: "run1",
  gpuprof: "0.1.0",
  passes: ["ops"],
  failed: [],
});

/** Packs a text as `gpuprof report` does. */
async function gzip(text: string): Promise<Uint8Array> {
  const packed = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

describe("what a report carries of a file", () => {
  it("is the file, or its stretches", () => {
    const joined = new Uint8Array([1, 2, 3, 4, 5]);
    expect(readStretches(null, joined)).toEqual([{ offset: 0, bytes: joined }]);
    expect(readStretches("7:2,100:3", joined)).toEqual([
      { offset: 7, bytes: new Uint8Array([1, 2]) },
      { offset: 100, bytes: new Uint8Array([3, 4, 5]) },
    ]);
  });

  it("is nothing if the files are with a web server", () => {
    const files = [{ name: "rank 1/p 1.gpt", size: 9 }];
    const manifest = { ...JSON.parse(MANIFEST), files, files_at: "../run%201/" };
    expect(linkedFiles(manifest, "https://host/pages/page.html?x#y")).toEqual([
      { path: "rank 1/p 1.gpt", size: 9, at: "https://host/run%201/rank%201/p%201.gpt" },
    ]);
  });
});

describe("unpackText", () => {
  it("stops at a text that is too long", async () => {
    const packed = await gzip("0123456789");
    expect(await unpackText(packed)).toBe("0123456789");
    await expect(unpackText(packed, 9)).rejects.toThrow("too long");
    await expect(unpackText(packed.subarray(0, 12))).rejects.toThrow();
  });
});

describe("openReport", () => {
  it("is null if the page carries no data", () => {
    expect(openReport(page(null))).toBeNull();
  });

  it("refuses another version", () => {
    expect(() => openReport(page('{"version": 2}'))).toThrow("version 1");
  });

  it("reads packed results, plain ones and none", async () => {
    const packed = btoa(String.fromCharCode(...(await gzip('{"count":3}'))));
    const source = openReport(
      page(MANIFEST, [
        { kind: "result", "data-pass": "ops", "data-encoding": "gzip+base64", text: packed },
        { kind: "result", "data-pass": "steps", text: '{"steps":[]}' },
        { kind: "file", "data-name": "p1-1.gpt", "data-size": "3", text: "AQID" },
      ]),
    );
    expect(await source?.result("ops")).toEqual({ count: 3 });
    expect(await source?.result("steps")).toEqual({ steps: [] });
    expect(await source?.result("kernels")).toBeNull();
    expect(source?.askTimeline).toBeUndefined();
  });
});

it("a page from disk cannot read files beside it, and says so", () => {
  const linked = JSON.stringify({ ...JSON.parse(MANIFEST), files: [], files_at: "run1/" });
  expect(openReport(page(linked))?.unreadable).toContain("Open this page from a web server");
  expect(openReport(page(MANIFEST))?.unreadable).toBeUndefined();
});

it("fromBase64 throws on foreign digits", () => {
  expect(() => fromBase64("<b>")).toThrow();
});
