// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which kinds of waits are contention. Any thread.

#pragma once

#include "proto/record.h"

namespace gpuprof::analysis {

// A wait because another thread held the lock, not one that is made to last.
constexpr bool IsContention(proto::WaitKind kind) {
  return kind == proto::WaitKind::kMutex || kind == proto::WaitKind::kRwlockRead ||
         kind == proto::WaitKind::kRwlockWrite || kind == proto::WaitKind::kGil;
}

}  // namespace gpuprof::analysis
