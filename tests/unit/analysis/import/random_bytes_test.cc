// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/import/random_bytes.h"

#include "analysis/import/foreign_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace gpuprof::analysis::import {
namespace {

using testing::HasSubstr;

std::string Digits(size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text += static_cast<char>('a' + i % 26);
  return text;
}

class RandomBytesTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string Path(const std::string& name) const { return folder_ / name; }
  void Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(Path(name), std::ios::binary) << bytes;
  }
  void WriteGzip(const std::string& name, const std::string& bytes) const {
    const gzFile file = gzopen(Path(name).c_str(), "wb");
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
  }

 private:
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("random_bytes_test." + std::to_string(getpid()));
};

TEST_F(RandomBytesTest, AFileIsReadFromAnyPlace) {
  const std::string text = Digits(5'000);
  Write("file", text);
  bool is_damaged = true;
  Result<std::unique_ptr<RandomBytes>> file =
      OpenRandomBytes(FileAt(Path("file")), UINT64_MAX, &is_damaged);
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_FALSE(is_damaged);
  EXPECT_EQ((*file)->size(), text.size());
  ByteWindow window(file->get(), 64);
  for (const uint64_t at : {4'990, 0, 63, 64, 1'000, 10, 4'999}) {
    for (const size_t least : {1, 64, 300}) {
      const std::string_view view = window.At(at, least);
      EXPECT_GE(view.size(), std::min<size_t>(least, text.size() - at));
      EXPECT_EQ(view, std::string_view(text).substr(at, view.size()));
    }
  }
  EXPECT_TRUE(window.At(5'000, 10).empty());
  EXPECT_FALSE(window.error());
}

TEST_F(RandomBytesTest, AFileThatBecomesShorterEndsThere) {
  Write("file", Digits(5'000));
  Result<std::unique_ptr<RandomBytes>> file = FileBytesAt::Open(Path("file"));
  ASSERT_TRUE(file.ok());
  std::filesystem::resize_file(Path("file"), 100);
  ByteWindow window(file->get(), 64);
  EXPECT_EQ(window.At(90, 64), Digits(5'000).substr(90, 10));
  EXPECT_TRUE(window.At(4'000, 64).empty());
  EXPECT_FALSE(window.error());
}

TEST_F(RandomBytesTest, GzipIsInflated) {
  const std::string text = Digits(300'000);
  WriteGzip("whole.gz", text);
  bool is_damaged = true;
  Result<std::unique_ptr<RandomBytes>> file =
      OpenRandomBytes(FileAt(Path("whole.gz")), UINT64_MAX, &is_damaged);
  ASSERT_TRUE(file.ok());
  EXPECT_FALSE(is_damaged);
  EXPECT_EQ((*file)->size(), text.size());
  EXPECT_EQ(ByteWindow(file->get()).At(0, text.size()), text);
  std::filesystem::resize_file(Path("whole.gz"), std::filesystem::file_size(Path("whole.gz")) - 9);
  file = OpenRandomBytes(FileAt(Path("whole.gz")), UINT64_MAX, &is_damaged);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(is_damaged);
}

TEST_F(RandomBytesTest, WhatIsNotAFileIsRefused) {
  bool is_damaged = false;
  EXPECT_THAT(OpenRandomBytes(FileAt(Path("absent")), UINT64_MAX, &is_damaged).error().message,
              HasSubstr("name an existing file"));
  EXPECT_FALSE(OpenRandomBytes(FileAt("/dev/zero"), UINT64_MAX, &is_damaged).ok());
}

}  // namespace
}  // namespace gpuprof::analysis::import
