// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The threads that have rings of the present trace. A process that lives on may unmap its rings
// once no thread is writing into one.

#pragma once

#include "inject/state.h"

namespace gpuprof::inject {

// Stands around the making of a ring, as the thread is not among the users yet. may_go_on() is
// false if recording has ended meanwhile.
class RingAcquisition {
 public:
  RingAcquisition() noexcept;
  ~RingAcquisition() noexcept;
  RingAcquisition(const RingAcquisition&) = delete;
  RingAcquisition& operator=(const RingAcquisition&) = delete;
  bool may_go_on() const noexcept { return may_go_on_; }

 private:
  bool may_go_on_;
};

// Notes that the calling thread has a ring now. Within a RingAcquisition.
void NoteRingUser(const ThreadState* thread) noexcept;

// Notes that the calling thread's ring is another's from here on: it ends.
void ForgetRingUser(const ThreadState* thread) noexcept;

// Waits until no thread of the program is in gpuprof's recording code, for a second at most.
// Returns whether that was so. Recording is off. On a thread of gpuprof.
bool AwaitQuietRings() noexcept;

// Forgets all threads: they have no rings any more. After a detach, and in a forked child.
void ForgetRingUsers() noexcept;

}  // namespace gpuprof::inject
