# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Compares what the pages say with the program: figures, defaults, names, counts, and what is said to be missing.

    claims.py path/to/gpuprof

- A size or a time of the pages in OF_LIMITS is a limit or a default. It equals the constant in the source.
  A row of claims_figures.py says which constant. A figure without a row is a fault.
- Defaults in the tables of options are those of `gpuprof help`.
- Names of tests exist, and the verbs, passes, sources and rules that the pages name.
- A count of things ("Four options", "66 rules") is the number of these things.
- Names that are "left out by default" are in the program's list.
- The short answer of docs/cost.md names the worst figures of the page.
- A sentence that something is missing or not done has a row in claims_absent.py. The row says what makes it false.
"""

import functools
import pathlib
import re
import subprocess
import sys

import claims_absent
import claims_figures

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "docs/advice.md", "docs/analysing.md", "docs/capturing.md",
         "docs/cost.md", "docs/device-time.md", "docs/differences-from-hta.md", "docs/differences-from-xprof.md", "docs/extending.md",
         "docs/gpu.md", "docs/limits.md", "docs/recording.md", "docs/report.md"]
# Pages whose sizes and times are limits and defaults. Figures of the other pages were measured.
OF_LIMITS = ["SECURITY.md", "docs/capturing.md", "docs/gpu.md", "docs/limits.md", "docs/recording.md", "docs/report.md"]
FENCE = re.compile(r"^ *```.*?^ *```$", re.M | re.S)
FIGURE = re.compile(r"(?<![\w.,:+=\-])(?:\d[\d,.]*) ?(?:KiB|MiB|GiB|us|µs|ms|s|seconds?|minutes?|hours?)\b|\b(?:half a second|one second|two seconds|two minutes)\b")
WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}


class Pages:
    """The texts of the pages by their names. Tests of this check give it wrong ones."""

    def __init__(self, texts=None):
        self.texts = texts or {name: (ROOT / name).read_text(encoding="utf-8") for name in PAGES}

    def prose(self, name):
        """The text without its code blocks: lines keep their numbers."""
        return FENCE.sub(lambda match: "\n" * match.group().count("\n"), self.texts.get(name, ""))

    def items(self):
        return [(name, self.prose(name)) for name in self.texts]


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def figures(pages):
    covered = {name: set() for name in pages.texts}
    for name, words, file, constant in claims_figures.FIGURES:
        if name not in pages.texts:
            continue
        text = pages.prose(name)
        said = list(re.finditer(words, text))
        if not said:
            yield f"{name}: nothing matches /{words}/: mend the row of claims_figures.py"
        source = (ROOT / file).read_text(encoding="utf-8")
        found = re.search(constant, source)
        if found is None:
            yield f"{file}: nothing matches /{constant}/: mend the row of claims_figures.py"
            continue
        true = claims_figures.value_of(found[1])
        for match in said:
            covered[name] |= set(range(match.start(), match.end()))
            if claims_figures.value_of(match[1]) != true:
                yield f"{name}:{line_of(text, match.start())}: says {match[1]}, but {file} has {found[1]}"
    for name in OF_LIMITS:
        text = pages.prose(name) if name in pages.texts else ""
        for words in claims_figures.NO_CONSTANT.get(name, []):
            at = text.find(words)
            if at < 0:
                yield f"{name}: does not say '{words}': mend NO_CONSTANT of claims_figures.py"
            covered[name] |= set(range(at, at + len(words)))
        for match in FIGURE.finditer(text):
            if text[text.rfind("\n", 0, match.start()) + 1:].startswith(("| `--", "| `-")):
                continue  # defaults() looks at tables of options
            if not covered[name] & set(range(match.start(), match.end())):
                yield f"{name}:{line_of(text, match.start())}: the figure '{match[0]}' has no row in claims_figures.py"


def defaults(pages, run_help):
    """The tables of options against `--option VALUE [default]` of the help."""
    of_help = dict(re.findall(r"^ +(?:-\w,)?--([a-z-]+) [^\n\[]*\[([^\]\n]+)\]", re.sub(r"\n {20,}\[", " [", run_help), re.M))
    name = "docs/recording.md"
    text = pages.texts.get(name, "")
    for match in re.finditer(r"^\| (?:`-\w`, )?`--([a-z-]+)[^`]*` \| `?([^|`]*)`? \|", text, re.M):
        option, said = match[1], match[2].strip()
        if said in ("see above", "see below"):
            continue
        if said != of_help.get(option, ""):
            yield f"{name}:{line_of(text, match.start())}: the default of --{option} is '{of_help.get(option, '')}', not '{said}'"


@functools.cache
def defined_tests():
    """Functions and files of tests in Python, and the names that ctest has."""
    files = list((ROOT / "tests").rglob("test_*.py"))
    functions = {name for path in files for name in re.findall(r"^\s*def (test_\w+)", path.read_text(encoding="utf-8"), re.M)}
    of_cmake = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("CMakeLists.txt"))
    registered = {f"{path.parent.name}_{path.stem.removeprefix('test_')}" for path in files}
    return functions | {path.stem for path in files}, registered | set(re.findall(r"\bNAME (\w+)", of_cmake))


def names_of_tests(pages):
    defined, registered = defined_tests()
    for name, text in pages.items():
        if name == "docs/extending.md":
            continue  # its names do not exist yet
        for match in re.finditer(r"`(test_\w+)(?:\.py)?`", text):
            if match[1] not in defined:
                yield f"{name}:{line_of(text, match.start())}: there is no test {match[1]}"
        for match in re.finditer(r"`((?:process|viewer|fake_gpu|frameworks)_\w+)`", text):
            if match[1] not in registered:
                yield f"{name}:{line_of(text, match.start())}: there is no test {match[1]}"


def names(pages, known):
    """Verbs behind `gpuprof`, passes behind `stats`, ids of rules, sources of --trace."""
    for name, text in pages.items():
        if name == "docs/extending.md":
            continue
        for match in re.finditer(r"`gpuprof ([a-z]+)([^`]*)`", text):
            where = f"{name}:{line_of(text, match.start())}"
            if match[1] not in known["verbs"]:
                yield f"{where}: there is no verb {match[1]}"
            of_stats = re.match(r" ([a-z_]+)", match[2])
            if match[1] == "stats" and of_stats and of_stats[1] not in known["passes"]:
                yield f"{where}: there is no pass {of_stats[1]}"
        unknown = re.search(r"^## What no rule looks for\n(.*?)^Some rules", text, re.M | re.S)
        for match in re.finditer(r"\b([A-Z]{2}-\d{3})\b", text):
            is_unknown = unknown is not None and unknown.start(1) <= match.start() < unknown.end(1)
            if (match[1] in known["rules"]) == is_unknown:
                yield f"{name}:{line_of(text, match.start())}: {'there is a' if is_unknown else 'there is no'} rule {match[1]}"


def counts(pages, known):
    """Numbers of things. In words a number may be of some of them: "two rules"."""
    numbers = rf"\d+|{'|'.join(WORDS)}"
    things = {r"(\d+) verbs": "verbs", r"(\d+) passes": "passes", r"(\d+) rules": "rules", r"(\d+) sources": "sources",
              rf"({numbers}) options are limited in the file": "limited"}
    for name, text in pages.items():
        for words, key in things.items():
            for match in re.finditer(rf"\b{words}\b", text, re.I):
                said = WORDS.get(match[1].lower()) or int(match[1])
                if said != len(known[key]):
                    yield f"{name}:{line_of(text, match.start())}: says '{match[0]}', there are {len(known[key])}"


def left_out(pages):
    source = (ROOT / "proto/contract.h").read_text(encoding="utf-8")
    text_of_names = "".join(re.findall(r'"([^"]+)"', re.search(r"kExcludedPrograms\[\] =(.*?);", source, re.S)[1]))
    known = set(text_of_names.split("\\0"))
    for name, text in pages.items():
        for match in re.finditer(r"[^.|]*\bleft out by default", text):
            for program in re.findall(r"`([a-z0-9+.-]+)`", match[0]):
                if program not in known:
                    yield f"{name}:{line_of(text, match.start())}: {program} is not left out by default"


def ratios(row):
    """Medians of gpuprof's own cells: `1.38× [1.30, 1.46]`. A peer's name stands before its figure."""
    return [float(found) for cell in row.split("|")[1:] if not re.search(r"heaptrack|memray|torch\.profiler|LTTng|uftrace|CUPTI alone", row.split("|")[1] + cell)
            for found in re.findall(r"(\d+\.\d+)×", cell)]


def worst_figures(pages):
    """The short answer hides nothing: it has the largest ratio of the default, and the largest of all."""
    name = "docs/cost.md"
    text = pages.texts.get(name, "")
    begin = text.find("<!-- figures: begin -->")
    if begin < 0:
        return
    short, figures_text = text[:begin], text[begin:]
    tables = re.split(r"\n\n", figures_text)
    of_all, of_default = [], []
    for table in tables:
        rows = [row for row in table.splitlines() if row.startswith("|")]
        if len(rows) < 3:
            continue
        heads = [cell.strip() for cell in rows[0].split("|")[1:-1]]
        for row in rows[2:]:
            cells = [cell.strip() for cell in row.split("|")[1:-1]]
            of_all += ratios(row)
            if "of bare" in heads and cells[0].startswith("gpuprof"):
                value = float(cells[heads.index("of bare")])
                of_all.append(value)
                of_default += [value] if "default" in cells[0] else []
            if "default" in heads and (found := re.match(r"(\d+\.\d+)×", cells[heads.index("default")])):
                of_default.append(float(found[1]))
            if "default" in cells[0] and "gpuprof" in heads and (found := re.match(r"(\d+\.\d+)×", cells[heads.index("gpuprof")])):
                of_default.append(float(found[1]))
    for what, values in (("of all", of_all), ("of the default recording", of_default)):
        if not values:
            yield f"{name}: no ratio {what} was found"
        elif f"{max(values):.2f}×" not in short:
            yield f"{name}: the short answer does not name the worst ratio {what}, {max(values):.2f}×"


def absences(pages):
    rows = [(name, words) for name, words, _ in claims_absent.ABSENT]
    for name, words, is_false in claims_absent.ABSENT:
        if name not in pages.texts:
            continue
        if " ".join(words.split()) not in " ".join(pages.texts[name].split()):
            yield f"{name}: does not say '{words}': remove the row of claims_absent.py"
        elif reason := is_false(ROOT):
            yield f"{name}: '{words}' is false: {reason}"
    for name, text in pages.items():
        flat = " ".join(text.split())
        for match in claims_absent.WORDS.finditer(flat):
            sentence = flat[max(flat.rfind(". ", 0, match.start()), flat.rfind("| ", 0, match.start())) + 2:].split(". ")[0].split(" |")[0]
            if any(of == name and words in sentence for of, words in rows) or any(words in sentence for words in claims_absent.ALWAYS):
                continue
            yield f"{name}: '{sentence.strip()}' says that something is missing: claims_absent.py has no row of what would make it false"


def run(gpuprof, *words):
    return subprocess.run([gpuprof, *words], capture_output=True, text=True, check=True).stdout


def known_of(gpuprof):
    """What the program has."""
    sources = re.search(r"--trace SOURCES \[([^\]]*)\]", run(gpuprof, "help", "run"))[1].split(",")
    settings = (ROOT / "launcher/base/settings_file.cc").read_text(encoding="utf-8")
    return {
        "verbs": set(re.findall(r"^  ([a-z]+)  +\S", run(gpuprof, "help").split("Verbs:")[1], re.M)),
        "passes": set(re.search(r"^  ([a-z_|]+)$", run(gpuprof, "help", "stats"), re.M)[1].split("|")),
        "rules": set(re.findall(r"\b[A-Z]{2}-\d{3}\b", run(gpuprof, "advise", "--rules"))),
        "sources": set(sources) | {"launches", "um", "files"},
        "limited": set(re.findall(r'key == "([a-z-]+)" &&', settings)) | set(re.findall(r'\{"([a-z-]+)", "', settings)) |
        set(re.findall(r'"([a-z-]+)"', re.search(r"kKeysBelowHere\[\] = \{(.*?)\}", settings, re.S)[1])),
    }


def faults(pages, known, run_help):
    for check in (figures, names_of_tests, left_out, worst_figures, absences):
        yield from check(pages)
    yield from names(pages, known)
    yield from counts(pages, known)
    yield from defaults(pages, run_help)


def main():
    gpuprof = sys.argv[1]
    found = list(faults(Pages(), known_of(gpuprof), run(gpuprof, "help", "run")))
    print("\n".join(found) or "the pages say what the program does")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
