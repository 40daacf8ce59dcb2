# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Each rule of `advise` has a program on which it must fire, and one on which it must not.

The programs are in the unit tests of the analysis. This check reads which rules they expect and which they rule out. The rows of
rule_pairs_test.cc do both, and so do the tests of whole commands that are named here."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests/unit/analysis"
# Rule: the test with both of its programs.
COMMANDS = {"GP-017": "process/test_kernel_families.py"}


def expects(source, rule):
    return re.search(rf'(?<!Not\()Contains\("{rule}"\)|ElementsAre\([^)]*"{rule}"|Find(?:Rule)?\((?:[^;]|\n)*?"{rule}"\)(?!, nullptr)', source)


def rules_out(source, rule):
    return re.search(rf'Not\(Contains\("{rule}"\)\)|EXPECT_EQ\(Find(?:Rule)?\((?:[^;]|\n)*?"{rule}"\), nullptr\)', source)


def missing(rules, sources, pairs, commands):
    """Sentences about the rules that lack a program."""
    for rule in rules:
        if f'{{"{rule}",' in pairs or rule in commands:
            continue
        if not any(expects(source, rule) for source in sources):
            yield f"{rule}: no program on which it must fire"
        if not any(rules_out(source, rule) for source in sources):
            yield f"{rule}: no program on which it must not fire"


def main():
    rules = re.findall(r'^    \{"([A-Z]{2}-\d{3})",', (ROOT / "analysis/advice/rule_rows.h").read_text(), re.MULTILINE)
    assert len(rules) > 50, "the table of rules was not understood"
    sources = [path.read_text() for path in TESTS.rglob("*_test.cc")]
    for rule, test in COMMANDS.items():
        assert f'"{rule}"' in (ROOT / "tests" / test).read_text(), f"{test} does not try {rule}"
    assert list(missing(["XX-999"], sources, "", {})), "a rule without programs must be found"
    faults = list(missing(rules, sources, (TESTS / "advice/rule_pairs_test.cc").read_text(), COMMANDS))
    for fault in faults:
        print(f"{fault}; add a pair to tests/unit/analysis/advice/rule_pairs_test.cc", file=sys.stderr)
    print(f"{len(rules)} rules, each with a program on which it fires and one on which it does not" if not faults else f"{len(faults)} missing")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
