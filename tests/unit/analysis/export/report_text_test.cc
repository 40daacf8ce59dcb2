// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a report writes into HTML: base64, attributes, JSON inside a script element.

#include "analysis/export/report_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace gpuprof::analysis {
namespace {

// The vectors of RFC 4648.
TEST(ReportText, Base64HasThePaddingOfEveryLength) {
  const char* const pairs[][2] = {{"", ""},
                                  {"f", "Zg=="},
                                  {"fo", "Zm8="},
                                  {"foo", "Zm9v"},
                                  {"foob", "Zm9vYg=="},
                                  {"fooba", "Zm9vYmE="},
                                  {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : pairs) {
    EXPECT_EQ(Base64(bytes), text);
    EXPECT_EQ(Base64Length(std::string_view(bytes).size()), std::string_view(text).size());
  }
  EXPECT_EQ(Base64("\xff\xfe\xfd"), "//79");
}

TEST(ReportText, APieceOfWholeThreesContinues) {
  EXPECT_EQ(Base64("abc") + Base64("de"), Base64("abcde"));
}

TEST(ReportText, NoNameEndsAnAttribute) {
  EXPECT_EQ(AttributeText("\"><script>&"), "&quot;&gt;&lt;script&gt;&amp;");
}

TEST(ReportText, NoNameEndsAScript) {
  const std::string name = "</script><!--<script>&amp;\u2028";
  const std::string json = nlohmann::json({{"title", name}}).dump();
  const std::string safe = ScriptJson(json);
  EXPECT_EQ(safe.find_first_of("<>&"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(safe)["title"], name);
}

}  // namespace
}  // namespace gpuprof::analysis
