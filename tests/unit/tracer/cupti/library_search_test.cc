// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Where a program's libcupti is looked for: the arithmetic of paths.

#include "tracer/cupti/library_search.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gpuprof::tracer::cupti {
namespace {

std::vector<std::string> Folders(const char* path, const char* origin, size_t room = 64) {
  std::vector<std::string> found;
  std::string folder(room, 0);
  while (NextOnPath(&path, origin, folder.data(), room)) found.emplace_back(folder.c_str());
  return found;
}

TEST(LibrarySearch, AProgramsOwnPath) {
  using Paths = std::vector<std::string>;
  EXPECT_EQ(Folders("/a/b", "/o"), Paths{"/a/b/"});
  EXPECT_EQ(Folders("$ORIGIN/../lib:${ORIGIN}:/x", "/o"), (Paths{"/o/../lib/", "/o/", "/x/"}));
  EXPECT_EQ(Folders("", "/o"), Paths{});
  EXPECT_EQ(Folders("::relative:$LIB/x:/y", "/o"), Paths{"/y/"}) << "of no fixed place";
  EXPECT_EQ(Folders("/much/longer/than/that:/y", "/o", 8), Paths{"/y/"});
  EXPECT_EQ(Folders("$ORIGIN/x:/y", "/much/longer", 8), Paths{"/y/"});
}

TEST(LibrarySearch, TheFolderOfPackages) {
  char folder[40];
  ASSERT_TRUE(CutBehind("/v/site-packages/torch/lib/a.so", "/site-packages/", folder, 40));
  EXPECT_STREQ(folder, "/v/site-packages/");
  EXPECT_FALSE(CutBehind("/usr/lib/a.so", "/site-packages/", folder, 40));
  EXPECT_FALSE(CutBehind("/v/site-packages/a.so", "/site-packages/", folder, 17));
}

}  // namespace
}  // namespace gpuprof::tracer::cupti
