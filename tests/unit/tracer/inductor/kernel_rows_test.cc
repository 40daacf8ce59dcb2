// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Files that were handed over become rows, and what is no such file is counted.

#include "tracer/inductor/kernel_rows.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

namespace gpuprof::tracer::inductor {
namespace {

constexpr uint64_t kNow = 5000;

class Sink : public cupti::BlockSink {
 public:
  bool WriteTableBlock(proto::ChunkKind, int, const std::vector<uint8_t>&, uint32_t) override {
    return true;
  }
  void WriteStringsBlock() override { ++strings; }
  void WriteRowBlock(codec::ChunkBuilder* rows) override {
    blocks.emplace_back(rows->kind(), rows->track(), rows->count());
    EXPECT_GT(strings, 0);
    std::vector<uint8_t> bytes;
    rows->Finish(1, &bytes);
  }
  void LoseRowBlock(codec::ChunkBuilder*) override {}

  int strings = 0;
  std::vector<std::tuple<proto::ChunkKind, uint32_t, uint32_t>> blocks;
};

class Tracks : public jax::TrackSource {
 public:
  uint32_t TrackOf(uint32_t tid, uint64_t) override { return tid + 1000; }
  void WriteTracks() override {}
};

class KernelRowsTest : public testing::Test {
 protected:
  KernelRowsTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("gpuprof-kernels-" + std::to_string(getpid()))),
        strings_(16, 1 << 16, 1 << 20),
        rows_(&strings_) {
    std::filesystem::create_directory(folder_);
  }
  ~KernelRowsTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  void Put(const std::string& path) {
    constexpr std::string_view kStack = "  File \"/src/model.py\", line 7, in forward\n    y = x\n";
    GeneratedModule* const module = GeneratedModule::Make(path, 1, kStack.size());
    ASSERT_NE(module, nullptr);
    module->Add(1, kStack);
    module->Add(2, "no room is left for this");
    module->tid = 77;
    WaitingModules().HandOver(module);
  }
  void PutFile(const std::string& name) {
    std::ofstream(Path(name)) << "k_0 = async_compile.triton('k_0', '''\n''')\n    k_0.run(x)\n";
    Put(Path(name));
  }
  void Pass(bool keeps = false) { rows_.Pass(kNow, 0, keeps, &tracks_, &sink_); }

  std::filesystem::path folder_;
  codec::InternTables strings_;
  KernelRows rows_;
  Tracks tracks_;
  Sink sink_;
};

TEST_F(KernelRowsTest, AKernelIsARowForEachThingThatIsKnown) {
  PutFile("a.py");
  Pass();
  ASSERT_EQ(sink_.blocks.size(), 1u);
  // The kernel, its file, a place, the function and the code.
  EXPECT_EQ(sink_.blocks[0], std::make_tuple(proto::ChunkKind::kOpValue, 1077u, 5u));
  EXPECT_EQ(rows_.files_lost(), 0u);
  Pass();
  EXPECT_EQ(sink_.blocks.size(), 1u);
  rows_.WriteAgain(kNow, 0, &tracks_, &sink_);
  EXPECT_EQ(sink_.blocks.size(), 1u);  // nothing was kept
}

TEST_F(KernelRowsTest, AFlightRecorderWritesAllAgain) {
  PutFile("a.py");
  Pass(/*keeps=*/true);
  PutFile("b.py");
  Pass(/*keeps=*/true);
  rows_.WriteAgain(kNow, 0, &tracks_, &sink_);
  ASSERT_EQ(sink_.blocks.size(), 3u);
  EXPECT_EQ(std::get<2>(sink_.blocks[1]), 5u);
  EXPECT_EQ(std::get<2>(sink_.blocks[2]), 10u);
}

TEST_F(KernelRowsTest, WhatIsNoRegularFileIsNotOpened) {
  ASSERT_EQ(mkfifo(Path("pipe.py").c_str(), 0600), 0);
  std::ofstream(Path("real.py")) << "k_0 = async_compile.triton('k_0', '''\n''')\n";
  std::filesystem::create_symlink(Path("real.py"), Path("link.py"));
  std::filesystem::create_directory(Path("folder.py"));
  Put(Path("pipe.py"));
  Put(Path("link.py"));
  Put(Path("folder.py"));
  Put(Path("missing.py"));
  Put("relative.py");
  Put("/dev/zero");
  Put("");
  Pass();
  EXPECT_EQ(rows_.files_lost(), 7u);
  EXPECT_TRUE(sink_.blocks.empty());
}

TEST_F(KernelRowsTest, AFileThatIsTooLongIsNotRead) {
  std::ofstream(Path("long.py")) << "k_0 = async_compile.triton('k_0', '''\n''')\n";
  std::filesystem::resize_file(Path("long.py"), (32u << 20) + 1);
  Put(Path("long.py"));
  Pass();
  EXPECT_EQ(rows_.files_lost(), 1u);
  EXPECT_TRUE(sink_.blocks.empty());
}

TEST_F(KernelRowsTest, KernelsAboveTheLimitAreCounted) {
  for (int file = 0; file < 3; ++file) {
    std::string text;
    for (int i = 0; i < 4000; ++i)
      text += "k_" + std::to_string(i) + " = async_compile.triton('k', '''\n''')\n";
    std::ofstream(Path(std::to_string(file))) << text;
    Put(Path(std::to_string(file)));
  }
  Pass();
  EXPECT_EQ(rows_.kernels_lost(), 3u * 4000u - 8192u);
}

TEST(GeneratedModulesTest, TooLongIsRefused) {
  EXPECT_EQ(GeneratedModule::Make("/a", 1, 64u << 20), nullptr);
  EXPECT_EQ(GeneratedModule::Make("/a", ~uint64_t{0}, 1), nullptr);
}

}  // namespace
}  // namespace gpuprof::tracer::inductor
