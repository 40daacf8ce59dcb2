// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the kinds of waits mean and how they are called. Any thread.

#pragma once

#include <string_view>

#include "proto/record.h"

namespace gpuprof::analysis {

// A wait because another thread held the lock, not one that is made to last.
constexpr bool IsContention(proto::WaitKind kind) {
  return kind == proto::WaitKind::kMutex || kind == proto::WaitKind::kRwlockRead ||
         kind == proto::WaitKind::kRwlockWrite;
}

constexpr std::string_view WaitKindName(proto::WaitKind kind) {
  switch (kind) {
    case proto::WaitKind::kMutex:
      return "mutex";
    case proto::WaitKind::kRwlockRead:
      return "rwlock_read";
    case proto::WaitKind::kRwlockWrite:
      return "rwlock_write";
    case proto::WaitKind::kCondition:
      return "condition";
    case proto::WaitKind::kSemaphore:
      return "semaphore";
    case proto::WaitKind::kBarrier:
      return "barrier";
    case proto::WaitKind::kJoin:
      return "join";
  }
  return "unknown";
}

}  // namespace gpuprof::analysis
