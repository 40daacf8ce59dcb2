// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads a file with speedscope's own importer, and prints what it made of it as JSON: null if it refuses the file.
// speedscope is one script for a page. This runs the script without its last lines, which draw the page.
//   node speedscope_import.mjs FOLDER-OF-SPEEDSCOPE FILE

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";

const [release, file] = process.argv.slice(2);
const script = readdirSync(release).find((name) => /^speedscope-.*\.js$/.test(name));
const source = readFileSync(join(release, script), "utf8");
const importer = /async function (\w+)\(\w+,\w+\)\{return\(await \w+\)\.importProfileGroupFromText\(/.exec(source)[1];
const drawing = source.lastIndexOf("console.log(`speedscope v");
// Whatever of a page the script touches as it begins.
const anything = () => new Proxy(function () {}, {
  get: (_, key) => {
    if (key === Symbol.toPrimitive) return () => "";
    if (key === Symbol.iterator) return function* () {};
    return key === "then" ? undefined : anything();
  },
  apply: () => anything(), construct: () => anything(), set: () => true,
});
const page = {
  console: { log() {}, warn: console.error, error: console.error },
  TextDecoder, TextEncoder, Uint8Array, ArrayBuffer, URLSearchParams, URL, setTimeout, clearTimeout, performance, Promise,
  document: anything(), FontFace: anything(), localStorage: { getItem: () => null, setItem() {} },
  navigator: { userAgent: "node", platform: "node" }, location: { hash: "", protocol: "file:", href: "file:///x", search: "" },
  matchMedia: () => ({ matches: false, addListener() {}, addEventListener() {} }),
  requestAnimationFrame() {}, addEventListener() {}, devicePixelRatio: 1, HTMLElement: class {}, Element: class {},
};
page.window = page.self = page.globalThis = page;
createContext(page);
runInContext(`${source.slice(0, drawing)};globalThis.importText=${importer};})();`, page);

const group = await page.importText(file, readFileSync(file, "utf8"));
const read = (profile) => {
  let depth = 0, opened = 0;
  const own = {};
  profile.forEachCall(() => { ++opened; ++depth; }, () => { --depth; });
  profile.forEachFrame((frame) => { own[frame.name] = (own[frame.name] ?? 0) + frame.getSelfWeight(); });
  return { name: profile.getName(), unit: profile.getWeightUnit(), total: profile.getTotalWeight(), opened, left: depth, own };
};
console.log(JSON.stringify(group === null ? null : { name: group.name, profiles: group.profiles.map(read) }));
