# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Runs the commands that README.md and docs/ show, so that a newcomer can.

    readme_commands.py path/to/gpuprof

- Every `$` line of README's console blocks runs as it is, in order, in an empty folder. The training alone is shortened.
- Every other `gpuprof` command, in code blocks and in backticks, is tried without its program: reading verbs read the
  bundle of the first step, and the options of `run` are given to `gpuprof env`, which refuses what `run` would refuse.
- Options in backticks exist, and their values are understood.
- The tables of options and passes are complete.
- The words of README's excerpt are still the command's words: headings, and the last column of tables.
- Each `make` target exists.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
RECIPES = ROOT / "docs/extending.md"  # its commands do not exist yet
BUNDLE = "run1"
RULES_OPTION = "--kernel-rules"
RULES_FILE = "families.txt"  # as docs/analysing.md shows it
# What a newcomer trains takes a minute; the commands that follow need a few steps.
TRAINING = "examples/pytorch_train/train.py"
SHORT = " --epochs 1 --steps 3 --batch-size 4"
READING = {"info", "verify", "dump", "recover"}
ACTIONS = {"start", "stop", "toggle", "snapshot", "status"}
OF_PROGRAMS = {"--program", "--memory-space", "--op", "--depth"}
NOT_OF_ENV = {"--quiet": 0, "--gpu-log": 1, "--upload": 1, "--upload-limit": 1}  # with how many values


# Options of `docker run`, which docs/containers.md names.
OF_OTHERS = {"user", "shm-size", "cap-add", "cap-drop", "security-opt", "privileged"}


def console_commands(text):
    blocks = re.findall(r"^```console\n(.*?)^```", text, re.M | re.S)
    return [line[2:].split("  #")[0] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def shown_commands(text):
    """Commands of gpuprof in sh blocks and in backticks."""
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```", text, re.M | re.S)
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S)
    lines += re.findall(r"`(gpuprof [^`]+)`", prose)
    for line in lines:
        if match := re.search(r"\bgpuprof [^)\"|>&]+", line.split(" #")[0]):
            yield match.group().strip()


def shown_options(text):
    """Options in backticks: `--trace heap=exact,locks`."""
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S)
    return re.findall(r"`(--[a-z][^`]*)`", prose)


def options_of_run(words):
    """The options in front of the program, those left out that `env` does not have."""
    options, skip = [], 0
    for at, word in enumerate(words):
        if skip:
            skip -= 1
        elif word == "--":
            break
        elif word.split("=")[0] in NOT_OF_ENV:
            skip = NOT_OF_ENV[word] if word in NOT_OF_ENV else 0
        elif word.startswith("-") or (options and at and "=" not in options[-1] and options[-1].startswith("-")):
            options.append(word)
        else:
            break
    return options


def trial(command):
    """The words to run in place of a shown command; None: nothing of it can be tried."""
    words = shlex.split(command)[1:]
    verb, rest = words[0], words[1:]
    if verb == "run":
        return ["env", *options_of_run(rest)]
    if verb == "stats":
        if not rest or rest[0].isupper():
            return None
        # A short run of PyTorch has no programs of XLA to choose from.
        rest = [word for at, word in enumerate(rest) if not {word, rest[at - 1]} & OF_PROGRAMS]
        values = {"--by", "--limit", "--pid", "--step-marker", "--under-range", "--width", "--window", "--steps", "--device", RULES_OPTION}
        options = [word for at, word in enumerate(rest[1:], 1) if word.startswith("--") or rest[at - 1] in values]
        # A folder that is there in place of the one that is shown.
        folders = [BUNDLE for at, word in enumerate(rest) if word == "--symfs"]
        return ["stats", rest[0], BUNDLE, *(["--symfs", *folders] if folders else []), *(word for word in options if word != "--symfs")]
    if verb in READING:
        return [verb, BUNDLE, *(word for word in rest if word.startswith("--"))]
    if verb == "diff" and "--baseline" in rest:
        return ["help", "diff"]  # no baseline is saved
    # What these find in a short run may be a failure by --fail-on.
    if verb in ("advise", "diff"):
        return [verb, *[BUNDLE] * (2 if verb == "diff" else 1), *(word for word in rest if word.startswith("--format"))]
    if verb == "baseline":
        return ["baseline", "save", "main", BUNDLE, "--replace", "--baseline-dir", "baselines"] if rest[0] == "save" else ["baseline", "list"]
    if verb == "export":
        return ["export", BUNDLE, "-o", "-"]
    if verb == "report":
        return ["report", BUNDLE, "-o", "-"]
    if verb == "try":
        return ["try", BUNDLE, "--list"]
    if verb in ("serve", "mcp", "inject", "install", "agent", "capture"):
        return ["help", verb]  # some would not end, others need a file, a place or a server
    if verb == "import":
        return ["import", str(ROOT / "tests/golden/kineto/h200_streams.json.gz"), "-o", "imported"]
    if verb in ("attach", "detach"):
        return ["help", verb]  # no process is to be found here; tests/process/test_attach.py
    if verb == "ctl":
        return ["help", "ctl"] if not rest or rest[0] in ACTIONS else ["ctl", *rest]
    if verb == "help":
        return ["help", *(["run"] if rest == ["VERB"] else rest)]
    return words


def lacks_page(run):
    """Whether gpuprof was built without Node.js: then `report` says so, and writes nothing."""
    return run.returncode == 2 and "was built without its page" in run.stderr


class Checker:
    def __init__(self, gpuprof, folder):
        self.gpuprof, self.folder, self.failures, self.tried = gpuprof, folder, [], []
        path = f"{gpuprof.parent}:{ROOT / '.deps/venv/bin'}:{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path}

    def run(self, command, **options):
        return subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True, errors="replace",
                              check=False, **options)

    def run_console(self, command):
        run = self.run(command + (SHORT if command.endswith(TRAINING) else ""), shell=True)
        print(f"[{run.returncode}] {command}: {len(run.stdout)} bytes")
        if run.returncode != 0 and not lacks_page(run):
            self.failures.append(f"README: `{command}` ended with {run.returncode}: {run.stderr.strip()[-500:]}")
        elif not (run.stdout + run.stderr).strip():
            self.failures.append(f"README: `{command}` printed nothing")

    def check_excerpt(self, text):
        """`text`: README. Its figures are another run's, so words alone are compared."""
        excerpt = next(block for kind, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S) if not kind)
        overview = self.run([self.gpuprof, "stats", "overview", BUNDLE, "--width", "110"]).stdout
        cells = [re.split(r" {2,}", line.rstrip())[-1] for line in excerpt.splitlines() if not line.startswith(" " * 5)]
        words = [cell for cell in cells if cell != "..." and re.fullmatch(r"[^\d(]+", cell)]
        for word in words:
            if not re.search(rf"(?:^|  ){re.escape(word)}$", overview, re.M):
                self.failures.append(f"README's excerpt says \"{word}\", gpuprof stats overview does not: record the excerpt again")
        if len(words) < 6:
            self.failures.append(f"README's excerpt has only the words {words}: the check would be empty")

    def try_shown(self, command, page):
        words = trial(command)
        if words is None or words in self.tried:
            return
        self.tried.append(words)
        run = self.run([self.gpuprof, *words])
        # A machine may lack what doctor looks for.
        if run.returncode != 0 and not (words[0] == "doctor" and run.returncode == 1) and not lacks_page(run):
            self.failures.append(f"{page}: `{command}`: gpuprof {shlex.join(words)} ended with {run.returncode}: {run.stderr.strip()[-300:]}")

    def options_of(self, verb):
        lines = re.findall(r"^ +-\S.*", self.run([self.gpuprof, "help", verb]).stdout, re.M)
        return set(re.findall(r"--([a-z-]+)", "\n".join(lines))) - {"help"}

    def check_options(self, options):
        of_run = self.options_of("run")
        known = of_run.union(*(self.options_of(verb) for verb in ("stats", "dump", "ctl", "attach", "env", "advise", "diff", "baseline", "report", "serve", "mcp", "try", "inject", "install", "agent", "capture", "query")))
        known |= OF_OTHERS
        for option, page in options.items():
            name = re.match(r"--([a-z-]+)", option).group(1)
            value = option[2 + len(name):].strip("= ")
            if name not in known:
                self.failures.append(f"{page}: no verb has the option --{name}")
            elif name in of_run and value and not re.search(r"\b[A-Z]+\b|…", value):
                self.try_shown(f"gpuprof run {option}", page)

    def compare(self, what, shown, real):
        for name in sorted(real - shown):
            self.failures.append(f"{what} lacks {name}")
        for name in sorted(shown - real):
            self.failures.append(f"{what} lists {name}, which does not exist")

    def check_tables(self):
        recording = (ROOT / "docs/recording.md").read_text(encoding="utf-8")
        self.compare("docs/recording.md, options of run", set(re.findall(r"^\| `(?:-o`, `)?--([a-z-]+)", recording, re.M)),
                     self.options_of("run"))
        analysing = (ROOT / "docs/analysing.md").read_text(encoding="utf-8")
        table = analysing.split("## Passes")[1].split("| option")[0]
        rows = dict(re.findall(r"^\| `([a-z_]+)` \|.*\|([^|]*)\|$", table, re.M))
        passes = re.search(r"^ +(overview\|[a-z_|]+)$", self.run([self.gpuprof, "help", "stats"]).stdout, re.M)
        self.compare("docs/analysing.md, passes", set(rows), set(passes.group(1).split("|") if passes else []))
        for name, keys in rows.items():
            for key in re.findall(r"`(\w+)`", keys):
                self.try_shown(f"gpuprof stats {name} {BUNDLE} --by {key}", "docs/analysing.md, keys of --by")


