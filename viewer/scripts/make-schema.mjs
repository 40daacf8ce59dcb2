// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Makes src/trace/schema.gen.ts of the format's description, so that a new column needs no edit
// here. Input: what `gpuprof schema --json` prints, from a file or from standard input. The meaning of
// values is kept for SHOWN tables alone: it is in every report.
//
//   gpuprof schema --json | node scripts/make-schema.mjs            # writes the file
//   gpuprof schema --json | node scripts/make-schema.mjs --check    # compares; exit status 1: differs

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const target = fileURLToPath(new URL("../src/trace/schema.gen.ts", import.meta.url));

const HEAD = `// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Made by scripts/make-schema.mjs of \`gpuprof schema --json\`. Do not edit.
`;

/** Tables whose rows are events of the timeline: the page shows their fields. */
const SHOWN = new Set([
  "kernel",
  "memcpy",
  "memset",
  "graph_launch",
  "sync",
  "host_function",
  "api",
  "op",
  "python",
  "range",
  "wait",
  "overhead",
  "file_read",
]);

function column(each, isShown) {
  const kept = { name: each.name, encoding: each.encoding };
  if (!isShown) return kept;
  kept.type = each.type;
  if (each.values !== undefined) kept.values = each.values;
  if (each.fields !== undefined) kept.fields = each.fields;
  return kept;
}

// Returns the text of the module. Columns are in the order of their fields, from 64 on.
function moduleOf(schema) {
  const tables = {};
  const entries = {};
  for (const kind of schema.kinds) {
    if (kind.columns.length === 0) {
      entries[kind.name] = { kind: kind.kind, field: kind.field };
      continue;
    }
    const columns = kind.columns.filter((each) => each.per === "row");
    columns.forEach((each, i) => {
      if (each.field !== 64 + i) throw new Error(`${kind.name}.${each.name}: unexpected field`);
    });
    const kept = columns.map((each) => column(each, SHOWN.has(kind.name)));
    tables[kind.name] = { kind: kind.kind, clock: kind.clock, columns: kept };
  }
  const text = (value) => JSON.stringify(value, null, 2);
  return `${HEAD}
export const FORMAT = ${text(schema.format)};

/** Tables of rows. */
export const TABLES = ${text(tables)} as const;

/** Tables of entries: each is one message of Chunk. */
export const ENTRIES = ${text(entries)} as const;
`;
}

const args = process.argv.slice(2);
const isCheck = args.includes("--check");
const input = args.find((each) => !each.startsWith("--"));
const made = moduleOf(JSON.parse(readFileSync(input ?? 0, "utf8")));
if (!isCheck) {
  writeFileSync(target, made);
} else if (readFileSync(target, "utf8") !== made) {
  console.error("src/trace/schema.gen.ts is not what the format says: run scripts/make-schema.mjs");
  process.exit(1);
}
