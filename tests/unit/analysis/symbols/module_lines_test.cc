// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Source lines against those of binutils' addr2line, for each version and packing of the tables.

#include "analysis/symbols/module_lines.h"

#include <elf.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/symbols/elf_sections.h"

namespace gpuprof::analysis {
namespace {

constexpr char kSource[] =
    "#include \"inner/part.h\"\n"
    "int Unused(int x) { return x * 3; }\n"
    "int Work(int x) {\n"
    "  int sum = 0;\n"
    "  for (int i = 0; i < x; ++i)\n"
    "    sum += Part(i);\n"
    "#line 70000 \"other.c\"\n"
    "  return sum;\n"
    "}\n"
    "__attribute__((section(\".text.apart\"))) int Apart(int x) { return Work(x) + 1; }\n";
constexpr char kPart[] = "static inline int Part(int x) {\n  return x * x % 7;\n}\n";

std::string Printed(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> buffer;
  for (size_t got; (got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), got);
  EXPECT_EQ(pclose(pipe), 0) << command;
  return text;
}

class Lines : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    char name[] = "/tmp/gpuprof-lines-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    ASSERT_EQ(std::system(("mkdir '" + folder_ + "/inner'").c_str()), 0);
    std::ofstream(folder_ + "/work.c") << kSource;
    std::ofstream(folder_ + "/inner/part.h") << kPart;
  }
  void TearDown() override { EXPECT_EQ(std::system(("rm -r '" + folder_ + "'").c_str()), 0); }
  bool Compile() const {
    return std::system(("cd '" + folder_ + "' && " GPUPROF_CC " -O2 -fPIC -shared " + GetParam() +
                        " -o out.so work.c 2> errors")
                           .c_str()) == 0;
  }
  std::string folder_;
};

TEST_P(Lines, AreThoseOfAddr2line) {
  if (!Compile()) GTEST_SKIP() << "the compiler does not know " << GetParam();
  const std::string path = folder_ + "/out.so";
  const ElfSections elf(path);
  ASSERT_TRUE(elf.is_elf());
  std::vector<uint64_t> addresses;
  const ElfSections::Section* const symbols = elf.OfType(SHT_SYMTAB);
  ASSERT_NE(symbols, nullptr);
  const SectionBytes bytes = elf.Read(*symbols);
  Elf64_Sym symbol;
  for (size_t at = 0; at + sizeof symbol <= bytes.size; at += sizeof symbol) {
    std::memcpy(&symbol, bytes.data.get() + at, sizeof symbol);
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || ELF64_ST_BIND(symbol.st_info) != STB_GLOBAL ||
        symbol.st_shndx == SHN_UNDEF)
      continue;
    for (uint64_t i = 0; i < symbol.st_size; ++i) addresses.push_back(symbol.st_value + i);
  }
  ASSERT_GT(addresses.size(), 50u);
  std::ofstream list(folder_ + "/list");
  for (const uint64_t address : addresses) list << std::hex << "0x" << address << "\n";
  list.close();
  std::istringstream expected(Printed("addr2line -e " + path + " < " + folder_ + "/list"));
  const std::shared_ptr<ModuleLines> lines = ModuleLines::Get(path);
  int known = 0;
  for (const uint64_t address : addresses) {
    std::string line;
    ASSERT_TRUE(std::getline(expected, line));
    line = line.substr(0, line.find(" (discriminator"));
    if (line.find(":?") != std::string::npos || line.ends_with(":0")) continue;
    const SourceLine found = lines->Find(address);
    EXPECT_EQ(found.file + ":" + std::to_string(found.line), line) << std::hex << address;
    ++known;
  }
  EXPECT_GT(known, 50);
  EXPECT_EQ(lines->Find(0).line, 0u);
  EXPECT_EQ(lines->Find(UINT64_MAX).line, 0u);
}

// The bytes of a file may be anybody's: what is read of them must end, and within the tables.
TEST_P(Lines, OfADamagedFileEnd) {
  if (!Compile()) GTEST_SKIP() << "the compiler does not know " << GetParam();
  std::ifstream file(folder_ + "/out.so", std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  const ElfSections elf(folder_ + "/out.so");
  int written = 0;
  for (const char* name : {".debug_line", ".debug_info", ".debug_abbrev", ".debug_line_str"}) {
    const ElfSections::Section* const section = elf.Named(name);
    if (section == nullptr) continue;
    for (uint64_t at = 0; at < section->size; at += 1 + section->size / 60) {
      for (const char value : {'\x00', '\x7f', '\xff'}) {
        std::string damaged = whole;
        damaged[section->offset + at] = value;
        const std::string path = folder_ + "/" + std::to_string(written++);
        std::ofstream(path, std::ios::binary) << damaged;
        const std::shared_ptr<ModuleLines> lines = ModuleLines::Get(path);
        for (uint64_t address = 0x1000; address < 0x1200; address += 7) lines->Find(address);
        unlink(path.c_str());
      }
    }
  }
  EXPECT_GT(written, 100);
}

INSTANTIATE_TEST_SUITE_P(Tables, Lines,
                         testing::Values("-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5",
                                         "-gdwarf-5 -gz", "-gdwarf-4 -gdwarf64",
                                         "-gdwarf-4 -ffunction-sections -Wl,--gc-sections",
                                         "-gdwarf-4 -g1"));

}  // namespace
}  // namespace gpuprof::analysis
