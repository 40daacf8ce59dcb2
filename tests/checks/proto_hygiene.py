# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Schemas: no field number twice, `Next id` (where a message tells it) above every number, comments above fields, snake_case names."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIELD = re.compile(r"^\s*(?:repeated |optional )?(?:map<[^>]+>|[\w.]+)\s+(\w+)\s*=\s*(\d+)\s*(?:\[[^\]]*\])?;(.*)$")
NEXT = re.compile(r"^\s*//\s*Next id: (\d+)")


def check(path):
    relative = path.relative_to(ROOT).as_posix()
    stack, next_id = [], None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        place = f"{relative}:{number}"
        if match := NEXT.match(line):
            next_id = int(match.group(1))
        elif match := re.match(r"^\s*(message|enum|oneof)\s+(\w+)\s*\{", line):
            kind, name = match.groups()
            stack.append({"kind": kind, "name": name, "seen": {}, "next": next_id if kind == "message" else None})
            next_id = None
            if line.rstrip().endswith("}"):
                stack.pop()
        elif line.strip().startswith("}"):
            if stack:
                stack.pop()
        elif stack and stack[-1]["kind"] in ("message", "oneof") and (match := FIELD.match(line)):
            field, value, rest = match.group(1), int(match.group(2)), match.group(3)
            owner = next(entry for entry in reversed(stack) if entry["kind"] == "message")
            if value in owner["seen"]:
                yield f"{place}: number {value} is already {owner['seen'][value]}"
            owner["seen"][value] = field
            if owner["next"] is not None and value >= owner["next"]:
                yield f"{place}: Next id of {owner['name']} must be above {value}"
            if not re.fullmatch(r"[a-z][a-z0-9_]*", field):
                yield f"{place}: {field} is not snake_case"
            if "//" in rest:
                yield f"{place}: the comment belongs above the field"


def main():
    found = [line for path in sorted((ROOT / "proto").rglob("*.proto")) for line in check(path)]
    print("\n".join(found) or "schemas are in order")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
