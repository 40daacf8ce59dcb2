// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/interrupted_hook.h"

#include <sys/mman.h>

#include "inject/raw_syscall.h"
#include "inject/state.h"

namespace gpuprof::inject {
namespace {

constexpr uint64_t kFileHeaderBytes =
    (sizeof(proto::RingFileHeader) + proto::kPageBytes - 1) / proto::kPageBytes * proto::kPageBytes;

// Of the thread that forks; `pages` is null where there is nothing to do.
struct Kept {
  char* pages;  // as many as the ring has, then those of the file's header
  proto::RingFileHeader* file;
};
__thread Kept t_kept __attribute__((tls_model("initial-exec")));

// The hook may be about to give the ring more room.
long RingBytes(const proto::RingHeader* ring) {
  const uint64_t records = ring->capacity > ring->most ? ring->capacity : ring->most;
  return static_cast<long>(proto::kRingHeaderBytes + records * proto::kRecordBytes);
}

}  // namespace

[[gnu::cold]] void KeepInterruptedHook() noexcept {
  const ThreadState& thread = t_thread;
  t_kept = {};
  if (thread.busy == 0 || thread.tool != 0 || thread.ring == nullptr ||
      thread.generation != g_process.generation.load(std::memory_order_relaxed))
    return;
  const long bytes = RingBytes(thread.ring);
  const long pages =
      raw::Call(SYS_mmap, 0, bytes + static_cast<long>(kFileHeaderBytes), PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw::IsError(pages)) return;
  t_kept = {reinterpret_cast<char*>(pages), g_process.ring_file};
  // The hook may have read some of it already, and goes on from there; of the records it reads
  // none.
  __builtin_memcpy(t_kept.pages, static_cast<const void*>(thread.ring), sizeof(proto::RingHeader));
}

[[gnu::cold]] void DropInterruptedHook() noexcept {
  if (t_kept.pages == nullptr) return;
  raw::Call(SYS_munmap, raw::Arg(t_kept.pages),
            RingBytes(t_thread.ring) + static_cast<long>(kFileHeaderBytes));
  t_kept = {};
}

[[gnu::cold]] void ServeInterruptedHook() noexcept {
  const Kept kept = t_kept;
  t_kept = {};
  if (kept.pages == nullptr) return;
  constexpr int kOnto = MREMAP_MAYMOVE | MREMAP_FIXED;
  const long bytes = RingBytes(reinterpret_cast<const proto::RingHeader*>(kept.pages));
  const auto file_bytes = static_cast<long>(kFileHeaderBytes);
  raw::Call(SYS_mremap, raw::Arg(kept.pages), bytes, bytes, kOnto, raw::Arg(t_thread.ring));
  raw::Call(SYS_mremap, raw::Arg(kept.pages + bytes), file_bytes, file_bytes, kOnto,
            raw::Arg(kept.file));
}

}  // namespace gpuprof::inject
