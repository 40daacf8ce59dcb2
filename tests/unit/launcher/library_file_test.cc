// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Files of libraries at every length, and the paths in the loader's cache.

#include "proto/library_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/unit/launcher/elf_builder.h"

namespace gpuprof::launcher {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class LibraryFile : public testing::Test {
 protected:
  LibraryFile() : root_(testing::TempDir() + "library-file-" + std::to_string(getpid())) {
    fs::create_directories(root_);
  }
  ~LibraryFile() override { fs::remove_all(root_); }

  std::string FaultOf(const std::string& bytes) {
    const std::string path = root_ + "/lib.so";
    WriteProgram(path, bytes);
    const char* fault = proto::FaultOfLibrary(path.c_str());
    return fault == nullptr ? "" : fault;
  }

  // Of this machine.
  static std::string Program() {
    ElfSpec spec;
    spec.needed = {"libc.so.6"};
    spec.machine = proto::library_file::kMachine;
    return BuildElf(spec);
  }
  static std::string Whole() {
    std::string bytes = Program();
    Put(&bytes, offsetof(Elf64_Ehdr, e_type), uint16_t{ET_DYN});
    return bytes;
  }
  template <typename T>
  static void Put(std::string* bytes, size_t offset, T value) {
    std::memcpy(bytes->data() + offset, &value, sizeof(value));
  }

  std::string root_;
};

TEST_F(LibraryFile, WholeOrCutAtAnyByte) {
  const std::string whole = Whole();
  EXPECT_EQ(FaultOf(whole), "");
  EXPECT_EQ(FaultOf(whole + "sections, which the loader does not need"), "");
  for (size_t left = 0; left < whole.size(); ++left)
    ASSERT_THAT(FaultOf(whole.substr(0, left)), HasSubstr("incomplete")) << left;
}

TEST_F(LibraryFile, OthersThanLibrariesOfThisMachine) {
  EXPECT_THAT(FaultOf("GROUP ( libcupti.so.13 )\n"), HasSubstr("not a shared library"));
  EXPECT_THAT(FaultOf(Program()), HasSubstr("not a shared library"));
  std::string bytes = Whole();
  Put(&bytes, offsetof(Elf64_Ehdr, e_machine), uint16_t{EM_PPC64});
  EXPECT_THAT(FaultOf(bytes), HasSubstr("not a shared library"));
  bytes = Whole();
  Put(&bytes, EI_CLASS, uint8_t{ELFCLASS32});
  EXPECT_THAT(FaultOf(bytes), HasSubstr("not a shared library"));
  bytes = Whole();
  Put(&bytes, offsetof(Elf64_Ehdr, e_phnum), uint16_t{0});
  EXPECT_THAT(FaultOf(bytes), HasSubstr("not a shared library")) << "nothing to load";
}

TEST_F(LibraryFile, NumbersThatWrapAround) {
  constexpr size_t kSegment = sizeof(Elf64_Ehdr);
  std::string bytes = Whole();
  Put(&bytes, offsetof(Elf64_Ehdr, e_phoff), UINT64_MAX - 8);
  EXPECT_THAT(FaultOf(bytes), HasSubstr("incomplete"));
  bytes = Whole();
  Put(&bytes, kSegment + offsetof(Elf64_Phdr, p_offset), uint64_t{16});
  Put(&bytes, kSegment + offsetof(Elf64_Phdr, p_filesz), UINT64_MAX - 8);
  EXPECT_THAT(FaultOf(bytes), HasSubstr("incomplete"));
}

TEST_F(LibraryFile, WhatIsNoFile) {
  errno = ENOTTY;
  EXPECT_STREQ(proto::FaultOfLibrary((root_ + "/none").c_str()), "cannot be read");
  EXPECT_STREQ(proto::FaultOfLibrary(root_.c_str()), "cannot be read");
  const std::string pipe = root_ + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_STREQ(proto::FaultOfLibrary(pipe.c_str()), "cannot be read") << "and nobody waits for it";
  EXPECT_EQ(errno, ENOTTY);
}

std::vector<std::string> Cached(const std::string& bytes, size_t room = 64) {
  std::vector<std::string> found;
  std::string folder(room, 0);
  for (size_t at = 0; proto::NextInLoaderCache(bytes.data(), bytes.size(), &at, "libcupti.so",
                                               folder.data(), room);)
    found.emplace_back(folder.c_str());
  return found;
}

TEST(LoaderCache, PathsOfTheName) {
  using namespace std::string_literals;
  EXPECT_THAT(Cached("head\0libcupti.so.13\0/a/libcupti.so.13\0libcupti.so\0/b/c/libcupti.so\0"s),
              ElementsAre("/a/", "/b/c/"));
  EXPECT_THAT(Cached("/libcupti.so\0"s), ElementsAre("/")) << "at the very beginning";
  EXPECT_THAT(Cached("\0/a/libcupti.so.13"s), IsEmpty()) << "a cut cache";
  EXPECT_THAT(Cached("\0/a/libcupti.so.d/libx.so\0/a/mylibcupti.so\0rel/libcupti.so\0"s),
              IsEmpty());
  EXPECT_THAT(Cached("\0/much/longer/libcupti.so\0/y/libcupti.so\0"s, 8), ElementsAre("/y/"));
  EXPECT_THAT(Cached(""), IsEmpty());
}

}  // namespace
}  // namespace gpuprof::launcher
