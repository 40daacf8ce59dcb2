# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Follows the recipes of docs/extending.md on a copy of the tree, and compiles what they touch.

    recipes.py GENERATED COMPILER PROTOC [FLAG...]     GENERATED holds the build's proto/*.pb.h, FLAGs are protoc's

A recipe is a section of the page. Its steps are:
  - a diff block, "```diff FILE": the lines without a sign must stand in FILE once, next to each other;
  - "New file `FILE`, template `TEMPLATE`": TEMPLATE is copied to FILE;
  - "At `TEXT` in `FILE`": FILE must hold TEXT.
A table of the files that a thing touched (TOUCHED) must name all of them, and no more than it may.
The copy holds the changed files, and some that derive from lists in them. The compiler finds all others in the tree. Syntax and types are checked, no code
is generated. At last each anchor is taken away once, to see that its recipe then fails.
"""

import dataclasses
import itertools
import multiprocessing.pool
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = "docs/extending.md"
TEMPLATES = "tests/checks/recipes"
RECIPES = ["A pass", "A page", "An import", "An export", "A verb", "A record kind", "A source", "A hook", "A rule of advise"]
# They derive from lists that the recipes change.
DERIVED = ["inject/real_symbols.cc", "inject/settings.cc", "launcher/base/values.cc", "analysis/model/names.cc", "analysis/passes/recorder/skipped.cc",
           "analysis/read/track_columns.cc", "analysis/advice/rule_table.cc"]
# Section: what the files hold that the thing touched, and how many its table may name. The section names below the table what shows the thing.
# Three of the files give its rows a place on the timeline, which the page did by itself before.
TOUCHED = {"What a CUPTI kind touches": (re.compile(r"\bkHost(Launch|Function)\b|\bTakeHostLaunch\b|\bHostFunctionTable host_function\b"), 11)}
PRODUCT = ["proto", "tracer", "inject", "analysis", "launcher"]
FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
INJECT_FLAGS = ["-fno-exceptions", "-fno-rtti", "-D_GNU_SOURCE", "-include", "inject/libc_versions.h"]

DIFF = re.compile(r"^( *)```diff (\S+)\n(.*?)^ *```$", re.M | re.S)
NEW_FILE = re.compile(r"New file `([^`]+)`, template `([^`]+)`")
PLACE = re.compile(r"\b[Aa]t ((?:`[^`]+`(?:,? and at )?)+) in `([^`]+)`")


class Stale(Exception):
    """A step that cannot be done as it is written."""


@dataclasses.dataclass
class Diff:
    file: str
    lines: list  # of (sign, text)

    @property
    def anchor(self):
        return [text for sign, text in self.lines if sign != "+"]


@dataclasses.dataclass
class NewFile:
    file: str
    template: str


@dataclasses.dataclass
class Place:
    file: str
    text: str


class Tree:
    """The tree with the changes of the recipes. Nothing in the real tree changes."""

    def __init__(self):
        self.changed = {}

    def read(self, name):
        if name in self.changed:
            return self.changed[name]
        path = ROOT / name
        if not path.is_file():
            raise Stale(f"{name} does not exist")
        return path.read_text(encoding="utf-8")

    def write_to(self, folder):
        for name, text in self.changed.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def parse(text):
    """The recipes of the page: name to steps, in order."""
    recipes = {}
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        name, body = section.split("\n", 1)
        steps = [(match.start(), Diff(match.group(2), signed_lines(match.group(3)))) for match in DIFF.finditer(body)]
        # Prose is wrapped anywhere, also between a file's name and its template.
        prose = DIFF.sub(lambda match: " " * len(match.group()), body).replace("\n", " ")
        prose = re.sub(r" {2,}", lambda match: " " + "\0" * (len(match.group()) - 1), prose)
        compact, offsets = "", []
        for offset, char in enumerate(prose):
            if char != "\0":
                compact += char
                offsets.append(offset)
        steps += [(offsets[match.start()], NewFile(*match.groups())) for match in NEW_FILE.finditer(compact)]
        for match in PLACE.finditer(compact):
            steps += [(offsets[match.start()], Place(match.group(2), place)) for place in re.findall(r"`([^`]+)`", match.group(1))]
        if steps:
            recipes[name] = [step for _, step in sorted(steps, key=lambda entry: entry[0])]
    return recipes


def signed_lines(block):
    lines = textwrap.dedent(block).splitlines()
    # The context alone is indented by one: dedent() stops at the signs.
    return [(line[:1] if line[:1] in "+-" else " ", line[1:]) for line in lines]


def matches(line, wanted):
    line, wanted = " ".join(line.split()), " ".join(wanted.split())
    return line.startswith(wanted[:-1].rstrip()) if wanted.endswith("…") else line == wanted


def apply(tree, step):
    if isinstance(step, NewFile):
        if (ROOT / step.file).exists():
            raise Stale(f"{step.file} exists already")
        tree.changed[step.file] = tree.read(step.template)
        return
    text = tree.read(step.file)
    if isinstance(step, Place):
        if step.text not in text:
            raise Stale(f"{step.file} does not hold `{step.text}`")
        return
    lines, anchor = text.splitlines(), step.anchor
    if not anchor or all(sign != "+" for sign, _ in step.lines):
        raise Stale(f"{step.file}: a diff needs a line that is there and a line to add")
    found = [at for at in range(len(lines) - len(anchor) + 1) if all(map(matches, lines[at:], anchor))]
    if len(found) != 1:
        raise Stale(f"{step.file} has {len(found)} places like this one:\n    " + "\n    ".join(anchor))
    at, new = found[0], []
    for sign, line in step.lines:
        if sign == "+":
            new.append(line)
            continue
        if sign == " ":
            new.append(lines[at])
        at += 1
    tree.changed[step.file] = "\n".join(lines[:found[0]] + new + lines[at:]) + "\n"


def follow(recipes):
    tree = Tree()
    for name, steps in recipes.items():
        for step in steps:
            try:
                apply(tree, step)
            except Stale as stale:
                raise Stale(f"{PAGE}, \"{name}\": {stale}") from None
    return tree


def unnoticed(recipes):
    """Diffs and places that can be followed although what they name is gone."""
    for name, steps in recipes.items():
        for step in steps:
            if isinstance(step, NewFile):
                continue
            tree = Tree()
            gone = step.text if isinstance(step, Place) else None
            text = tree.read(step.file)
            kept = text.replace(gone, "") if gone else "\n".join(
                line for line in text.splitlines() if not matches(line, step.anchor[0]))
            tree.changed[step.file] = kept
            try:
                apply(tree, step)
                yield f"{PAGE}, \"{name}\": nobody notices when {step.file} loses its place"
            except Stale:
                pass


def untrue_tables(page):
    """What the tables of touched files leave out, or name for nothing."""
    for name, (pattern, most) in TOUCHED.items():
        section = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", page, re.M | re.S)
        if section is None:
            yield f"{PAGE} has no section \"{name}\""
            continue
        named = set(re.findall(r"`([\w./]+/[\w.]+\.(?:h|cc))`", section.group(1)))
        table = {file for line in section.group(1).splitlines() if line.startswith("|") for file in named if f"`{file}`" in line}
        touched = {path.relative_to(ROOT).as_posix() for folder in PRODUCT for path in (ROOT / folder).rglob("*")
                   if path.suffix in (".h", ".cc") and pattern.search(path.read_text(encoding="utf-8"))}
        yield from (f"{PAGE}, \"{name}\": {file} was touched, too" for file in sorted(touched - named))
        yield from (f"{PAGE}, \"{name}\": {file} was not touched" for file in sorted(table - touched))
        if len(table) > most:
            yield f"{PAGE}, \"{name}\": {len(table)} files, {most} are allowed"


def compile_all(tree, generated, compiler, protoc):
    """What the compiler says against the changed sources."""
    for name in DERIVED:
        tree.changed[name] = tree.read(name)
    with tempfile.TemporaryDirectory() as folder:
        tree.write_to(folder)
        protos = [name for name in tree.changed if name.endswith(".proto")]
        if protos:
            run = subprocess.run([*protoc, f"--proto_path={folder}", f"--proto_path={ROOT}", f"--cpp_out={folder}", *protos],
                                 capture_output=True, text=True, check=False)
            if run.returncode != 0:
                return [run.stderr]

        def syntax(name):
            flags = FLAGS + (INJECT_FLAGS if name.startswith("inject/") else [])
            run = subprocess.run([compiler, *flags, f"-I{folder}", f"-I{ROOT}", "-isystem", generated, f"{folder}/{name}"],
                                 cwd=ROOT, capture_output=True, text=True, check=False)
            errors = [line[:300] for line in run.stderr.splitlines() if "error:" in line]
            return "" if run.returncode == 0 else f"{name}, with what {PAGE} adds:\n  " + "\n  ".join(errors[:5] or [run.stderr[-500:]])

        def room(names):
            # The headers cost most: one file takes in all sources of a room. Names of two sources may clash, so each
            # source is compiled alone before it is reported.
            together = f"{names[0].split('/')[0]}/together.cc"
            (pathlib.Path(folder) / together).write_text("".join(f'#include "{name}"\n' for name in names), encoding="utf-8")
            return [fault for fault in map(syntax, names) if fault] if syntax(together) else []

        sources = sorted(name for name in tree.changed if name.endswith(".cc"))
        rooms = [list(names) for _, names in itertools.groupby(sources, lambda name: name.split("/")[0])]
        with multiprocessing.pool.ThreadPool(min(2, os.cpu_count() or 1)) as pool:
            return list(itertools.chain(*pool.map(room, rooms)))


def main():
    generated, compiler, *protoc = sys.argv[1:]
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    recipes = parse(page)
    failures = [f"{PAGE} has no recipe \"{name}\"" for name in RECIPES if not recipes.get(name)]
    templates = {step.template for steps in recipes.values() for step in steps if isinstance(step, NewFile)}
    failures += [f"{path.relative_to(ROOT)} is no recipe's template" for path in (ROOT / TEMPLATES).iterdir()
                 if path.relative_to(ROOT).as_posix() not in templates]
    failures += untrue_tables(page)
    try:
        tree = follow(recipes)
        failures += compile_all(tree, generated, compiler, protoc)
        failures += unnoticed(recipes)
    except Stale as stale:
        failures.append(str(stale))
    steps = sum(len(steps) for steps in recipes.values())
    print("\n".join(failures) or f"{len(recipes)} recipes, {steps} steps: all can be followed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
