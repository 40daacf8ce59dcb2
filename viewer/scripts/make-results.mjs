// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Makes src/data/results.gen.ts: the types of what `gpuprof stats PASS --json` prints, and the keys of
// passes. `gpuprof schema --json` describes the messages; they come from a file or from standard input.
//
//   gpuprof schema --json | node scripts/make-results.mjs            # writes the file
//   gpuprof schema --json | node scripts/make-results.mjs --check    # compares; exit status 1: differs

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const target = fileURLToPath(new URL("../src/data/results.gen.ts", import.meta.url));

const HEAD = `// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Made by scripts/make-results.mjs of \`gpuprof schema --json\`. Do not edit. Null is "not measured".
`;

// Results that are no pass, and have a page.
const OTHER_RESULTS = ["diff"];

// Parts that are in every result: the schema calls each message nullable.
const ALWAYS_THERE = new Set(["Meta", "Comparability", "StepDiff"]);

const PLAIN = { string: "string", bool: "boolean", double: "number", float: "number" };

function typeOf(field) {
  let type = PLAIN[field.type];
  if (/^u?int(32|64)$/.test(field.type)) type = "number";
  else if (field.type === "message") type = field.message;
  else if (field.type === "enum")
    type = field.values.map((word) => JSON.stringify(word)).join(" | ");
  if (type === undefined) throw new Error(`${field.name}: unknown type ${field.type}`);
  if (field.list) return field.type === "enum" ? `(${type})[]` : `${type}[]`;
  const isNull = field.nullable && !ALWAYS_THERE.has(field.message);
  return isNull ? `${type} | null` : type;
}

// Returns a message as an interface, and adds the messages in it to `wanted`.
function interfaceOf(name, fields, wanted) {
  const lines = fields.map((field) => {
    if (field.type === "message") wanted.add(field.message);
    return `  ${field.name}: ${typeOf(field)};`;
  });
  return `export interface ${name} {\n${lines.join("\n")}\n}\n`;
}

// Returns the text of the module. A message stands before those that it holds.
function moduleOf({ passes, pages, messages }) {
  const shown = [...passes, ...pages.filter((page) => OTHER_RESULTS.includes(page.name))];
  const names = shown.map((pass) => {
    const keys = pass.keys.map((key) => JSON.stringify(key)).join(" | ");
    return `  ${pass.name}: { result: ${pass.message}; by: ${keys || "never"} };`;
  });
  const wanted = new Set(shown.map((pass) => pass.message));
  const parts = [
    `/** The results by the name of their pass, and the keys of --by. */
export interface Passes {\n${names.join("\n")}\n}\n`,
  ];
  for (const name of wanted) parts.push(interfaceOf(name, messages[name], wanted));
  return `${HEAD}\n${parts.join("\n")}`;
}

const args = process.argv.slice(2);
const isCheck = args.includes("--check");
const input = args.find((each) => !each.startsWith("--"));
const made = moduleOf(JSON.parse(readFileSync(input ?? 0, "utf8")).results);
if (!isCheck) {
  writeFileSync(target, made);
} else if (readFileSync(target, "utf8") !== made) {
  console.error("src/data/results.gen.ts is not what results hold: run scripts/make-results.mjs");
  process.exit(1);
}
