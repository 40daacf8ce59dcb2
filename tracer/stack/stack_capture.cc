// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Puts the parts together: bounds, walk, modules, fork.

#include "tracer/stack/stack_capture.h"

#include "proto/record.h"
#include "tracer/stack/modules.h"
#include "tracer/stack/unwind.h"

namespace gpuprof::tracer {
namespace {

uint32_t most_frames = proto::kMaxStackFrames;

}  // namespace

void StackInit(uint32_t depth) {
  most_frames = depth < proto::kMaxStackFrames ? depth : proto::kMaxStackFrames;
  UnwindInit();
  ModulesRefresh();
}

uint32_t CaptureStack(uint64_t* pcs, uint32_t most, const void* frame) {
  const WalkStart start = StartOf(frame);
  // The hook's own frame is live, so the words up to start.sp can be read whatever stack this is.
  StackBounds bounds = BoundsOf(reinterpret_cast<uint64_t>(frame));
  if (__builtin_expect(bounds.foreign, 0)) CountUp(&stack_counters.foreign_stacks);
  return WalkRules(start, bounds, pcs, most < most_frames ? most : most_frames);
}

bool StackTick() {
  const ModulesDelta delta = ModulesSince();
  if (delta.went) {
    StackModulesChanged();
  } else if (delta.came) {
    ModulesRefresh();
  }
  return delta.came || delta.went;
}

void StackModulesChanged() {
  ModulesRefresh();
  UnwindForgetRules();
}

void StackBeforeFork() { UnwindBeforeFork(); }
void StackAfterForkParent() { UnwindAfterForkParent(); }
void StackAfterForkChild() {
  UnwindAfterForkChild();
  stack_counters = {};  // they were the parent's
}

StackCounters ReadStackCounters() { return stack_counters; }

}  // namespace gpuprof::tracer
