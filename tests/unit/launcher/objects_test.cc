// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Objects: where they are looked for, and what LD_PRELOAD becomes.

#include "launcher/record/objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "proto/contract.h"

namespace gpuprof::launcher {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(Preload, OursIsInFrontOfOthers) {
  EXPECT_EQ(ComposePreload("/p/libgpuprof_inject.so", "", ""), "/p/libgpuprof_inject.so");
  EXPECT_EQ(ComposePreload("/p/libgpuprof_inject.so", "", "libjemalloc.so.2"),
            "/p/libgpuprof_inject.so:libjemalloc.so.2");
  EXPECT_EQ(ComposePreload("/p/i.so", "", "/a.so /b.so:/c.so"), "/p/i.so:/a.so:/b.so:/c.so");
}

TEST(Preload, ASanitizerIsInFrontOfOurs) {
  EXPECT_EQ(ComposePreload("/p/i.so", "libasan.so.8", "/a.so"), "libasan.so.8:/p/i.so:/a.so");
  EXPECT_EQ(ComposePreload("/p/i.so", "", "/a.so:/usr/lib/libasan.so.6"),
            "/usr/lib/libasan.so.6:/p/i.so:/a.so");
  EXPECT_EQ(ComposePreload("/p/i.so", "libasan.so.8", "libasan.so.8:/a.so"),
            "libasan.so.8:/p/i.so:/a.so");
}

TEST(Preload, NestedRunsCarryOneOfOurs) {
  const std::string once =
      ComposePreload("/new/libgpuprof_inject.so", "", "/old/libgpuprof_inject.so:/a.so");
  EXPECT_EQ(once, "/new/libgpuprof_inject.so:/a.so");
  EXPECT_TRUE(PreloadHasOurs(once));
  EXPECT_FALSE(PreloadHasOurs("/a.so /b.so"));
}

class Tree : public testing::Test {
 protected:
  Tree() : root_(fs::path(testing::TempDir()) / ("gpuprof-tree-" + std::to_string(getpid()))) {}
  ~Tree() override { fs::remove_all(root_); }
  void Touch(const std::string& path) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << "x";
  }
  fs::path root_;
};

TEST_F(Tree, WithoutProcTheCauseIsNamed) {
  EXPECT_THAT(FindObjectsFrom("", "", "").error, HasSubstr("mount /proc"));
  Touch("i.so");
  EXPECT_THAT(FindObjectsFrom("", root_ / "i.so", "").error, HasSubstr("mount /proc"));
  Touch("t.so");
  EXPECT_EQ(FindObjectsFrom("", root_ / "i.so", root_ / "t.so").error, "") << "both are named";
}

TEST_F(Tree, FoundInAnInstalledTreeWhereverItIs) {
  Touch("bin/gpuprof");
  Touch("lib/gpuprof/libgpuprof_inject.so");
  Touch("lib/gpuprof/libgpuprof_tracer.so");
  const Objects objects = FindObjectsFrom(root_ / "bin", "", "");
  EXPECT_EQ(objects.error, "");
  EXPECT_EQ(objects.inject, fs::canonical(root_ / "lib/gpuprof/libgpuprof_inject.so"));
  EXPECT_EQ(objects.tracer, fs::canonical(root_ / "lib/gpuprof/libgpuprof_tracer.so"));
}

TEST_F(Tree, FoundInTheBuildTreeAndByVariable) {
  Touch("launcher/gpuprof");
  Touch("inject/libgpuprof_inject.so");
  Touch("tracer/libgpuprof_tracer.so");
  Touch("mine.so");
  EXPECT_EQ(FindObjectsFrom(root_ / "launcher", "", "").error, "");
  EXPECT_EQ(FindObjectsFrom(root_ / "launcher", root_ / "mine.so", "").inject,
            fs::canonical(root_ / "mine.so"));
  EXPECT_THAT(FindObjectsFrom(root_ / "launcher", root_ / "none.so", "").error,
              HasSubstr("GPUPROF_INJECT names"));
}

TEST_F(Tree, MissingAndUnusableAreToldWithAFix) {
  Touch("bin/gpuprof");
  EXPECT_THAT(FindObjectsFrom(root_ / "bin", "", "").error,
              HasSubstr("install gpuprof as a whole"));
}

TEST_F(Tree, APathThatThePreloadCannotHoldGetsALink) {
  Touch("with space:colon/bin/gpuprof");
  Touch("with space:colon/lib/gpuprof/libgpuprof_inject.so");
  Touch("with space:colon/lib/gpuprof/libgpuprof_tracer.so");
  const Objects found = FindObjectsFrom(root_ / "with space:colon/bin", "", "");
  ASSERT_EQ(found.error, "");
  EXPECT_EQ(found.inject.find_first_of(" :"), std::string::npos) << found.inject;
  EXPECT_EQ(fs::canonical(found.inject),
            fs::canonical(root_ / "with space:colon/lib/gpuprof/libgpuprof_inject.so"));
  EXPECT_EQ(FindObjectsFrom(root_ / "with space:colon/bin", "", "").inject, found.inject);
  // Nobody else may change where the link leads.
  const fs::path link = fs::path(found.inject).parent_path();
  EXPECT_TRUE(fs::is_symlink(link));
  struct stat status;
  ASSERT_EQ(stat(link.parent_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 022, 0u);
  EXPECT_EQ(status.st_uid, geteuid());
  fs::remove(link);
}

TEST(RecorderVariables, HandsOverWhatIsNoDefault) {
  std::vector<Setting> settings;
  ASSERT_EQ(ResolveSettings({{"stacks", "7"}, {"signal", "USR2"}}, {{"GPUPROF_INJECT", "i.so"}}, {},
                            &settings),
            "");
  Objects objects;
  objects.tracer = "/t.so";
  objects.inject = "/i.so";
  const Variables variables = RecorderVariables(settings, "/b", objects);
  const Variables expected = {{"CUDA_INJECTION64_PATH", "/i.so"},
                              {"GPUPROF_BUNDLE", "/b"},
                              {"GPUPROF_SIGNAL", "12"},
                              {"GPUPROF_STACKS", "7"},
                              {"GPUPROF_TRACER", "/t.so"},
                              {"INTEL_LIBITTNOTIFY64", "/i.so"},
                              {"NCCL_PROFILER_PLUGIN", "STATIC_PLUGIN"},
                              {"NVTX_INJECTION64_PATH", "/i.so"}};
  EXPECT_EQ(variables, expected);
}

}  // namespace
}  // namespace gpuprof::launcher
