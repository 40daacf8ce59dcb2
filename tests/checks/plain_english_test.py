# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Tests of plain_english.py and prose.py: each rule finds its offences and no others, and the list only shrinks."""

import pathlib
import tempfile
import unittest

import plain_english
import prose


def rules(text):
    return [rule for rule, _ in plain_english.check_text(text)]


def offences_of(files):
    """Returns (path, line, rule) for a tree that holds `files`."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return [(path, line, rule) for path, line, rule, _ in plain_english.offences(root)]


class Sentences(unittest.TestCase):
    def test_a_sentence_of_25_words_passes_and_one_of_26_does_not(self):
        self.assertEqual(rules("word " * 24 + "end."), [])
        self.assertEqual(rules("word " * 25 + "end."), ["long"])

    def test_two_short_sentences_are_not_a_long_one(self):
        self.assertEqual(rules("word " * 20 + "end. " + "word " * 20 + "end."), [])

    def test_abbreviations_numbers_and_file_names_do_not_end_a_sentence(self):
        text = "See e.g. the file trace.proto of version 1.6 (i.e. the newest)."
        self.assertEqual(plain_english.sentences(text), [text])
        self.assertEqual(len(plain_english.sentences("Kernels, copies, etc. Then the rest...  And more.")), 3)

    def test_code_spans_in_a_row_count_as_one_word(self):
        self.assertEqual(plain_english.count_words(prose.inline("Use `a b`, `c`, `d` or `e` for it – now.")), 5)


class Rules(unittest.TestCase):
    def test_openings(self):
        self.assertEqual(rules("Of each kind only the first."), ["of"])
        self.assertEqual(rules("It works. Where a file is missing it is made."), ["where"])
        self.assertEqual(rules("Where is the file? Often in the bundle, where it belongs."), [])

    def test_each_banned_word_is_found(self):
        for text in (
            "losses are told", "it tells nothing of them", "it lets go", "a foreseen value", "this is no file", "there is none",
            "Beside the program", "one of ours", "copies and sets", "what it does", "Such a file", "nobody knows", "part of it",
            "all but for one", "for its sake", "of its own accord", "thereby",
        ):  # fmt: skip
            self.assertEqual(rules(text), ["word"], text)

    def test_similar_words_are_left_alone(self):
        for text in (
            "two names can be told apart", "There is no file", "it is no longer there", "none of the files", "besides this",
            "hours", "it sets the flag", "units such as KiB", "what the file holds", "most of them",
        ):  # fmt: skip
            self.assertEqual(rules(text), [], text)

    def test_a_function_comment_starts_with_a_verb(self):
        for text in ("Returns the size.", "Waits until it ends.", "Is true for kernels.", "Passes it on."):
            self.assertTrue(plain_english.starts_with_verb(text), text)
        for text in ("The size.", "Of a thread, its size.", "Whether it ended.", "Rows of a table.", "This ends it.", "CUPTI's size.", ""):
            self.assertFalse(plain_english.starts_with_verb(text), text)


class Places(unittest.TestCase):
    def test_markdown(self):
        text = "# Such a title\n\nA paragraph.\nOf two lines, `such code`.\n\n```\nsuch a block\n```\n\n| such | `such` |\n| --- | --- |\n"
        expected = [("README.md", 1, "word"), ("README.md", 3, "of"), ("README.md", 10, "word"), ("docs/limits.md", 1, "word")]
        self.assertEqual(offences_of({"README.md": text, "docs/limits.md": "No such limit.", "notes.md": "No such limit."}), expected)

    def test_comments_of_public_headers(self):
        source = """\
// SPDX-License-Identifier: Apache-2.0

// Knows a size.
#pragma once
class Size {
 public:
  int bytes;  // nobody
              // knows

  // The bytes.
  int Bytes(int of) const;
  // The bytes.
  int size = Default(1);
  // Of so many bytes.
  Size(int bytes) {
    // The caller's.
    Set(bytes);
  }
};
"""
        header = [("inject/size.h", 7, "word"), ("inject/size.h", 10, "verb"), ("inject/size.h", 14, "of"), ("inject/size.h", 14, "verb")]
        self.assertEqual(offences_of({"inject/size.h": source}), header)
        self.assertEqual(offences_of({"inject/hooks/size.h": source, "inject/size.cc": source}), [])

    def test_texts_for_users(self):
        source = """\
#include "nobody knows this"
static_assert(kOne == 1, "nobody knows this");
void F() {
  Say("a file that is " + name + "no "
      "such file");  // nobody
  Say(R"(nobody can read this)", 'n', "--such", "such X", "nobody");
  Say("one two three four five six seven eight nine ten eleven twelve " + Count(n, "row") +
      " one two three four five six seven eight nine ten eleven twelve thirteen");
}
"""
        messages = [("launcher/say.cc", 4, "word"), ("launcher/say.cc", 6, "word"), ("launcher/say.cc", 7, "long")]
        self.assertEqual(offences_of({"launcher/say.cc": source}), messages)
        self.assertEqual(offences_of({"tests/say.cc": source}), [])

    def test_texts_are_joined_with_the_values_between_them(self):
        self.assertEqual(prose.literals('Say(path + ": has " + Count(n, "row") + " in" " it", a ? "yes" : "no");'),
                         [(1, "row"), (1, "X: has X in it"), (1, "yes"), (1, "no")])  # fmt: skip


class Ratchet(unittest.TestCase):
    ALLOWED = {("a.h", "long"): 2, ("b.md", "word"): 1}
    FOUND = [("a.h", 3, "long", "x"), ("a.h", 9, "long", "y"), ("b.md", 1, "word", "z")]

    def test_as_many_as_in_the_list_pass(self):
        self.assertEqual(plain_english.complaints(self.ALLOWED, self.FOUND), [])

    def test_one_more_fails_also_in_a_file_that_is_not_in_the_list(self):
        for extra in (("a.h", 1, "long", "new"), ("a.h", 1, "word", "new"), ("c.h", 1, "long", "new")):
            self.assertIn("new", "\n".join(plain_english.complaints(self.ALLOWED, [*self.FOUND, extra])))

    def test_one_fewer_fails_until_the_list_is_updated(self):
        fewer = self.FOUND[1:]
        self.assertIn("--update", "\n".join(plain_english.complaints(self.ALLOWED, fewer)))
        lowered = plain_english.lowered(self.ALLOWED, plain_english.count(fewer))
        self.assertEqual(plain_english.complaints(lowered, fewer), [])

    def test_an_update_never_raises_a_number(self):
        more = [*self.FOUND, ("a.h", 1, "long", "new"), ("c.h", 1, "long", "new")]
        self.assertEqual(plain_english.lowered(self.ALLOWED, plain_english.count(more)), self.ALLOWED)

    def test_the_list_survives_being_written_and_read(self):
        self.assertEqual(plain_english.parse_list(plain_english.format_list(7, self.ALLOWED)), (7, self.ALLOWED))


if __name__ == "__main__":
    unittest.main()
