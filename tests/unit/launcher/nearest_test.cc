// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The nearest known name.

#include "launcher/base/nearest.h"

#include <gtest/gtest.h>

namespace gpuprof::launcher {
namespace {

TEST(Nearest, CountsEdits) {
  EXPECT_EQ(EditDistance("", ""), 0u);
  EXPECT_EQ(EditDistance("", "abc"), 3u);
  EXPECT_EQ(EditDistance("heap", "heap"), 0u);
  EXPECT_EQ(EditDistance("heap", "hepa"), 1u);  // neighbours swapped
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(EditDistance("steps", "stats"), EditDistance("stats", "steps"));
}

TEST(Nearest, SuggestsOnlyWhatWasMeant) {
  const std::vector<std::string> verbs = {"run", "ctl", "ps", "stats", "info", "verify"};
  EXPECT_EQ(Nearest("stat", verbs), "stats");
  EXPECT_EQ(Nearest("rnu", verbs), "run");
  EXPECT_EQ(Nearest("veri", verbs), "verify");  // a beginning of three letters or more
  EXPECT_EQ(Nearest("RUN", verbs), "run");
  EXPECT_EQ(Nearest("usr1", {"USR1", "USR2"}), "USR1");
  EXPECT_EQ(Nearest("frobnicate", verbs), "");
  EXPECT_EQ(Nearest("x", {}), "");
}

TEST(Nearest, PrefersTheCloser) {
  EXPECT_EQ(Nearest("heat", {"heaps", "heap"}), "heap");
  EXPECT_EQ(DidYouMean("hepa", {"heap"}), " Did you mean 'heap'?");
  EXPECT_EQ(DidYouMean("zzzz", {"heap"}), "");
}

}  // namespace
}  // namespace gpuprof::launcher
