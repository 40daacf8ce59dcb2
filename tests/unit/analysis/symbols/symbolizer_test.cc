// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The symbolizer on this very program and on copies of it that were stripped or replaced.

#include "analysis/symbols/symbolizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "analysis/symbols/mangled_names.h"
#include "analysis/symbols/module_symbols.h"
#include "tests/unit/analysis/read/trace_maker.h"

constexpr uint32_t kLandmarkLine = __LINE__ + 1;
extern "C" [[gnu::noinline, gnu::used]] int GpuprofTestLandmark(int value) {
  asm volatile("" : "+r"(value));
  return value * 3 + 1;
}

namespace gpuprof::analysis {

namespace landmark {
template <typename T>
[[gnu::noinline, gnu::used]] T Templated(T value) {
  asm volatile("" : "+r"(value));
  return value + 1;
}
}  // namespace landmark

namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::string OwnPath() { return std::filesystem::read_symlink("/proc/self/exe"); }

// Of this program, as the recorder would have written it.
proto::Module OwnModule() {
  proto::Module module;
  module.set_path(OwnPath());
  module.set_build_id(BuildIdOfFile(OwnPath()));
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        auto* found = static_cast<proto::Module*>(out);
        if (info->dlpi_name[0] != 0) return 0;  // the program itself comes without a name
        found->set_bias(info->dlpi_addr);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& header = info->dlpi_phdr[i];
          if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
          found->set_start(info->dlpi_addr + header.p_vaddr);
          found->set_end(info->dlpi_addr + header.p_vaddr + header.p_memsz);
        }
        return 1;
      },
      &module);
  return module;
}

uint64_t AddressOf(int (*function)(int)) { return reinterpret_cast<uint64_t>(function); }

Process With(const proto::Module& module) {
  Process process;
  process.modules.push_back(module);
  return process;
}

TEST(Symbolizer, NamesFunctionsOfThisProgram) {
  const Process process = With(OwnModule());
  Symbolizer symbolizer(process);
  const uint64_t pc = AddressOf(&GpuprofTestLandmark) + 1;
  const Frame& frame = symbolizer.Resolve(pc);
  EXPECT_EQ(frame.function, "GpuprofTestLandmark");
  EXPECT_EQ(frame.offset, 1u);
  EXPECT_EQ(frame.module, std::filesystem::path(OwnPath()).filename());
  EXPECT_TRUE(frame.named);
  EXPECT_EQ(symbolizer.Resolve(AddressOf(&landmark::Templated<int>) + 1).function,
            "int gpuprof::analysis::landmark::Templated<int>(int)");
  EXPECT_THAT(symbolizer.Notes(), IsEmpty());
}

TEST(Symbolizer, LinesAreThoseOfTheSource) {
  const Process process = With(OwnModule());
  Symbolizer symbolizer(process);
  const Frame& frame = symbolizer.Resolve(AddressOf(&GpuprofTestLandmark), PcKind::kExact);
  EXPECT_THAT(frame.file, EndsWith("symbolizer_test.cc"));
  EXPECT_GE(frame.line, kLandmarkLine);
  EXPECT_LE(frame.line, kLandmarkLine + 3) << "its declaration may take several lines";
  EXPECT_EQ(symbolizer.Resolve(0x10).line, 0u);
}

TEST(Symbolizer, ReturnAddressesBelongToTheCallBeforeThem) {
  const Process process = With(OwnModule());
  Symbolizer symbolizer(process);
  const uint64_t start = AddressOf(&GpuprofTestLandmark);
  EXPECT_NE(symbolizer.Resolve(start, PcKind::kReturnAddress).function, "GpuprofTestLandmark");
  EXPECT_EQ(symbolizer.Resolve(start, PcKind::kExact).function, "GpuprofTestLandmark");
  // The address behind the last instruction: where a call that does not return would go on.
  uint64_t end = start;
  while (symbolizer.Resolve(end, PcKind::kExact).function == "GpuprofTestLandmark") ++end;
  EXPECT_EQ(symbolizer.Resolve(end, PcKind::kReturnAddress).function, "GpuprofTestLandmark");
}

TEST(Symbolizer, OutsideEveryModuleTheNumberStays) {
  const Process process = With(OwnModule());
  Symbolizer symbolizer(process);
  const Frame& frame = symbolizer.Resolve(0x10);
  EXPECT_EQ(frame.function, "0x10");
  EXPECT_EQ(frame.module, "");
  EXPECT_FALSE(frame.named);
}

