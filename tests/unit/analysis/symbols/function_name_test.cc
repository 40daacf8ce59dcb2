// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Demangled names as tables and stacks show them.

#include "analysis/symbols/function_name.h"

#include <gtest/gtest.h>

namespace gpuprof::analysis {
namespace {

TEST(ShortFunctionName, DropsParametersTemplateArgumentsAndReturnTypes) {
  EXPECT_EQ(ShortFunctionName("at::_ops::add::call(at::Tensor const&, c10::Scalar const&)"),
            "at::_ops::add::call");
  EXPECT_EQ(ShortFunctionName("void f<int>(int)"), "f<int>");
  EXPECT_EQ(ShortFunctionName("std::vector<int, std::allocator<int> >::push_back(int&&)"),
            "std::vector<int>::push_back");
  EXPECT_EQ(ShortFunctionName("std::pair<a, b> ns::g<c<d> >(e) const"), "ns::g<c<...>>");
  EXPECT_EQ(ShortFunctionName("f(int) [clone .isra.0]"), "f");
  EXPECT_EQ(ShortFunctionName("virtual thunk to A::f()"), "A::f");
}

TEST(ShortFunctionName, KeepsWhatNames) {
  EXPECT_EQ(ShortFunctionName("at::(anonymous namespace)::f(int)"), "at::f");
  EXPECT_EQ(ShortFunctionName("A::operator()(int) const"), "A::operator()");
  EXPECT_EQ(ShortFunctionName("std::ostream& operator<< <char>(std::ostream&, char)"),
            "operator<< <char>");
  EXPECT_EQ(ShortFunctionName("operator new(unsigned long)"), "operator new");
  EXPECT_EQ(ShortFunctionName("A::operator bool() const"), "A::operator bool");
  EXPECT_EQ(ShortFunctionName("main::{lambda(int)#1}::operator()(int) const"),
            "main::{lambda#1}::operator()");
  EXPECT_EQ(ShortFunctionName("run(int)::{lambda(std::pair<a, b>)#2}::_FUN(c)"),
            "run::{lambda#2}::_FUN");
  EXPECT_EQ(ShortFunctionName("A::operator->() const"), "A::operator->");
}

TEST(ShortFunctionName, KeepsLinesAndFunctionsOfPython) {
  for (const char* frame : {"/srv/app (v2)/train.py(12): Net.step", "<string>(1): <module>"})
    EXPECT_EQ(ShortFunctionName(frame), frame);
  EXPECT_EQ(ShortFunctionName("f(12)"), "f");
}

TEST(ShortFunctionName, FoldsStringsAndNamespaces) {
  EXPECT_EQ(ShortFunctionName("std::__cxx11::basic_string<char, std::char_traits<char>, "
                              "std::allocator<char> >::append(char const*)"),
            "std::string::append");
  EXPECT_EQ(ShortFunctionName("std::map<std::__cxx11::basic_string<char, std::char_traits<char>, "
                              "std::allocator<char> >, int, std::less<x>, y>::find(int)"),
            "std::map<std::string, int, y>::find");
  EXPECT_EQ(ShortFunctionName("f<a_type_with_a_long_name, and_another>(int)"), "f<...>");
  EXPECT_EQ(ShortFunctionName("one::two_with_a_longer_name::three_with_a_longer_name::"
                              "four_with_a_longer_name::last_class::method(int)"),
            "one::...::last_class::method");
}

TEST(ShortFunctionName, IsLinearInHostileNames) {
  // A million brackets: quadratic work would take hours.
  std::string open(1'000'000, '<'), pairs;
  for (int i = 0; i < 300'000; ++i) pairs += "f<(";
  EXPECT_EQ(ShortFunctionName("f(" + open), "f(" + open);
  EXPECT_EQ(ShortFunctionName(pairs), pairs);
  EXPECT_EQ(ShortFunctionName("g<" + std::string(1'000'000, 'x') + ">()"), "g<...>");
}

TEST(ShortOpName, DropsAutogradsNamespaces) {
  EXPECT_EQ(ShortOpName("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"),
            "evaluate_function: AccumulateGrad");
  EXPECT_EQ(ShortOpName("aten::mul"), "aten::mul");
}

TEST(ShortFunctionName, LeavesOtherNamesAlone) {
  for (const char* name :
       {"main", "train.py", "(", "f<int", "a<b(c", "}(", "operator(", "{(", " ("}) {
    EXPECT_EQ(ShortFunctionName(name), name);
  }
  EXPECT_EQ(ShortFunctionName("python3.11+0x4f9317"), "python3.11+0x4f9317");
  EXPECT_EQ(ShortFunctionName("<alloc::vec::Vec<T> as Drop>::drop(x)"),
            "<alloc::vec::Vec<T> as Drop>::drop(x)");
  EXPECT_EQ(ShortFunctionName("f(int"), "f(int");
}

}  // namespace
}  // namespace gpuprof::analysis
