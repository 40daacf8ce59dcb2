# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Finds English that a newcomer has to read twice, in the docs, the public headers and the texts that users see.

Rules:
  long   a sentence has at most 25 words
  of     no sentence starts with "Of"
  where  no sentence starts with "Where": write "if" or "when"
  word   no word of WORDS: each has a plainer one
  verb   the comment of a function in a header starts with a verb: "Returns", "Waits until"

plain_english_offenders.txt counts the old offences of each file and rule. The counts may only fall: the check fails when a file
has more than its count, and when it has fewer until `plain_english.py --update` has lowered the count.
`plain_english.py --show [PATH...]` prints each offence.
"""

import argparse
import pathlib
import re
import sys

import prose

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = pathlib.Path(__file__).resolve().parent / "plain_english_offenders.txt"

DOCS = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**/*.md", "proto/FORMAT.md", "tests/gpu/README.md"]
HEADERS = ["analysis/analysis.h", "tracer/tracer.h", "proto/*.h", "proto/codec/*.h", "inject/*.h", "launcher/*.h", "analysis/**/*.h"]
SOURCES = [f"{room}/**/*{suffix}" for room in ("launcher", "inject", "tracer", "analysis") for suffix in (".cc", ".h")]
# Tables of CUDA's names and texts, scripts for shells, and XProf's own sentences, which its pages are compared by.
CODE_TABLES = {"analysis/base/cuda_errors.cc", "analysis/query/views.cc", "launcher/verbs/completions.cc", "analysis/xprof/input_analysis.cc"}

MOST_WORDS = 25

# What is found -> what to write.
WORDS = [
    (r"\btold\b(?! apart)|\btell(s|ing)?( nothing| little| more)? of\b", "reported"),
    (r"\blet(s|ting)? go\b", "discarded, released"),
    (r"\bfores(ee|ees|een|eeing|aw|ight)\b", "predicted"),
    (r"(?<!\bthere )\b(is|are|was|were|be) no (?!longer|more|less|fewer|later|earlier|greater|larger|smaller)", "is not a"),
    (r"\b(is|are|was|were|has|have) none\b(?! of)", "repeat the noun"),
    (r"\bbeside\b", "next to, alongside"),
    (r"\b(ours|theirs)\b", "name the owner: gpuprof's"),
    (r"\b(copies|copy|kernels?|memcpys?|memory),?( and| or)? sets?\b", "memset"),
    (r"\bwhat (it|they|one|he|she)\b", "name the thing"),
    (r"\bsuch\b(?! as)", "repeat the noun"),
    (r"\bnobody\b", "say who, or no process, no tool"),
    (r"\bof (it|which|whom)\b", "repeat the noun"),
    (r"\bbut for\b", "except"),
    (r"\bfor (its|their|a \w+'s|\w+s') sake\b", "for"),
    (r"\bof its own accord\b", "by itself"),
    (r"\bhere(of|in|with|upon)\b|\bthere(of|in|with|upon)\b|\bwhere(of|in|with|upon|by)\b|\bthereby\b", "say it in two sentences"),
]
WORDS = [(re.compile(pattern, re.I), plain) for pattern, plain in WORDS]

VERBS = {"is", "has", "does", "can", "may", "must", "call", "use"}
# Words in -s that begin a comment and are no verbs.
NOT_VERBS = {
    "this", "as", "its", "his", "always", "plus", "less", "unless", "perhaps", "was", "thus", "besides", "sometimes", "otherwise", "yes",
    "process", "address", "class", "access", "status", "pass", "bytes", "rows", "facts", "names", "nanoseconds", "seconds", "microseconds",
    "ticks", "words", "events", "kernels", "files", "lines", "numbers", "values", "those", "types", "processes", "threads", "columns",
    "blocks", "frames", "stacks", "texts", "times", "ranges", "modules", "rings", "copies", "figures", "results", "options", "others",
    "memsets", "devices", "streams", "settings", "losses", "tables", "strings", "statistics", "things", "kinds", "addresses", "symbols",
    "operations", "edges", "slots", "bits", "objects", "tools", "programs", "builders", "children",
}

ABBREVIATION = re.compile(r"(\b(e\.g|i\.e|vs|cf|approx|etc|resp|no|fig|incl)\.|\.\.\.)[)\"']*$", re.I)


def sentences(text):
    """Splits a paragraph at ends of sentences. Dots within file names and numbers are followed by no space."""
    found, start = [], 0
    for match in re.finditer(r"[.!?]+[)\"'”’\]]*\s+", text):
        part = text[start : match.end()].strip()
        following = text[match.end() : match.end() + 1]
        abbreviation = ABBREVIATION.search(part)
        # Of abbreviations only "etc." and "..." end a sentence, before a capital.
        if abbreviation and not (part.rstrip(")\"'").endswith(("etc.", "...")) and following.isupper()):
            continue
        found.append(part)
        start = match.end()
    found.append(text[start:].strip())
    return [part for part in found if part]


def count_words(sentence):
    """Code spans in a row count as one word; signs count as none."""
    sentence = re.sub(r"CODE((,|,? (and|or)|,? to) CODE)+", "CODE", sentence)
    return sum(1 for token in sentence.split() if re.search(r"[A-Za-z0-9]", token))


def check_text(text):
    """Yields (rule, what is wrong) for a paragraph."""
    for sentence in sentences(text):
        count = count_words(sentence)
        if count > MOST_WORDS:
            yield "long", f"{count} words: {sentence}"
        first = re.match(r"\W*(Of|Where)\b", sentence)
        if first and not sentence.endswith("?"):
            yield first.group(1).lower(), f'starts with "{first.group(1)}": {sentence}'
        for pattern, plain in WORDS:
            for match in pattern.finditer(sentence):
                yield "word", f'"{match.group()}" ({plain}): {sentence}'


def starts_with_verb(text):
    words = re.findall(r"[A-Za-z][A-Za-z'’-]*", text)
    first = words[0].lower() if words else ""
    if re.match(r"\W*(CODE|[A-Za-z]\w*(\(|['’]s\b))", text) or len(words) > 1 and words[1] in ("of", "which", "whose"):
        return False
    if first in VERBS:
        return True
    return len(first) > 3 and first.endswith("s") and not first.endswith("ss") and first not in NOT_VERBS or first.endswith("sses")


def check_verbs(source):
    for line, text in prose.function_comments(source):
        if not starts_with_verb(text):
            yield line, "verb", f"does not start with a verb: {text[:90]}"


def paths(patterns, root=ROOT):
    return sorted({path for pattern in patterns for path in root.glob(pattern) if path.is_file()})


def offences(root=ROOT):
    """All offences of a tree: (path, line, rule, message)."""
    found = []

    def add(path, texts):
        for line, text in texts:
            found.extend((path, line, rule, message) for rule, message in check_text(text))

    def read(path):
        return path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")

    for name, source in map(read, paths(DOCS, root)):
        add(name, prose.markdown(source))
    for name, source in map(read, paths(HEADERS, root)):
        add(name, prose.comments(source))
        found.extend((name, *offence) for offence in check_verbs(source))
    for name, source in map(read, paths(SOURCES, root)):
        if name not in CODE_TABLES:
            add(name, prose.messages(source))
    return sorted(found)


def count(found):
    counts = {}
    for path, _, rule, _ in found:
        counts[path, rule] = counts.get((path, rule), 0) + 1
    return counts


def parse_list(text):
    """The list's first run, and its counts."""
    first_run, counts = None, {}
    for line in text.splitlines():
        mark = re.match(r"# first run: (\d+)", line)
        if mark:
            first_run = int(mark.group(1))
        elif line.strip() and not line.startswith("#"):
            path, rule, number = line.split()
            counts[path, rule] = int(number)
    return first_run, counts


