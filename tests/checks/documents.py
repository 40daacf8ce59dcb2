# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What the pages promise to a reader: links lead somewhere, files exist, lines and the README stay short.

Links and their anchors are checked in every page. Names of files in backticks, and the length of lines, are checked in
README.md, ARCHITECTURE.md, CONTRIBUTING.md and docs/.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_COLUMNS = 120
MOST_README_LINES = 150
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^ *```.*?^ *```$", re.M | re.S)
# A name that is only an example: options, placeholders and what a recipe adds.
NOT_A_PATH = re.compile(r"[<>…{} ]|\b[A-Z]{3,}\b")


def tracked(pattern):
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", pattern], cwd=ROOT, capture_output=True,
                           check=True).stdout.decode().split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def without_code(text):
    """The text with its code blocks emptied: lines keep their numbers."""
    return FENCE.sub(lambda match: "\n" * match.group().count("\n"), text)


def anchors(path):
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ +(.*)$", without_code(path.read_text(encoding="utf-8")), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(path, text):
    for match in LINK.finditer(without_code(text)):
        target = match.group(1)
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        page = (path.parent / name).resolve() if name else path
        if not page.exists():
            yield f"the link {target} leads nowhere"
        elif anchor and anchor not in anchors(page):
            yield f"the link {target} names no heading of {page.name}"


def missing_files(text, new_files):
    rooms = "|".join(sorted(path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith((".", "build"))))
    for name in re.findall(rf"`((?:{rooms})/[^`]*)`", without_code(text)):
        name = name.split(":")[0]
        if NOT_A_PATH.search(name) or name in new_files:
            continue
        if not any(ROOT.glob(name)):
            yield f"`{name}` does not exist"


def main():
    found = []
    pages = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]
    for path in sorted({*tracked("*.md"), *pages}):
        text = path.read_text(encoding="utf-8")
        faults = list(broken_links(path, text))
        if path in pages:
            faults += missing_files(text, set(re.findall(r"New file `([^`]+)`", text)))
            faults += [f"line {number} has {len(line)} columns, {MOST_COLUMNS} allowed"
                       for number, line in enumerate(text.splitlines(), 1) if len(line) > MOST_COLUMNS]
        if path.name == "README.md" and path.parent == ROOT and len(text.splitlines()) > MOST_README_LINES:
            faults.append(f"{len(text.splitlines())} lines, {MOST_README_LINES} allowed: move parts to docs/")
        found += [f"{path.relative_to(ROOT)}: {fault}" for fault in faults]
    print("\n".join(found) or "the pages are in order")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
