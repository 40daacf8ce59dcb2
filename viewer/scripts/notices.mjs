// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Puts the licences of the packages that the page contains into the page, as a comment. Writes them to notices.json,
// too, which NOTICE is made of. The bundler tells which packages these are, so none can be forgotten.
// A package without a licence ends the build.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { NOTICES_TITLE } from "../src/base/notices";

/** Returns the folder of the package that a module belongs to. Undefined: the module is the page's own. */
function packageOf(id) {
  return /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1];
}

/** Returns what is to be said of a package. Throws if the package says nothing of its licence. */
function noticeOf(folder) {
  const { name, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((each) =>
    /^(licen[cs]e|copying)(\.(md|txt))?$/i.test(each),
  );
  if (license === undefined || file === undefined)
    throw new Error(`the package ${name} has no licence file, so the page cannot contain it`);
  return { name, licence: license, text: readFileSync(join(folder, file), "utf8").trim() };
}

/** Returns the comment for the page. */
function commentOf(found) {
  const parts = found.map(({ name, licence, text }) => `${name} (${licence})\n\n${text}\n`);
  const words = [`${NOTICES_TITLE}\n`, ...parts].join(`\n${"-".repeat(72)}\n`);
  if (/-->|--!>|<!--/.test(words)) throw new Error("a licence would end the comment of the page");
  return `<!--\n${words}-->`;
}

/** Makes the plugin. It stands behind the one that writes the page. */
export function notices() {
  return {
    name: "notices",
    apply: "build",
    enforce: "post",
    generateBundle(_options, bundle) {
      const folders = new Set();
      for (const id of this.getModuleIds()) {
        if (id.startsWith("\0vite/")) this.error(`the bundler adds code of its own: ${id}`);
        const folder = packageOf(id);
        if (folder !== undefined) folders.add(folder);
      }
      const found = [...folders].map(noticeOf).sort((a, b) => (a.name < b.name ? -1 : 1));
      this.emitFile({ type: "asset", fileName: "notices.json", source: JSON.stringify(found) });
      const page = Object.values(bundle).find((file) => file.fileName === "index.html");
      if (page === undefined) this.error("the page is not written yet");
      page.source = String(page.source).replace("<head>", () => `<head>\n${commentOf(found)}`);
    },
  };
}
