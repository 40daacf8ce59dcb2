// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The frame that gives a stack of the heap its name.

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "analysis/passes/context.h"
#include "proto/results/meta.pb.h"

namespace gpuprof::analysis {
namespace {

TEST(AllocationSite, SkipsTheAllocatorsOwnFrames) {
  google::protobuf::RepeatedPtrField<results::Frame> frames;
  const auto site = [&frames] {
    std::vector<const results::Frame*> stack;
    for (const results::Frame& frame : frames) stack.push_back(&frame);
    return AllocationSite(stack);
  };
  for (const char* name :
       {"malloc", "operator new(unsigned long)", "load_image(char const*)", "main"}) {
    frames.Add()->set_name(name);
  }
  EXPECT_EQ(site(), "load_image(char const*)");
  frames.DeleteSubrange(2, 2);
  EXPECT_EQ(site(), "malloc");
  frames.Clear();
  for (const char* name :
       {"malloc", "void std::__invoke_impl<void, main::{lambda()#1}>(std::__invoke_other)",
        "std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{lambda()#1}> > >::_M_run",
        "execute_native_thread_routine", "start_thread"}) {
    frames.Add()->set_name(name);
  }
  EXPECT_EQ(site(), frames[1].name()) << "it is all there is";
  frames[1].set_name("main::{lambda()#1}::operator()() const");
  EXPECT_EQ(site(), frames[1].name());
  std::swap(frames[1], frames[2]);
  EXPECT_EQ(site(), frames[2].name());
  frames.Clear();
  EXPECT_EQ(site(), "");
}

TEST(AllocationSite, SkipsTheStandardLibrary) {
  google::protobuf::RepeatedPtrField<results::Frame> frames;
  const auto site = [&frames](std::initializer_list<const char*> names) {
    frames.Clear();
    for (const char* name : names) frames.Add()->set_name(name);
    std::vector<const results::Frame*> stack;
    for (const results::Frame& frame : frames) stack.push_back(&frame);
    return AllocationSite(stack);
  };
  const char* const construct =
      "void std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::"
      "_M_construct<char*>(char*, char*, std::forward_iterator_tag)";
  const char* const insert =
      "void std::vector<std::string, std::allocator<std::string> >::_M_realloc_insert<std::string>"
      "(__gnu_cxx::__normal_iterator<std::string*, std::vector<std::string> >, std::string&&)";
  EXPECT_EQ(site({"malloc", construct, insert, "parse_request(char const*)", "main"}),
            "parse_request(char const*)");
  // What a function returns or takes is not where it is.
  EXPECT_EQ(site({construct, "std::string make_key<int>(std::vector<int> const&)", "main"}),
            "std::string make_key<int>(std::vector<int> const&)");
  EXPECT_EQ(site({construct, "(anonymous namespace)::Store::add(std::string)", "main"}),
            "(anonymous namespace)::Store::add(std::string)");
  // A library without symbols is known by its file.
  frames.Clear();
  frames.Add()->set_name("libstdc++.so.6+0x12345");
  frames[0].set_module("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
  frames.Add()->set_name("handle");
  EXPECT_EQ(AllocationSite({&frames[0], &frames[1]}), "handle");
  // Nothing else allocated: the library's own function is all that there is.
  EXPECT_EQ(site({"malloc", construct}), construct);
}

}  // namespace
}  // namespace gpuprof::analysis
