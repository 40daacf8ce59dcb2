// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Hands memos out, one a thread, until there are no more; a thread that ends does not give its own
// back, which would need a destructor in the program's threads.

#include "tracer/stack/walk_memo.h"
#include "tracer/base/map_table.h"

#include <atomic>

namespace gpuprof::tracer {
namespace {

constinit std::atomic<ThreadMemo*> memos = nullptr;
constinit std::atomic<uint32_t> memos_used = 0;

// 0: not asked yet; otherwise the number of the memo plus one.
[[gnu::tls_model("initial-exec")]] constinit thread_local uint32_t memo_number = 0;

[[gnu::noinline, gnu::cold]] uint32_t TakeNumber() noexcept {
  if (memos_used.load(std::memory_order_relaxed) >= kMostMemos) return kMostMemos + 1;
  const uint32_t number = memos_used.fetch_add(1, std::memory_order_relaxed);
  return number < kMostMemos ? number + 1 : kMostMemos + 1;
}

}  // namespace

void MemosInit() {
  if (memos.load(std::memory_order_relaxed) != nullptr) return;
  void* memory = MapTable(kMostMemos * sizeof(ThreadMemo));
  if (memory != nullptr) memos.store(static_cast<ThreadMemo*>(memory));
}

ThreadMemo* MemoOfThread() noexcept {
  ThreadMemo* all = memos.load(std::memory_order_relaxed);
  if (all == nullptr) return nullptr;
  if (__builtin_expect(memo_number == 0, 0)) memo_number = TakeNumber();
  return memo_number <= kMostMemos ? &all[memo_number - 1] : nullptr;
}

}  // namespace gpuprof::tracer
