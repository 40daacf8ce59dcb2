// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Recorded commands as one line that can be pasted.

#include "analysis/model/command_line.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gpuprof::analysis {
namespace {

TEST(CommandLine, QuotesOnlyWhatAShellWouldChange) {
  EXPECT_EQ(CommandLine(std::vector<std::string>{"python3", "train.py", "--lr=0.1"}),
            "python3 train.py --lr=0.1");
  EXPECT_EQ(CommandLine(std::vector<std::string>{"sh", "", "a b", "it's", "$(rm)"}),
            "sh '' 'a b' 'it'\\''s' '$(rm)'");
  EXPECT_EQ(ShellWord("\xc3\xa9t\xc3\xa9"), "\xc3\xa9t\xc3\xa9");
}

// A program given with -c keeps to one line and cannot steer the terminal.
TEST(CommandLine, EscapesControlCharacters) {
  EXPECT_EQ(CommandLine(std::vector<std::string>{"python3", "-c", "import torch\nprint('x\\n')\t"}),
            "python3 -c $'import torch\\nprint(\\'x\\\\n\\')\\t'");
  EXPECT_EQ(ShellWord("\x1b[2J\x7f"), "$'\\033[2J\\177'");
  // U+009B is ESC [ in one; a byte 0x9B alone is to terminals that do not speak UTF-8.
  EXPECT_EQ(ShellWord("\xc2\x9b"
                      "2J"),
            "$'\\302\\2332J'");
  EXPECT_EQ(ShellWord("\x9b"
                      "2J caf\xc3\xa9"),
            "$'\\2332J caf\xc3\xa9'");
  // Nobody sees this letter, so a copied command would name another file.
  EXPECT_EQ(ShellWord("no\u00adpe"), "$'no\\302\\255pe'");
}

}  // namespace
}  // namespace gpuprof::analysis
