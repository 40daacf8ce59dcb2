// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What --python says, and which functions its patterns mean.

#include "tracer/python_calls/call_patterns.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "proto/python_option.h"

namespace gpuprof::tracer {
namespace {

bool Glob(std::string_view glob, std::string_view text) {
  return GlobMatches(glob.data(), glob.data() + glob.size(), text.data(),
                     text.data() + text.size());
}

bool Traced(const std::string& globs, std::string_view name,
            std::string_view file = "/home/me/lib/x.py") {
  return IsTraced(globs.c_str(), name.data(), static_cast<uint32_t>(name.size()), file.data(),
                  static_cast<uint32_t>(file.size()));
}

TEST(CallPatterns, Globs) {
  EXPECT_TRUE(Glob("*", ""));
  EXPECT_TRUE(Glob("a*c*e", "abcde"));
  EXPECT_TRUE(Glob("*b", "ab-ab"));
  EXPECT_TRUE(Glob("a?c", "abc"));
  EXPECT_TRUE(Glob("", ""));
  EXPECT_FALSE(Glob("", "a"));
  EXPECT_FALSE(Glob("a?c", "ac"));
  EXPECT_FALSE(Glob("a*c", "acb"));
  EXPECT_FALSE(Glob("abc", "ab"));
}

TEST(CallPatterns, ManyStarsTakeNoLongTime) {
  std::string glob;
  for (int i = 0; i < 100; ++i) glob += "*a";
  EXPECT_FALSE(Glob(glob + "b", std::string(900, 'a')));
}

TEST(CallPatterns, NamesAndFiles) {
  EXPECT_TRUE(Traced("mypkg.*", "mypkg.Net.forward"));
  EXPECT_FALSE(Traced("mypkg.*", "mypkg2.f"));
  EXPECT_FALSE(Traced("mypkg", "mypkg.f"));
  EXPECT_TRUE(Traced("other.*,*.f", "mypkg.f"));
  EXPECT_TRUE(Traced("x.py", "a.f"));
  EXPECT_TRUE(Traced("lib/x.py", "a.f"));
  EXPECT_TRUE(Traced("/home/*/x.py", "a.f"));
  EXPECT_FALSE(Traced("y.py", "a.f"));
  EXPECT_FALSE(Traced("ib/x.py", "a.f"));
  EXPECT_FALSE(Traced("", "a.f"));
}

struct Parsed {
  proto::PythonFault fault;
  bool has_gc;
  std::string globs, item;
  bool operator==(const Parsed&) const = default;
};

Parsed Parse(const char* text) {
  proto::PythonOption option;
  const char* from = nullptr;
  const char* to = nullptr;
  const proto::PythonFault fault = proto::ReadPythonOption(text, &option, &from, &to);
  if (fault == proto::PythonFault::kNone) from = to;
  return {fault, option.has_gc, option.globs, std::string(from, to)};
}

TEST(PythonOption, Grammar) {
  using F = proto::PythonFault;
  EXPECT_EQ(Parse("gc"), (Parsed{F::kNone, true, "", ""}));
  EXPECT_EQ(Parse("trace:a.*"), (Parsed{F::kNone, false, "a.*", ""}));
  EXPECT_EQ(Parse("trace:a.*,b.*,gc"), (Parsed{F::kNone, true, "a.*,b.*", ""}));
  EXPECT_EQ(Parse("gc,trace:a,trace:b"), (Parsed{F::kNone, true, "a,b", ""}));
  EXPECT_EQ(Parse("foo"), (Parsed{F::kUnknown, false, "", "foo"}));
  EXPECT_EQ(Parse("gc,foo"), (Parsed{F::kUnknown, true, "", "foo"}));
  EXPECT_EQ(Parse("trace"), (Parsed{F::kUnknown, false, "", "trace"}));
  EXPECT_EQ(Parse("").fault, F::kEmpty);
  EXPECT_EQ(Parse("trace:").fault, F::kEmpty);
  EXPECT_EQ(Parse("trace:a,").fault, F::kEmpty);
  EXPECT_EQ(Parse(("trace:" + std::string(510, 'a')).c_str()).fault, F::kNone);
  EXPECT_EQ(Parse(("trace:" + std::string(511, 'a')).c_str()).fault, F::kLong);
}

}  // namespace
}  // namespace gpuprof::tracer