TEST(Symbolizer, AnotherBuildOfTheFileIsNotGuessedFrom) {
  proto::Module module = OwnModule();
  const uint64_t expected = AddressOf(&GpuprofTestLandmark) + 1 - module.bias();
  module.set_build_id("another-build-of-it.");
  const Process process = With(module);
  Symbolizer symbolizer(process);
  const Frame& frame = symbolizer.Resolve(AddressOf(&GpuprofTestLandmark) + 1);
  char hex[32];
  std::snprintf(hex, sizeof(hex), "+0x%llx", static_cast<unsigned long long>(expected));
  EXPECT_EQ(frame.function, std::filesystem::path(OwnPath()).filename().string() + hex);
  EXPECT_FALSE(frame.named);
  EXPECT_EQ(frame.offset, expected);
  EXPECT_THAT(symbolizer.Notes(), ElementsAre(HasSubstr("another build")));
}

TEST(Symbolizer, MissingFilesAndStrangeOnesGiveNotes) {
  TemporaryDirectory directory;
  WriteText(directory.File("text.so"), "not an ELF file, however long it may be");
  for (const std::string& path : {directory.File("gone.so"), directory.File("text.so"),
                                  std::string("[vdso]"), std::string()}) {
    proto::Module module = OwnModule();
    module.set_path(path);
    const Process process = With(module);
    Symbolizer symbolizer(process);
    const Frame& frame = symbolizer.Resolve(AddressOf(&GpuprofTestLandmark) + 1);
    EXPECT_FALSE(frame.named);
    EXPECT_THAT(frame.function, HasSubstr("+0x")) << path;
    if (path.ends_with("gone.so")) {
      EXPECT_THAT(symbolizer.Missing(), ElementsAre(path));
      EXPECT_THAT(symbolizer.Notes(), IsEmpty());
    } else {
      EXPECT_THAT(symbolizer.Notes(), ElementsAre(StartsWith(path + ": ")));
      EXPECT_THAT(symbolizer.Missing(), IsEmpty());
    }
  }
}

// A trace may name anything as a module.
TEST(Symbolizer, OpensNeitherPipesNorDevicesNorFilesOfTheKernel) {
  TemporaryDirectory directory;
  ASSERT_EQ(mkfifo(directory.File("pipe.so").c_str(), 0600), 0);
  std::filesystem::create_symlink("/proc/kmsg", directory.File("link.so"));
  const std::map<std::string, std::string> whys = {
      {directory.File("pipe.so"), "not a regular file"},
      {directory.File("link.so"), "not a regular file"},
      {"/dev/zero", "not a file"},
      {"/dev/shm/code.so", "not a file"},
      {"/proc/kmsg", "not a file"},
      {"/sys/kernel/notes", "not a file"},
      {"/../proc/kmsg", "not a regular file"},
  };
  for (const auto& [path, why] : whys) {
    proto::Module module = OwnModule();
    module.set_path(path);
    const Process process = With(module);
    Symbolizer symbolizer(process);
    EXPECT_FALSE(symbolizer.Resolve(AddressOf(&GpuprofTestLandmark) + 1).named) << path;
    EXPECT_THAT(symbolizer.Notes(), ElementsAre(StartsWith(path + ": "))) << path;
    EXPECT_THAT(symbolizer.Notes(), ElementsAre(HasSubstr(why))) << path;
    EXPECT_EQ(BuildIdOfFile(path), "") << path;
  }
}

TEST(Symbolizer, RootsAreSearchedInOrder) {
  TemporaryDirectory directory;
  const std::string root = directory.File("root");
  proto::Module module = OwnModule();
  module.set_path("/nowhere/program");
  std::filesystem::create_directories(root + "/nowhere");
  std::filesystem::copy_file(OwnPath(), root + "/nowhere/program");
  const Process process = With(module);
  SymbolPlaces places;
  EXPECT_THAT(MissingFiles(process, places), ElementsAre("/nowhere/program"));
  const std::string empty = directory.File("empty");
  places.roots = {empty, "", root};
  EXPECT_THAT(MissingFiles(process, places), IsEmpty());
  Symbolizer symbolizer(process, places);
  EXPECT_EQ(symbolizer.Resolve(AddressOf(&GpuprofTestLandmark) + 1).function,
            "GpuprofTestLandmark");
  EXPECT_THAT(symbolizer.Notes(), IsEmpty());

  // A strange file under the first root does not hide the right one.
  std::filesystem::create_directories(empty + "/nowhere");
  WriteText(empty + "/nowhere/program", "no ELF file");
  places.roots = {empty, root, ""};  // another order: tables are kept
  Symbolizer another(process, places);
  EXPECT_EQ(another.Resolve(AddressOf(&GpuprofTestLandmark) + 1).function, "GpuprofTestLandmark");
  EXPECT_THAT(another.Notes(), ElementsAre(HasSubstr(empty + "/nowhere/program: not an ELF file")));
}

