// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Makes src/data/results.gen.ts: the types of what `gpuprof stats PASS --json` prints, and the keys of
// passes; and src/data/tables.gen.ts: the columns of their tables. `gpuprof schema --json` describes
// both; it comes from a file or from standard input.
//
//   gpuprof schema --json | node scripts/make-results.mjs            # writes the files
//   gpuprof schema --json | node scripts/make-results.mjs --check    # compares; exit status 1: differs

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const pathOf = (name) => fileURLToPath(new URL(`../src/data/${name}.gen.ts`, import.meta.url));

const HEAD = `// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Made by scripts/make-results.mjs of \`gpuprof schema --json\`. Do not edit. `;

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
  return `${HEAD}Null is "not measured".\n\n${parts.join("\n")}`;
}

// How the page writes the values of a column. A column with a divisor holds numbers of one unit.
function kindOf({ format, divisor, unit }) {
  if (format === "number") return "count";
  if (format === "identifier") return "id";
  if (divisor === 0) return format;
  return unit === "" && (format === "bytes" || format === "duration") ? format : "scaled";
}

// Returns the field that a path of a message leads to.
function fieldOf(messages, message, path) {
  const [first, ...rest] = path.split(".");
  const field = messages[message].find(({ name }) => name === first);
  return rest.length === 0 ? field : fieldOf(messages, field.message, rest.join("."));
}

// Returns a column for the page, without what is as usual.
function columnOf(messages, message, column) {
  const kind = kindOf(column);
  const made = { field: column.field, title: column.title, kind };
  if (kind === "scaled") {
    if (column.unit !== "") made.unit = column.unit;
    if (column.divisor !== 1) made.divisor = column.divisor;
    made.decimals = column.decimals;
  }
  if (column.share_of !== "") made.shareOf = column.share_of;
  if (column.needs !== "") made.needs = column.needs;
  if (/[a-z]/.test(column.blank) && kind === "text") made.blank = column.blank;
  if (column.flexible) made.isFlexible = true;
  if (column.tip !== "") made.tip = column.tip;
  if (column.page !== "shown") made.page = column.page;
  // A test is a function of the command: the page offers the column.
  if (column.shown === "test") made.page = "offered";
  else if (column.shown !== "always") {
    const by = column.shown_by || column.field;
    made.shown = column.shown;
    if (by !== column.field) made.shownBy = by;
    if (fieldOf(messages, message, by).nullable) made.isNullable = true;
  }
  if (column.only_by.length > 0) made.onlyBy = column.only_by;
  if (column.except_by.length > 0) made.exceptBy = column.except_by;
  return made;
}

// Returns a value as Biome writes it on one line.
function literal(value) {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const parts = Object.entries(value).map(([name, each]) => `${name}: ${literal(each)}`);
  return `{ ${parts.join(", ")} }`;
}

// Returns the text of the module of tables.
function tablesOf({ passes, messages }) {
  const lines = [];
  const summaries = passes
    .filter(({ tables }) => tables.length > 0)
    .map(({ name, summary }) => `  ${name}: ${literal(summary)},`);
  for (const { name, tables } of passes) {
    if (tables.length === 0) continue;
    lines.push(`  ${name}: [`);
    for (const { columns, message, noun, rows, title, ...table } of tables) {
      lines.push("    {", `      rows: ${literal(rows)},`, `      title: ${literal(title)},`);
      lines.push(`      noun: ${literal(noun)},`, `      sortedBy: ${literal(table.sorted_by)},`);
      lines.push(`      onlyBy: ${literal(table.only_by)},`, "      columns: [");
      for (const column of columns) {
        if (column.page === "absent") continue;
        lines.push(`        ${literal(columnOf(messages, message, column))},`);
      }
      lines.push("      ],", "    },");
    }
    lines.push("  ],");
  }
  return `${HEAD}parts/described.tsx makes columns of it.

import type { TableLayout } from "./layout";

/** What each pass tells, in a few words. */
export const SUMMARIES: Readonly<Record<string, string>> = {
${summaries.join("\n")}
};

/** The tables of each pass. */
export const TABLES: Readonly<Record<string, readonly TableLayout[]>> = {
${lines.join("\n")}
};
`;
}

const args = process.argv.slice(2);
const isCheck = args.includes("--check");
const input = args.find((each) => !each.startsWith("--"));
const { results } = JSON.parse(readFileSync(input ?? 0, "utf8"));
for (const [name, make] of [
  ["results", moduleOf],
  ["tables", tablesOf],
]) {
  const made = make(results);
  if (!isCheck) {
    writeFileSync(pathOf(name), made);
  } else if (readFileSync(pathOf(name), "utf8") !== made) {
    console.error(`src/data/${name}.gen.ts is not what results hold: run scripts/make-results.mjs`);
    process.exitCode = 1;
  }
}
