# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Compares the codes that findings say with the rows of analysis/render/finding_rows_*.h, which hold their words.

Each code of a rule has one row, and each row is said. Rules contain no sentence of their own.
"""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = ("analysis/advice", "analysis/passes")
CODE = re.compile(r'"((?:[A-Z]{2}-\d{3}|all)\.[a-z0-9_]+)"')
ROW = re.compile(r'^    \{"((?:[A-Z]{2}-\d{3}|all)\.[a-z0-9_]+)",(.*?)\},$', re.M | re.S)
THRESHOLD = re.compile(r'\{"([A-Z]{2}-\d{3}|all)",|\{"([a-z0-9_]+)", ')
PLACE = re.compile(r"\{(\d)(?:\|([^|{}]*)\|([^|{}]*))?\}")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
COMMENT = re.compile(r"//[^\n]*")
# What a sentence looks like: a capital, words with blanks, a point.
SENTENCE = re.compile(r"[A-Z][a-z]+ [a-z]+ .*\.$")


def sources(folders, *endings):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in endings:
                yield path, COMMENT.sub("", path.read_text(encoding="utf-8"))


def thresholds():
    """The names of all thresholds: they look as codes do."""
    rule, names = "", set()
    for new_rule, name in THRESHOLD.findall((ROOT / "analysis/advice/rule_rows.h").read_text(encoding="utf-8")):
        rule = new_rule or rule
        names.add(f"{rule}.{name}")
    return names


def main():
    faults, rows, limits = [], collections.Counter(), thresholds()
    for path, text in sources(("analysis/render",), ".h"):
        if not path.name.startswith("finding_rows_"):
            continue
        for code, words in ROW.findall(text):
            rows[code] += 1
            rest = PLACE.sub("", "".join(STRING.findall(words)))
            if "{" in rest or "}" in rest:
                faults.append(f"{path.name}: {code}: a place is {{0}} or {{0|one|many}}")
    faults += [f"{code} has {count} rows" for code, count in rows.items() if count > 1]
    said = set()
    for path, text in sources(RULES, ".cc", ".h"):
        name = path.relative_to(ROOT).as_posix()
        codes = set(CODE.findall(text))
        said |= codes
        if name.startswith("analysis/advice"):
            faults += [f"{name}: {code} has no words" for code in sorted(codes - limits - set(rows))]
            if not name.endswith("rule_rows.h"):
                faults += [f"{name}: a sentence belongs into analysis/render/finding_rows_*.h: {each}"
                           for each in STRING.findall(text) if SENTENCE.match(each)]
    faults += [f"{code} has words that nothing says" for code in sorted(set(rows) - said)]
    print("\n".join(faults) or f"{len(rows)} codes have their words")
    return 1 if faults or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