def format_list(first_run, counts):
    head = [
        "# SPDX-FileCopyrightText: gpuprof contributors",
        "# SPDX-License-Identifier: Apache-2.0",
        "#",
        "# Old offences against plain_english.py, per file and rule. The numbers may only fall (plain_english.py --update).",
        f"# first run: {first_run}",
        f"# now: {sum(counts.values())}",
    ]
    return "\n".join(head + [f"{path} {rule} {number}" for (path, rule), number in sorted(counts.items())]) + "\n"


def lowered(allowed, counts):
    """The list after --update: each number is the lower one of the list's and the tree's, and zeros are left out."""
    lower = {key: min(number, counts.get(key, 0)) for key, number in allowed.items()}
    return {key: number for key, number in lower.items() if number}


def complaints(allowed, found):
    counts, lines = count(found), []
    for path, rule in sorted(set(counts) | set(allowed)):
        now, most = counts.get((path, rule), 0), allowed.get((path, rule), 0)
        if now > most:
            lines.append(f"{path}: {now} offences against the rule `{rule}`, {most} in the list; they are:")
            lines += [f"  {path}:{line}: {text}" for where, line, kind, text in found if (where, kind) == (path, rule)]
        elif now < most:
            lines.append(f"{path}: {now} offences against the rule `{rule}`, {most} in the list: run tests/checks/plain_english.py --update")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="lower the numbers of the list to what is left; never raises one")
    parser.add_argument("--first-run", action="store_true", help="make the list, if there is no list yet")
    parser.add_argument("--show", nargs="*", metavar="PATH", help="print each offence, of files whose path starts with PATH")
    arguments = parser.parse_args()
    found = offences()
    if arguments.show is not None:
        chosen = tuple(arguments.show) or ("",)
        for path, line, rule, message in found:
            if path.startswith(chosen):
                print(f"{path}:{line}: [{rule}] {message}")
        return 0
    if arguments.first_run and not LIST.exists():
        LIST.write_text(format_list(len(found), count(found)), encoding="utf-8")
    first_run, allowed = parse_list(LIST.read_text(encoding="utf-8"))
    if arguments.update:
        allowed = lowered(allowed, count(found))
        LIST.write_text(format_list(first_run, allowed), encoding="utf-8")
    lines = complaints(allowed, found)
    print("\n".join(lines) or f"{len(found)} old offences against plain English are left, of {first_run} in the first run")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
