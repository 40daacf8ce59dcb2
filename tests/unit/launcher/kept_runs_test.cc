// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "launcher/agent/kept_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace gpuprof::launcher {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(KeptRuns, LimitsAreNumbersOrSizes) {
  KeepLimit limit;
  EXPECT_EQ(ParseKeepLimit("20", &limit), "");
  EXPECT_EQ(limit.runs, 20u);
  EXPECT_EQ(limit.bytes, 0u);
  EXPECT_EQ(ParseKeepLimit("2KiB", &limit), "");
  EXPECT_EQ(limit.runs, 0u);
  EXPECT_EQ(limit.bytes, 2048u);
  for (const char* wrong : {"0", "0GiB", "-1", "ten", "", "99999999999999999999"})
    EXPECT_THAT(ParseKeepLimit(wrong, &limit), Not("")) << wrong;
  EXPECT_THAT(ParseKeepLimit("ten", &limit), HasSubstr("such as 10GiB"));
}

class KeptRunsInFolder : public testing::Test {
 protected:
  KeptRunsInFolder() : folder_(fs::temp_directory_path() / ("runs" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~KeptRunsInFolder() override { fs::remove_all(folder_); }

  void Write(const std::string& path, size_t bytes = 1) const {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << std::string(bytes, 'x');
  }
  std::vector<std::string> Names(const std::string& path = "") const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_ / path))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  void Add(KeptRuns* kept, const std::string& name, size_t bytes = 1) const {
    Write(name + "/node7.xplane.pb", bytes);
    kept->Add(folder_, name);
  }

  fs::path folder_;
};

TEST_F(KeptRunsInFolder, TheNewestStay) {
  KeptRuns kept({.runs = 2, .bytes = 0}, "node7.");
  Write("foreign/node7.xplane.pb");
  for (const char* name : {"c", "b", "a", "d"}) Add(&kept, name);
  EXPECT_THAT(Names(), ElementsAre("a", "d", "foreign"));
}

TEST_F(KeptRunsInFolder, AsManyStayAsFit) {
  KeptRuns kept({.runs = 0, .bytes = 1000}, "node7.");
  Add(&kept, "a", 600);
  Add(&kept, "b", 400);
  EXPECT_THAT(Names(), ElementsAre("a", "b"));
  Add(&kept, "c", 1);
  EXPECT_THAT(Names(), ElementsAre("b", "c"));
  Add(&kept, "d", 5000);
  EXPECT_THAT(Names(), ElementsAre("d")) << "the newest, whatever its size";
}

TEST_F(KeptRunsInFolder, WithoutALimitAllStay) {
  KeptRuns kept({}, "node7.");
  for (const char* name : {"a", "b", "c"}) Add(&kept, name);
  EXPECT_THAT(Names(), ElementsAre("a", "b", "c"));
}

TEST_F(KeptRunsInFolder, WhatXProfComputedGoesAndWhatOthersPutThereStays) {
  KeptRuns kept({.runs = 1, .bytes = 0}, "node7.");
  Add(&kept, "a");
  Write("a/ALL_HOSTS.op_stats.pb");
  Write("a/cache_version.txt");
  Add(&kept, "b");
  EXPECT_THAT(Names(), ElementsAre("b"));
  Write("b/node8.xplane.pb");
  Add(&kept, "c");
  EXPECT_THAT(Names("b"), ElementsAre("node8.xplane.pb"));
}

TEST_F(KeptRunsInFolder, LinksAreNotFollowed) {
  KeptRuns kept({.runs = 1, .bytes = 0}, "node7.");
  Write("elsewhere/node7.xplane.pb");
  Write("elsewhere/victim");
  Add(&kept, "a");
  fs::remove_all(folder_ / "a");
  fs::create_directory_symlink(folder_ / "elsewhere", folder_ / "a");
  Add(&kept, "b");
  fs::create_symlink(folder_ / "elsewhere/victim", folder_ / "b/node7.link");
  Add(&kept, "c");
  EXPECT_THAT(Names(), ElementsAre("a", "c", "elsewhere"));
  EXPECT_THAT(Names("elsewhere"), ElementsAre("node7.xplane.pb", "victim"));
}

}  // namespace
}  // namespace gpuprof::launcher
