// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Programs: resolution as execvp does it, scripts and env, and what stands in the way of recording.

#include "launcher/record/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/unit/launcher/elf_builder.h"

namespace gpuprof::launcher {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ProgramTest : public testing::Test {
 protected:
  ProgramTest() : root_(testing::TempDir() + "gpuprof-program-" + std::to_string(getpid())) {
    fs::create_directories(root_ + "/a");
    fs::create_directories(root_ + "/b");
    path_ = root_ + "/a:" + root_ + "/b";
  }
  ~ProgramTest() override { fs::remove_all(root_); }
  void Elf(const std::string& name, const ElfSpec& spec = {}, mode_t mode = 0755) {
    WriteProgram(root_ + "/" + name, BuildElf(spec), mode);
  }
  Program Find(const std::string& command, const std::vector<std::string>& arguments = {}) {
    return FindProgram(command, arguments, path_.c_str());
  }
  std::string root_, path_;
};

TEST_F(ProgramTest, ResolvesByPathInOrder) {
  Elf("b/prog");
  EXPECT_EQ(Find("prog").path, root_ + "/b/prog");
  Elf("a/prog", {}, 0644);  // not executable: passed over, as execvp does
  EXPECT_EQ(Find("prog").path, root_ + "/b/prog");
  Elf("a/other", {}, 0644);
  EXPECT_TRUE(Find("other").found);
  EXPECT_FALSE(Find("other").executable);
  EXPECT_FALSE(Find("missing").found);
  EXPECT_TRUE(Find(root_ + "/b/prog").executable);
  EXPECT_FALSE(Find(root_ + "/b").executable);
  EXPECT_FALSE(Find("").found);
}

TEST_F(ProgramTest, FollowsScriptsAndEnv) {
  Elf("b/python9");
  WriteProgram(root_ + "/a/direct", "#!" + root_ + "/b/python9 -u\n");
  WriteProgram(root_ + "/a/through", "#! /usr/bin/env -S python9 -u\n");
  WriteProgram(root_ + "/a/nested", "#!" + root_ + "/a/direct\n");
  WriteProgram(root_ + "/a/loop", "#!" + root_ + "/a/loop\n");
  for (const char* name : {"direct", "through", "nested"})
    EXPECT_EQ(Find(name).binary, root_ + "/b/python9") << name;
  EXPECT_EQ(Find("/usr/bin/env", {"A=1", "python9", "x.py"}).binary, root_ + "/b/python9");
  EXPECT_TRUE(Find("loop").executable);
}

TEST_F(ProgramTest, OrdinaryProgramsHaveNothingInTheWay) {
  Elf("a/prog");
  EXPECT_EQ(Find("prog").cannot_preload, "");
  EXPECT_EQ(Find("prog").sanitizer, "");
}

TEST_F(ProgramTest, StaticProgramsAreNamedButMayCarryTheObject) {
  ElfSpec spec;
  spec.interpreter = "";
  Elf("a/prog", spec);
  EXPECT_THAT(Find("prog").cannot_preload, HasSubstr("linked statically"));
  EXPECT_TRUE(Find("prog").preload_is_harmless);
}

TEST_F(ProgramTest, MuslAndOtherMachinesMustNotGetTheObject) {
  ElfSpec musl;
  musl.interpreter = "/lib/ld-musl-x86_64.so.1";
  Elf("a/musl", musl);
  EXPECT_THAT(Find("musl").cannot_preload, HasSubstr("musl"));
  EXPECT_FALSE(Find("musl").preload_is_harmless);
  ElfSpec narrow;
  narrow.elf_class = ELFCLASS32;
  narrow.machine = EM_386;
  Elf("a/narrow", narrow);
  EXPECT_THAT(Find("narrow").cannot_preload, HasSubstr("another kind of machine"));
  EXPECT_FALSE(Find("narrow").preload_is_harmless);
}

TEST_F(ProgramTest, SetuidAndSetgidAreNamed) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to give a file to another user";
  for (const auto& [mode, word] :
       {std::pair<mode_t, const char*>{04755, "setuid"}, {02755, "setgid"}}) {
    Elf("a/prog");
    ASSERT_EQ(chown((root_ + "/a/prog").c_str(), 12345, 12345), 0);
    ASSERT_EQ(chmod((root_ + "/a/prog").c_str(), mode), 0);
    EXPECT_THAT(Find("prog").cannot_preload, HasSubstr(word));
  }
}

TEST_F(ProgramTest, SetuidToOneselfGainsNothing) {
  Elf("a/prog", {}, 04755);
  EXPECT_EQ(Find("prog").cannot_preload, "");
}

TEST_F(ProgramTest, SanitizersAreFoundByNameOrPath) {
  ElfSpec spec;
  spec.needed = {"libasan.so.8", "libc.so.6"};
  Elf("a/prog", spec);
  EXPECT_EQ(Find("prog").sanitizer, "libasan.so.8");
  spec.needed = {"libclang_rt.asan-x86_64.so"};
  spec.runpath = "$ORIGIN/../b";
  Elf("a/clang", spec);
  EXPECT_EQ(Find("clang").sanitizer, "libclang_rt.asan-x86_64.so");
  Elf("b/libclang_rt.asan-x86_64.so");
  EXPECT_EQ(Find("clang").sanitizer, root_ + "/a/../b/libclang_rt.asan-x86_64.so");
}

TEST(ProgramNames, ExcludedAsTheInjectedObjectExcludes) {
  EXPECT_TRUE(IsExcludedByName("bash", {}, {}));
  EXPECT_TRUE(IsExcludedByName("gcc-12", {}, {}));
  EXPECT_TRUE(IsExcludedByName("x86_64-linux-gnu-g++-12", {}, {}));
  EXPECT_FALSE(IsExcludedByName("python3.11", {}, {}));
  EXPECT_FALSE(IsExcludedByName("bash", {"bash"}, {}));
  EXPECT_TRUE(IsExcludedByName("python3.11", {}, {"python3.11"}));
  EXPECT_FALSE(IsExcludedByName("train", {"train"}, {"train"}));
}

}  // namespace
}  // namespace gpuprof::launcher
