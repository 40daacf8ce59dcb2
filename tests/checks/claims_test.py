# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""claims.py finds each kind of false sentence. Each test gives it a page with one.

    claims_test.py path/to/gpuprof"""

import sys
import unittest

import claims

GPUPROF = sys.argv.pop()
KNOWN, HELP = claims.known_of(GPUPROF), claims.run(GPUPROF, "help", "run")
PAGES = claims.Pages().texts


class FalseSentences(unittest.TestCase):
    def faults_with(self, name, before, after):
        """What the check says of the pages after one of them was changed."""
        self.assertIn(before, PAGES[name])
        texts = {**PAGES, name: PAGES[name].replace(before, after)}
        return list(claims.faults(claims.Pages(texts), KNOWN, HELP))

    def test_the_pages_as_they_are_have_no_fault(self):
        self.assertEqual(list(claims.faults(claims.Pages(), KNOWN, HELP)), [])

    def test_each_kind_is_found(self):
        for name, before, after, words in [
            ("docs/limits.md", "Up to 64 MiB (`--memory`)", "Up to 60 MiB (`--memory`)", "says 60 MiB"),
            ("docs/capturing.md", "for two seconds at most", "for one second at most", "nothing matches"),
            ("docs/gpu.md", "The range is 10 ms to", "The range is 20 ms to", "says 20 ms"),
            ("docs/report.md", "The page holds", "After 7 s a page closes. The page holds", "the figure '7 s' has no row"),
            ("README.md", "glibc 2.28 or newer", "glibc 2.17 or newer", "says 2.17"),
            ("docs/recording.md", "| `--ring-memory SIZE` | 32MiB |", "| `--ring-memory SIZE` | 16MiB |", "the default of --ring-memory is '32MiB'"),
            ("docs/recording.md", "16 options are limited", "15 options are limited", "there are 16"),
            ("SECURITY.md", "`test_hostile_content`", "`test_friendly_content`", "there is no test test_friendly_content"),
            ("docs/limits.md", "`unshare`, `bwrap`", "`unshare`, `python3`, `bwrap`", "python3 is not left out by default"),
            ("docs/gpu.md", "`gpuprof stats health` names", "`gpuprof stats wealth` names", "there is no pass wealth"),
            ("SECURITY.md", "`gpuprof doctor`", "`gpuprof surgeon`", "there is no verb surgeon"),
            ("docs/advice.md", "(CP-001) and not exposed", "(CP-099) and not exposed", "there is no rule CP-099"),
            ("docs/advice.md", "| GP-011 | low use", "| GP-001 | low use", "there is a rule GP-001"),
            ("docs/cost.md", "8.35× (programs", "2.30× (programs", "does not name the worst ratio of all, 8.35×"),
            ("docs/cost.md", "6.53× (programs", "1.21× (programs", "does not name the worst ratio of the default recording, 6.53×"),
            ("docs/limits.md", "## PyTorch", "There is no viewer.\n\n## PyTorch", "'There is no viewer' says that something is missing"),
            ("docs/limits.md", "The GPU part has run", "Not tested yet. The GPU part has run", "says that something is missing"),
            ("docs/gpu.md", "This has not been measured yet.", "This is small.", "remove the row of claims_absent.py"),
        ]:
            with self.subTest(page=name, sentence=after):
                found = self.faults_with(name, before, after)
                self.assertTrue(any(name in fault and words in fault for fault in found), found)

    def test_a_number_of_rules_is_counted(self):
        found = self.faults_with("docs/advice.md", "## The rules", "gpuprof has 12 rules.\n\n## The rules")
        self.assertTrue(any("says '12 rules'" in fault for fault in found), found)
        self.assertEqual(self.faults_with("docs/advice.md", "## The rules", f"gpuprof has {len(KNOWN['rules'])} rules.\n\n## The rules"), [])

    def test_what_came_to_be_makes_an_absence_false(self):
        rows = claims.claims_absent.ABSENT
        try:
            claims.claims_absent.ABSENT = [("docs/gpu.md", "This has not been measured yet", claims.claims_absent.exists("docs/gpu.md"))]
            found = list(claims.absences(claims.Pages({"docs/gpu.md": PAGES["docs/gpu.md"]})))
        finally:
            claims.claims_absent.ABSENT = rows
        self.assertIn("docs/gpu.md: 'This has not been measured yet' is false: docs/gpu.md exists", found)


if __name__ == "__main__":
    unittest.main()
