// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text: numbers, quoting.

#include "launcher/base/text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "launcher/base/json_text.h"

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
  EXPECT_EQ(FormatBytes(1536), "1.50 KiB");
  EXPECT_EQ(FormatBytes(uint64_t{3} << 30), "3.00 GiB");
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

TEST(Text, MessagesAreNoCommandsToATerminal) {
  testing::internal::CaptureStderr();
  Say("/tmp/b\x1b[2J\xc2\x9b"
      "K: caf\xe9\nforged");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "gpuprof: /tmp/b\\x1b[2J\\u009bK: caf\xef\xbf\xbd\\nforged\n");
}

TEST(JsonText, TakesAnyBytes) {
  const std::string text = JsonText({{"path", "/tmp/b\xe9"}, {"name", "\x1b\x7f\xc2\x9b"}});
  EXPECT_EQ(text,
            "{\n  \"path\": \"/tmp/b\xef\xbf\xbd\",\n  \"name\": "
            "\"\\u001b\\u007f\\u009b\"\n}\n");
}

}  // namespace
}  // namespace gpuprof::launcher
