// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { expect, it } from "vitest";
import type { Entry, Page } from "./pages";
import { commandFor, missingOf, withData } from "./rail";

const page = (id: string, title: string, sources: string[]): Page => ({
  id,
  title,
  sources,
  component: () => null,
});
const GPU: Entry = {
  title: "GPU time",
  isOfDevice: true,
  pages: [page("idle", "Idle", ["cuda"]), page("memcpy", "Copies", ["cuda"])],
};
const HOST: Entry = {
  title: "Host",
  pages: [page("threads", "Threads", ["threads"]), page("files", "File reads", ["files"])],
};
const badges = (pages: Record<string, string | null>) => ({
  pages: new Map(Object.entries(pages)),
  figures: new Map(),
});

it("shows the pages with data, and those that are not known yet", () => {
  const some = badges({ idle: "1.56 ms", memcpy: null });
  expect(withData(GPU, some).map(({ id }) => id)).toEqual(["idle"]);
  expect(withData(HOST, some)).toHaveLength(2);
});

it("names what was not recorded: a page, or a whole entry", () => {
  const none = badges({ idle: null, memcpy: null, threads: "4", files: null });
  const titles = missingOf([GPU, HOST], none, true).map(({ title }) => title);
  expect(titles).toEqual(["GPU time", "File reads"]);
  // A program without a device is not told to record one.
  expect(missingOf([GPU, HOST], none, false).map(({ title }) => title)).toEqual(["File reads"]);
});

it("tells one command that records it all", () => {
  const none = badges({ idle: null, memcpy: null, threads: null, files: null });
  expect(commandFor(missingOf([GPU], none, true))).toBe("gpuprof run -- COMMAND");
  expect(commandFor(missingOf([GPU, HOST], none, true))).toContain(",files -- COMMAND");
});