TEST(Symbolizer, AProcessThatRunsShowsItsOwnRoot) {
  Trace trace;
  Process process;
  process.pid = 77;
  EXPECT_THAT(PlacesOf(trace, process, "").roots, ElementsAre(""));
  process.alive = true;
  EXPECT_THAT(PlacesOf(trace, process, "/copies").roots,
              ElementsAre("/copies", "", "/proc/77/root"));
}

TEST(Symbolizer, DebugFileIsFoundByItsLink) {
  TemporaryDirectory directory;
  const std::string stripped = directory.File("program");
  const std::string debug = directory.File("program.debug");
  const std::string objcopy = GPUPROF_OBJCOPY;
  ASSERT_EQ(std::system((objcopy + " --only-keep-debug " + OwnPath() + " " + debug).c_str()), 0);
  ASSERT_EQ(std::system((objcopy + " --strip-all --add-gnu-debuglink=" + debug + " " + OwnPath() +
                         " " + stripped)
                            .c_str()),
            0);
  proto::Module module = OwnModule();
  module.set_path(stripped);
  const Process process = With(module);
  {
    Symbolizer symbolizer(process);
    EXPECT_EQ(symbolizer.Resolve(AddressOf(&GpuprofTestLandmark) + 1).function,
              "GpuprofTestLandmark");
  }
  // A debug file of another build is no help; the module's own table is gone.
  const std::string bare = directory.File("bare");
  ASSERT_EQ(std::system((objcopy + " --strip-all " + OwnPath() + " " + bare).c_str()), 0);
  module.set_path(bare);
  const Process bare_process = With(module);
  Symbolizer symbolizer(bare_process);
  EXPECT_FALSE(symbolizer.Resolve(AddressOf(&GpuprofTestLandmark) + 1).named);
  EXPECT_THAT(symbolizer.Notes(),
              ElementsAre(testing::AnyOf(HasSubstr("exported"), HasSubstr("no symbols"))));
}

TEST(Symbolizer, MappingThatStayedWinsOverOneThatWasUnmapped) {
  proto::Module gone = OwnModule();
  gone.set_path("/nowhere/gone.so");
  gone.set_first_seen(1);
  gone.set_last_seen(5);
  Process process = With(OwnModule());
  process.modules.push_back(gone);
  Symbolizer symbolizer(process);
  EXPECT_EQ(symbolizer.Resolve(AddressOf(&GpuprofTestLandmark) + 1).function,
            "GpuprofTestLandmark");
}

TEST(Symbolizer, ModuleWithinAnothersRangeIsFoundAndSoIsTheOuterOne) {
  Process process;
  const auto add = [&](const char* path, uint64_t start, uint64_t end) {
    proto::Module* module = &process.modules.emplace_back();
    module->set_path(path);
    module->set_start(start);
    module->set_end(end);
  };
  add("/nowhere/outer.so", 0x1000, 0x9000);
  add("/nowhere/inner.so", 0x3000, 0x4000);
  process.modules[1].set_first_seen(9);
  Symbolizer symbolizer(process);
  EXPECT_EQ(symbolizer.Resolve(0x3500).module, "inner.so");
  EXPECT_EQ(symbolizer.Resolve(0x5000).module, "outer.so");
  EXPECT_EQ(symbolizer.Resolve(0x9800).module, "");
}

TEST(Demangle, GivesReadableNames) {
  EXPECT_EQ(Demangle("main"), "main");
  EXPECT_EQ(Demangle("__libc_start_main@@GLIBC_2.34"), "__libc_start_main");
  EXPECT_EQ(Demangle("_ZNSt6thread4joinEv@@GLIBCXX_3.4.11"), "std::thread::join()");
  EXPECT_EQ(Demangle("_Zbroken"), "_Zbroken");
  EXPECT_EQ(Demangle("_ZN2at4_ops2mm4callERKNS_6TensorES4_"),
            "at::_ops::mm::call(at::Tensor const&, at::Tensor const&)");
}

}  // namespace
}  // namespace gpuprof::analysis
