// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text: numbers, quoting.

#include "launcher/text.h"

#include <gtest/gtest.h>

namespace gpuprof::launcher {
namespace {

TEST(Text, Numbers) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1000), "1,000");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
  EXPECT_EQ(Plural(1, "event", "events"), "1 event");
  EXPECT_EQ(Plural(0, "event", "events"), "0 events");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
  EXPECT_EQ(FormatBytes(uint64_t{3} << 30), "3.0 GiB");
  EXPECT_EQ(FormatSeconds(1.234), "1.23 s");
  EXPECT_EQ(FormatSeconds(125), "2 min 05 s");
  EXPECT_EQ(FormatSeconds(3725), "1 h 02 min");
}

TEST(Text, QuotesForTheShell) {
  EXPECT_EQ(ShellQuote("gpuprof-train.py-1"), "gpuprof-train.py-1");
  EXPECT_EQ(ShellQuote(""), "''");
  EXPECT_EQ(ShellQuote("a b"), "'a b'");
  EXPECT_EQ(ShellQuote("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellQuote("$(rm)"), "'$(rm)'");
}

}  // namespace
}  // namespace gpuprof::launcher
