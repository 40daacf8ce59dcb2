// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/mapped_path.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace gpuprof::tracer {
namespace {

class MappedPathTest : public testing::Test {
 protected:
  ~MappedPathTest() override { std::remove(file_.c_str()); }

  std::string In(const std::string& maps, uint64_t address, uint32_t capacity = 4096) {
    std::ofstream(file_, std::ios::binary | std::ios::trunc) << maps;
    std::string path(capacity, 0);
    path.resize(MappedPathIn(file_.c_str(), address, path.data(), capacity));
    return path;
  }

  std::string file_ =
      std::filesystem::temp_directory_path() / ("gpuprof-maps-" + std::to_string(getpid()));
};

TEST_F(MappedPathTest, OfThisProgram) {
  char path[4096];
  const auto here = reinterpret_cast<uint64_t>(&MappedPathIn);
  EXPECT_EQ(std::string(path, MappedPath(here, path, sizeof(path))),
            std::filesystem::read_symlink("/proc/self/exe"));
  EXPECT_EQ(MappedPath(1, path, sizeof(path)), 0u);
}

TEST_F(MappedPathTest, LinesOfEveryKind) {
  const std::string maps =
      "1000-2000 r-xp 00000000 fe:01 12                         /a b/one.so\n"
      "2000-3000 rw-p 00000000 00:00 0 \n"
      "3000-4000 r-xp 00000000 fe:01 13                         /gone.so (deleted)\n"
      "7f00-8f00 r-xp 00000000 00:00 0                          [vdso]\n"
      "nonsense\n"
      "ffffffffff600000-ffffffffff601000 r-xp 00000000 00:00 0  /last.so\n";
  EXPECT_EQ(In(maps, 0x1fff), "/a b/one.so");
  EXPECT_EQ(In(maps, 0x2000), "");
  EXPECT_EQ(In(maps, 0x3000), "/gone.so");
  EXPECT_EQ(In(maps, 0x7f80), "");
  EXPECT_EQ(In(maps, 0xffffffffff600000), "/last.so");
  EXPECT_EQ(In(maps, 0x1000, 11), "/a b/one.so");
  EXPECT_EQ(In(maps, 0x1000, 10), "") << "never a part of one";
}

TEST_F(MappedPathTest, LinesThatLieAcrossWhatIsReadAtOnce) {
  std::string maps;
  for (uint64_t i = 1; i < 2000; ++i) {
    char line[64];
    std::snprintf(line, sizeof(line), "%llx000-%llx800 r-xp 0 0:0 1 /lib/%llu.so\n",
                  static_cast<unsigned long long>(i), static_cast<unsigned long long>(i),
                  static_cast<unsigned long long>(i));
    maps += line;
  }
  for (uint64_t i = 1; i < 2000; i += 7)
    ASSERT_EQ(In(maps, i << 12), "/lib/" + std::to_string(i) + ".so");
  EXPECT_EQ(In("1000-2000 " + std::string(9000, 'x') + "/a\n", 0x1000), "");
  EXPECT_EQ(In("", 0x1000), "");
}

}  // namespace
}  // namespace gpuprof::tracer
