// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Call stacks for hooks: the one face of tracer/stack/ towards the rest of the tracer.
//
// CaptureStack runs on application threads inside hooks and signal handlers: it never allocates
// from the host, never takes the loader's lock, never touches memory outside the running thread's
// stack, keeps errno, and has no state that a fork could leave locked without telling it. The rest
// runs on the control thread, or around fork on the forking one.

#pragma once

#include <cstdint>

namespace gpuprof::tracer {

// Why stacks came out as they did; counted since the process began, never reset. Statistics:
// updates may be lost.
struct StackCounters {
  uint64_t rules_resolved;  // call sites whose unwind rule was read from the program's tables
  uint64_t no_rule;         // walks that ended early: code without usable unwind rules and no frame
                            // pointer either
  uint64_t
      guessed_frames;      // frames found by following a frame pointer in code without unwind rules
  uint64_t out_of_bounds;  // walks that ended early because the next frame lay outside the stack
  uint64_t foreign_stacks;  // captures on a stack whose extent is unknown: only its innermost page
                            // was walked
  uint64_t no_resolver;  // walks cut because rules could not be read just then (a fork under way,
                         // little stack left)
};

// Once, before the first capture. `depth`: most frames wanted, 1..proto::kMaxStackFrames. Allocates
// the rule cache.
void StackInit(uint32_t depth);

// The contract of Api::capture_stack: return addresses, innermost first, beginning with the return
// address of the hook whose __builtin_frame_address(0) is `frame`. A frame interrupted by a signal
// is told by its exact address.
uint32_t CaptureStack(uint64_t* pcs, uint32_t most, const void* frame);

// Every tick: learns of modules loaded or unloaded since the last call. One dl_iterate_phdr step
// when nothing changed. May wait for the loader's lock. True: something changed.
bool StackTick();
// The unconditional half of StackTick: forgets every cached rule and reads the list of modules
// anew.
void StackModulesChanged();

// Around fork. Before: waits (at most 50 ms) until no thread reads unwind tables; until after, none
// begins to.
void StackBeforeFork();
void StackAfterForkParent();
void StackAfterForkChild();

StackCounters ReadStackCounters();

}  // namespace gpuprof::tracer
