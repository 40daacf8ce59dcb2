// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Names of any length, real and hostile.

#include <gtest/gtest.h>
#include <pthread.h>

#include <string>
#include <vector>

#include "analysis/symbols/mangled_names.h"

namespace gpuprof::analysis {
namespace {

struct Name {
  std::string mangled, text;
};

// A kernel template of so many tiles of twelve numbers, as compilers name CUTLASS's.
Name KernelOf(int tiles) {
  Name name = {"_Z13device_kernelIJ", "void device_kernel<"};
  for (int tile = 0; tile < tiles; ++tile) {
    name.mangled += tile == 0 ? "4TileIJ" : "S0_IJ";
    name.text += tile == 0 ? "Tile<" : ", Tile<";
    for (int i = 100; i < 112; ++i) {
      name.mangled += "Li" + std::to_string(i) + "E";
      name.text += (i == 100 ? "" : ", ") + std::to_string(i);
    }
    name.mangled += "EE";
    name.text += ">";
  }
  name.mangled += "EEvv";
  name.text += " >()";
  return name;
}

std::string Repeated(const std::string& part, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += part;
  return text;
}

TEST(Demangle, LongNamesAsShortOnes) {
  for (const int tiles : {1, 10, 12, 13, 14, 50, 90}) {
    const Name name = KernelOf(tiles);
    EXPECT_EQ(Demangle(name.mangled.c_str()), name.text) << name.mangled.size();
  }
  EXPECT_GT(KernelOf(90).text.size(), 5123u) << "the longest of CUTLASS's";
}

TEST(Demangle, LeavesWhatIsNoNameOrTooLong) {
  const std::string broken = KernelOf(50).mangled + "$";
  EXPECT_EQ(Demangle(broken.c_str()), broken);
  const std::string endless = KernelOf(5000).mangled;
  EXPECT_EQ(Demangle(endless.c_str()), endless);
}

// Each argument is a template of two of the one before: A<int, int>, A<A<int, int>, A<int, int>>,
// ...
std::string DoublingName(int levels) {
  constexpr char kDigits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string name = "_Z1f1AIiiE";
  for (int level = 0; level < levels; ++level) {
    const std::string before = std::string("S") + kDigits[level] + "_";
    name += "S_I" + before + before + "E";
  }
  return name;
}

// 2^32 of the smallest in the last argument, of a name of 300 characters: tens of gigabytes.
TEST(Demangle, NamesThatNobodyCouldReadStayAsTheyAre) {
  EXPECT_EQ(Demangle(DoublingName(1).c_str()), "f(A<int, int>, A<A<int, int>, A<int, int> >)");
  const std::string name = DoublingName(32);
  EXPECT_LT(name.size(), 340u);
  EXPECT_EQ(Demangle(name.c_str()), name);
  const std::string longer = DoublingName(32) + Repeated("i", 1000);
  EXPECT_EQ(Demangle(longer.c_str()), longer);
}

void* DemangleAll(void* names) {
  for (const std::string& name : *static_cast<std::vector<std::string>*>(names)) {
    Demangle(name.c_str());
  }
  return nullptr;
}

// On a thread with little stack, whose overflow would end this program. Names as long as are tried
// at all: parts that nest, and templates beside references, for whose pairs the demangler keeps
// room.
TEST(Demangle, HostileNamesDoNotOverflowTheStack) {
  constexpr size_t kLength = 8192 - 16;
  std::vector<std::string> names;
  for (const std::string part :
       {"P",    "F",  "PFv", "M",     "N",       "Z",      "I",      "J",
        "A_",   "Dp", "1aI", "N1aIN", "L_Z1fIX", "cvN1aI", "DTcl1a", "Z1fI",
        "NUlZ", "ng", "il",  "nw",    "srN1aI",  "VK",     "GTt",    "1a"}) {
    const std::string nested = Repeated(part, kLength / part.size());
    for (const char* lead : {"_Z", "_ZN", "_Z1f", "_Z1fI", "_Z1fIX"}) {
      names.push_back(lead + nested);
      names.push_back(lead + nested + "i");
    }
  }
  const std::string templates = Repeated("N1a" + Repeated("IE", 300) + "E", kLength / 2 / 604);
  names.push_back("_Z1fI" + templates + "Ev" + Repeated("RT_", kLength / 6));
  names.push_back("_Z1fI" + Repeated("PFv" + Repeated("RT_", 300) + "E", kLength / 2 / 904) +
                  templates + "Evv");
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, size_t{1} << 20), 0);
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, DemangleAll, &names), 0);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(pthread_join(thread, nullptr), 0);
}

TEST(Demangle, NamesOfRust) {
  EXPECT_EQ(Demangle("_RNvCs15kBYyAo9fc_7mycrate7example"), "mycrate::example");
  EXPECT_EQ(Demangle("_RINvNtC3std3mem8align_ofdE"), "std::mem::align_of::<f64>");
  EXPECT_EQ(Demangle("_RNCNvC6my_app4main0"), "my_app::main::{closure#0}");
  // The older mangling: a hash behind the name, and escapes.
  EXPECT_EQ(Demangle("_ZN3std2io5Write9write_fmt17h0123456789abcdefE"),
            "std::io::Write::write_fmt");
  EXPECT_EQ(Demangle("_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$"
                     "3bar17h930b740aa94f1d3aE"),
            "<Test + 'static as foo::Bar<Test>>::bar");
}

TEST(Demangle, WithoutLlvmsSuffix) {
  EXPECT_EQ(Demangle("_ZN1a1bEv.llvm.1234567890"), "a::b()");
  EXPECT_EQ(Demangle("_RNvCs15kBYyAo9fc_7mycrate7example.llvm.42"), "mycrate::example");
  EXPECT_EQ(Demangle("plain.llvm.x"), "plain.llvm.x");
}

}  // namespace
}  // namespace gpuprof::analysis