def main():
    gpuprof = pathlib.Path(sys.argv[1]).resolve()
    texts = {page: page.read_text(encoding="utf-8") for page in PAGES}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(ROOT / "examples", os.path.join(folder, "examples"))
        rules = re.search(r"^```\n(# a family, .*?)^```", texts[ROOT / "docs/analysing.md"], re.M | re.S).group(1)
        pathlib.Path(folder, RULES_FILE).write_text(rules, encoding="utf-8")
        checker = Checker(gpuprof, folder)
        for page, text in texts.items():
            for target in re.findall(r"(?:^|`)make ([\w-]+)", text, re.M):
                if not re.search(rf"^{target}:", makefile, re.M):
                    checker.failures.append(f"{page.name} names `make {target}`, the Makefile has no such target")
        console = console_commands(texts[ROOT / "README.md"])
        for command in console:
            checker.run_console(command)
        checker.check_excerpt(texts[ROOT / "README.md"])
        del texts[RECIPES]
        shown = {command: page.name for page, text in texts.items() for command in shown_commands(text)}
        for command, page in shown.items():
            checker.try_shown(command, page)
        options = {option: page.name for page, text in texts.items() for option in shown_options(text)}
        checker.check_options(options)
        checker.check_tables()
        if len(console) < 4 or len(shown) < 30:
            checker.failures.append(f"only {len(console)} and {len(shown)} commands were found: the check would be empty")
        print("\n".join(checker.failures) or f"{len(console)} commands run, {len(shown)} more and {len(options)} options are understood")
    return 1 if checker.failures else 0


if __name__ == "__main__":
    sys.exit(main())
