// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The mmap family: memory that programs and their allocators take from the kernel by whole pages,
// and files that they map. What libc maps for itself (its heap, thread stacks, libraries) does not
// pass here. Every call is recorded: they are few. An unmapping carries the time before the call:
// once the real function has run, another thread may be given the same pages, and its mapping must
// come later in the trace. Shared memory of System V is mapped memory too.

// Not <sys/mman.h>: it declares mremap with three dots.
#include <errno.h>
#include <linux/mman.h>
#include <stdint.h>
#include <sys/shm.h>

#include <atomic>

#include "inject/hook_list.h"
#include "inject/own_room.h"
#include "inject/raw_syscall.h"
#include "inject/real_symbols.h"
#include "inject/recorder.h"

using namespace gpuprof;
using namespace gpuprof::inject;

namespace {

using proto::MapEvent;

proto::Record MapRecord(MapEvent event, uint8_t flags, const void* address, size_t bytes,
                        uint64_t time) {
  return {time,
          0,
          static_cast<uint8_t>(proto::RecordKind::kMapping),
          flags,
          static_cast<uint16_t>(event),
          reinterpret_cast<uint64_t>(address),
          bytes};
}

// Whether a limit of memory, or of locked memory, was in the way.
bool IsShort(int error) { return error == ENOMEM || error == EAGAIN; }

bool Failed(const void* address) { return reinterpret_cast<intptr_t>(address) == -1; }

void RecordMap(MapEvent event, const void* address, size_t bytes, uint8_t flags,
               const void* frame) {
  const HookTimer timer;
  Recorder recorder(proto::kSourceMmap);
  if (!recorder.active()) return;
  recorder.WriteWithStack(MapRecord(event, flags, address, bytes, recorder.Now()), frame);
}

void RecordUnmap(MapEvent event, const void* address, size_t bytes, uint64_t time) {
  const HookTimer timer;
  Recorder recorder(proto::kSourceMmap);
  if (recorder.active()) recorder.Write(MapRecord(event, 0, address, bytes, time));
}

uint8_t FlagsOf(int protection, int flags) {
  return ((flags & MAP_ANONYMOUS) != 0 ? 0 : proto::kFlagFile) |
         (protection == PROT_NONE ? proto::kFlagNoAccess : 0);
}

template <typename Call>
void* Map(int protection, int flags, size_t bytes, const void* frame, Call call) {
  void* at = call();
  if (__builtin_expect(Failed(at), 0) && IsShort(errno) && GiveBack(bytes)) at = call();
  if (Recording(proto::kSourceMmap) && !Failed(at)) {
    RecordMap(MapEvent::kMmap, at, bytes, FlagsOf(protection, flags), frame);
  }
  return at;
}

// The sizes of segments that are attached: shmdt() does not tell. More than these are recorded as
// attached until the end.
constexpr int kSegments = 64;
struct Segment {
  std::atomic<const void*> address;
  size_t bytes;
};
constinit Segment g_segments[kSegments] = {};

size_t BytesOfSegment(int id) {
  shmid_ds info = {};
  return raw::Call(SYS_shmctl, id, IPC_STAT, raw::Arg(&info)) == 0 ? info.shm_segsz : 0;
}

void KeepSegment(const void* address, size_t bytes) {
  for (Segment& segment : g_segments) {
    const void* none = nullptr;
    if (!segment.address.compare_exchange_strong(none, address)) continue;
    segment.bytes = bytes;
    return;
  }
}

size_t ForgetSegment(const void* address) {
  for (Segment& segment : g_segments) {
    if (segment.address.load() != address) continue;
    const size_t bytes = segment.bytes;
    segment.address.store(nullptr);
    return bytes;
  }
  return 0;
}

}  // namespace

extern "C" {

GPUPROF_EXPORT void* shmat(int id, const void* address, int flags) {
  void* at = real.shmat(id, address, flags);
  if (!Recording(proto::kSourceMmap) || Failed(at)) return at;
  const size_t bytes = BytesOfSegment(id);
  if (bytes == 0) return at;
  KeepSegment(at, bytes);
  RecordMap(MapEvent::kMmap, at, bytes, 0, __builtin_frame_address(0));
  return at;
}

GPUPROF_EXPORT int shmdt(const void* address) {
  if (!Recording(proto::kSourceMmap)) return real.shmdt(address);
  const uint64_t before = proto::ReadTicks(g_process.clock);
  const int result = real.shmdt(address);
  if (result != 0) return result;
  const size_t bytes = ForgetSegment(address);
  if (bytes != 0) RecordUnmap(MapEvent::kMunmap, address, bytes, before);
  return result;
}

GPUPROF_EXPORT void* mmap(void* address, size_t bytes, int protection, int flags, int fd,
                          off_t offset) {
  return Map(protection, flags, bytes, __builtin_frame_address(0),
             [=] { return real.mmap(address, bytes, protection, flags, fd, offset); });
}

GPUPROF_EXPORT void* mmap64(void* address, size_t bytes, int protection, int flags, int fd,
                            off64_t offset) {
  return Map(protection, flags, bytes, __builtin_frame_address(0),
             [=] { return real.mmap64(address, bytes, protection, flags, fd, offset); });
}

GPUPROF_EXPORT int munmap(void* address, size_t bytes) {
  if (!Recording(proto::kSourceMmap)) return real.munmap(address, bytes);
  const uint64_t before = proto::ReadTicks(g_process.clock);
  const int result = real.munmap(address, bytes);
  if (result == 0) RecordUnmap(MapEvent::kMunmap, address, bytes, before);
  return result;
}

// `to` is there with MREMAP_FIXED only; what an older caller left in its place is passed on unread.
GPUPROF_EXPORT void* mremap(void* old, size_t old_bytes, size_t bytes, int flags, void* to) {
  if (!Recording(proto::kSourceMmap)) return real.mremap(old, old_bytes, bytes, flags, to);
  const uint64_t before = proto::ReadTicks(g_process.clock);
  void* at = real.mremap(old, old_bytes, bytes, flags, to);
  if (Failed(at)) return at;
  // Of no old bytes it makes a second mapping of the same pages; MREMAP_DONTUNMAP empties the old.
  if (old_bytes != 0 && (flags & MREMAP_DONTUNMAP) == 0) {
    RecordUnmap(MapEvent::kMremapFrom, old, old_bytes, before);
  }
  RecordMap(MapEvent::kMremap, at, bytes, 0, __builtin_frame_address(0));
  return at;
}

}  // extern "C"
