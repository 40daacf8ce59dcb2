// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The cache of imported traces: what is kept, what goes first, and folders that it must not use.

#include "launcher/serve/import_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace gpuprof::launcher {
namespace {

namespace fs = std::filesystem;

class ImportCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "/import-cache-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
    setenv("TMPDIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    unsetenv("TMPDIR");
    fs::remove_all(folder_);
  }

  // Writes a trace of torch.profiler.
  std::string WriteTrace(const std::string& name) const {
    const std::string path = folder_ / name;
    std::ofstream out(path);
    out << "{\"traceEvents\": [\n";
    for (int i = 0; i < 100; ++i) {
      out << R"({"ph": "X", "cat": "cpu_op", "name": "aten::mul", "pid": 7, "tid": 7, "ts": )"
          << i * 10 << R"(, "dur": 5},)"
          << "\n";
    }
    out << R"({"ph": "X", "cat": "cpu_op", "name": "last", "pid": 7, "tid": 7, "ts": 5000, "dur": 5}]})";
    return path;
  }

  static std::shared_ptr<const ImportedTrace> Make(ImportCache* cache, const std::string& path) {
    analysis::Error error;
    auto made = cache->Make(path, analysis::FindForeign(path, false), nullptr, &error);
    EXPECT_FALSE(error) << error.message;
    return made;
  }
  static std::shared_ptr<const ImportedTrace> Find(ImportCache* cache, const std::string& path) {
    return cache->Find(path, analysis::FindForeign(path, false));
  }

  fs::path Imports() const { return folder_ / "cache" / "gpuprof" / "imports"; }
  size_t EntryCount() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(Imports()), {}));
  }
  uint64_t EntryBytes() const {
    uint64_t bytes = 0;
    for (const auto& file : fs::recursive_directory_iterator(Imports()))
      if (file.is_regular_file()) bytes += file.file_size();
    return bytes;
  }

  fs::path folder_;
};

TEST_F(ImportCacheTest, KeepsATraceForTheNextCommand) {
  const std::string path = WriteTrace("one.json");
  ImportCache first, second;
  ASSERT_EQ(first.Open(), "");
  EXPECT_EQ(Find(&first, path), nullptr);
  const auto made = Make(&first, path);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->bundle.origin.path, path);
  EXPECT_EQ(made->bundle.origin.file_bytes.at("one.json"), fs::file_size(path));
  EXPECT_TRUE(fs::exists(made->bundle.path.path + "/bundle.pb"));
  ASSERT_EQ(second.Open(), "");
  EXPECT_NE(Find(&second, path), nullptr);
  std::ofstream(path, std::ios::app) << "\n";
  EXPECT_EQ(Find(&second, path), nullptr);
}

// As rsync --inplace -t leaves it.
TEST_F(ImportCacheTest, AFileThatChangedInPlaceIsReadAgain) {
  const std::string path = WriteTrace("one.json");
  ImportCache cache;
  ASSERT_EQ(cache.Open(), "");
  Make(&cache, path);
  ASSERT_NE(Find(&cache, path), nullptr);
  struct stat before, after;
  ASSERT_EQ(stat(path.c_str(), &before), 0);
  do {
    std::fstream(path, std::ios::in | std::ios::out).seekp(20) << " ";
    const timespec times[] = {before.st_atim, before.st_mtim};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
    ASSERT_EQ(stat(path.c_str(), &after), 0);
  } while (after.st_ctim.tv_sec == before.st_ctim.tv_sec &&
           after.st_ctim.tv_nsec == before.st_ctim.tv_nsec);
  EXPECT_EQ(after.st_size, before.st_size);
  EXPECT_EQ(Find(&cache, path), nullptr);
}

TEST_F(ImportCacheTest, TheOldestGoFirst) {
  const std::string one = WriteTrace("one.json"), two = WriteTrace("two.json"),
                    three = WriteTrace("three.json");
  ImportCache measuring;
  ASSERT_EQ(measuring.Open(), "");
  Make(&measuring, one);
  const uint64_t bytes = EntryBytes();
  ImportCache cache(bytes * 5 / 2);
  ASSERT_EQ(cache.Open(), "");
  Make(&cache, two);
  usleep(20'000);
  EXPECT_NE(Find(&cache, one), nullptr);  // now it is the one that was used last
  Make(&cache, three);
  EXPECT_NE(Find(&cache, one), nullptr);
  EXPECT_EQ(Find(&cache, two), nullptr);
  EXPECT_NE(Find(&cache, three), nullptr);
  EXPECT_EQ(EntryCount(), 2U);
}

TEST_F(ImportCacheTest, WhatIsInUseStays) {
  const std::string one = WriteTrace("one.json"), two = WriteTrace("two.json");
  ImportCache measuring;
  ASSERT_EQ(measuring.Open(), "");
  const auto used = Make(&measuring, one);
  ImportCache cache(EntryBytes() * 3 / 2);
  ASSERT_EQ(cache.Open(), "");
  Make(&cache, two);
  EXPECT_TRUE(fs::exists(used->bundle.path.path + "/bundle.pb"));
}

TEST_F(ImportCacheTest, WhatHasNoRoomIsUsedOnce) {
  const std::string path = WriteTrace("one.json");
  ImportCache cache(100);
  ASSERT_EQ(cache.Open(), "");
  auto made = Make(&cache, path);
  ASSERT_NE(made, nullptr);
  EXPECT_TRUE(fs::exists(made->bundle.path.path + "/bundle.pb"));
  made = nullptr;
  EXPECT_EQ(EntryCount(), 0U);
}

TEST_F(ImportCacheTest, ALinkIsNotFollowed) {
  fs::create_directories(folder_ / "elsewhere");
  fs::create_directories(Imports().parent_path());
  fs::create_directory_symlink(folder_ / "elsewhere", Imports());
  ImportCache cache;
  EXPECT_NE(cache.Open().find("is a link"), std::string::npos);
  auto made = Make(&cache, WriteTrace("one.json"));
  ASSERT_NE(made, nullptr);
  const std::string place = made->bundle.path.path;
  EXPECT_TRUE(fs::exists(place + "/bundle.pb"));
  EXPECT_TRUE(fs::is_empty(folder_ / "elsewhere"));
  made = nullptr;
  EXPECT_FALSE(fs::exists(place));
}

TEST_F(ImportCacheTest, OthersMayNotEnterTheFolder) {
  fs::create_directories(Imports());
  fs::permissions(Imports(), fs::perms::all);
  ImportCache cache;
  EXPECT_EQ(cache.Open(), "");
  EXPECT_EQ(fs::status(Imports()).permissions(), fs::perms::owner_all);
}

TEST_F(ImportCacheTest, AnotherUsersFolderIsNotUsed) {
  if (geteuid() != 0) GTEST_SKIP() << "makes a folder of another user: needs root";
  fs::create_directories(Imports());
  ASSERT_EQ(chown(Imports().c_str(), 12345, 12345), 0);
  ImportCache cache;
  EXPECT_NE(cache.Open().find("belongs to user 12345"), std::string::npos);
}

}  // namespace
}  // namespace gpuprof::launcher
