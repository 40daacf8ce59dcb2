// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// ELF files: what is read, and that no cut or wrong byte does harm.

#include "launcher/record/elf_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/unit/launcher/elf_builder.h"

namespace gpuprof::launcher {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class ElfFileTest : public testing::Test {
 protected:
  ~ElfFileTest() override { unlink(path_.c_str()); }
  ElfFile Read(const std::string& bytes) {
    WriteProgram(path_, bytes);
    ElfFile elf;
    EXPECT_EQ(ReadElf(path_, &elf), "");
    return elf;
  }
  std::string folder_ = testing::TempDir();
  std::string path_ = folder_ + "gpuprof-elf-" + std::to_string(getpid());
};

TEST_F(ElfFileTest, ReadsInterpreterNeededAndSearchPath) {
  ElfSpec spec;
  spec.needed = {"libasan.so.8", "libc.so.6"};
  spec.runpath = "$ORIGIN/../lib:${ORIGIN}/x:/opt/lib";
  const ElfFile elf = Read(BuildElf(spec));
  EXPECT_TRUE(elf.is_elf);
  EXPECT_TRUE(elf.is_64_bit);
  EXPECT_TRUE(elf.is_executable_type);
  EXPECT_EQ(elf.interpreter, "/lib64/ld-linux-x86-64.so.2");
  EXPECT_THAT(elf.needed, ElementsAre("libasan.so.8", "libc.so.6"));
  const std::string origin = path_.substr(0, path_.rfind('/'));
  EXPECT_THAT(elf.search_path, ElementsAre(origin + "/../lib", origin + "/x", "/opt/lib"));
}

TEST_F(ElfFileTest, OtherFilesAreNoError) {
  EXPECT_FALSE(Read("#!/bin/sh\necho\n").is_elf);
  EXPECT_FALSE(Read("").is_elf);
  ElfFile elf;
  EXPECT_THAT(ReadElf("/nonexistent", &elf), HasSubstr("cannot be read"));
}

TEST_F(ElfFileTest, OwnExecutableIsDynamic) {
  ElfFile elf;
  ASSERT_EQ(ReadElf("/proc/self/exe", &elf), "");
  EXPECT_EQ(elf.machine, OwnMachine());
  EXPECT_THAT(elf.interpreter, HasSubstr("ld-linux"));
  EXPECT_THAT(elf.needed, Contains("libc.so.6"));
}

TEST_F(ElfFileTest, EveryCutAndEveryFlippedByteIsSurvived) {
  ElfSpec spec;
  spec.needed = {"libm.so.6"};
  const std::string whole = BuildElf(spec);
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) Read(whole.substr(0, bytes));
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(~damaged[at]);
    const ElfFile elf = Read(damaged);
    EXPECT_LE(elf.needed.size(), 4096u);
  }
}

}  // namespace
}  // namespace gpuprof::launcher
