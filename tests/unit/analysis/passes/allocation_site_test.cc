// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The frame that gives a stack of the heap its name.

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace gpuprof::analysis
