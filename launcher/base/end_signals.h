// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The signals that end a verb which goes on until somebody ends it: Ctrl-C, kill, a terminal that
// closes. They are blocked and waited for, so that what was begun can be ended in order.

#pragma once

#include <signal.h>

#include "proto/codec/open_regular.h"

namespace gpuprof::launcher {

// Blocks the signals for the calling thread. Made before the first thread, so that all threads
// block them. They stay blocked.
class EndSignals {
 public:
  EndSignals();

  // Is readable once a signal has come; -1: the system gives no descriptor. Does not block.
  int fd() const { return file_.fd(); }
  // Waits for one.
  void Await() const;
  // Returns what the thread had blocked before: for programs that it starts.
  const sigset_t& before() const { return before_; }

 private:
  sigset_t signals_ = {};
  sigset_t before_ = {};
  codec::OwnedFile file_;
};

}  // namespace gpuprof::launcher
