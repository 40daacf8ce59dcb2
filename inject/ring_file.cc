// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/ring_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "inject/given_files.h"
#include "inject/own_room.h"
#include "inject/raw_log.h"
#include "inject/raw_syscall.h"
#include "inject/real_pages.h"
#include "inject/state.h"
#include "inject/text.h"

namespace gpuprof::inject {
namespace {

using proto::RingFileHeader;
using proto::RingHeader;

constexpr uint64_t kHeaderBytes =
    (sizeof(RingFileHeader) + proto::kPageBytes - 1) / proto::kPageBytes * proto::kPageBytes;

// Largest ring, at least and as a share of the budget; the next ones shrink, see NextRingBytes().
// With every allocation of the program in it, it must last while the drain waits for a processor.
constexpr uint64_t kFirstRingBytes = 1u << 20;
constexpr uint64_t kFirstRingShare = 32;
constexpr uint64_t kFirstExactRingShare = 8;
constexpr uint64_t kReserveShare = 4;  // a quarter of the budget is kept for many small rings
// The sum of 1/n up to the most rings there can be, less what rounding down to powers of two saves.
constexpr uint64_t kRingShare = 6;
constexpr uint64_t kFewRings = 6;

// How many bytes of a ring's records are on the disk at first.
constexpr uint64_t kFewRecordsBytes = proto::kMinRingBytes;
constexpr uint32_t kGrowth = 4;

int g_error = 0;             // see RingFileError()
uint64_t g_first_bytes = 0;  // of the file, as it was made
// The file that this process made. Who owns the folder may exchange the name.
dev_t g_device = 0;
ino_t g_inode = 0;

void RingFilePath(Text* path) {
  path->Add(g_settings.bundle).Add("/").Add(g_settings.file_stem).Add(proto::kRingSuffix);
}

bool IsOurs(long fd, bool is_new) {
  struct stat status;
  if (raw::Call(SYS_fstat, fd, raw::Arg(&status)) != 0) return false;
  if (!is_new)
    return S_ISREG(status.st_mode) && status.st_dev == g_device && status.st_ino == g_inode;
  g_device = status.st_dev;
  g_inode = status.st_ino;
  // The program's umask may be so strict that the file could not be opened again for the next ring.
  if ((status.st_mode & 0600) != 0600) raw::Call(SYS_fchmod, fd, 0600);
  return true;
}

long OpenFile(int flags) {
  char buffer[640];
  Text path(buffer, sizeof(buffer));
  const bool is_given = GivenRing()[0] != 0;
  is_given ? void(path.Add(GivenRing())) : RingFilePath(&path);
  const int how = is_given ? flags & ~(O_CREAT | O_EXCL) : flags | O_NOFOLLOW;
  long fd = -EINTR;
  while (fd == -EINTR)
    fd = raw::Call(SYS_openat, AT_FDCWD, raw::Arg(buffer), how | O_CLOEXEC, 0600);
  if (fd >= 0 && !IsOurs(fd, (flags & O_CREAT) != 0)) {
    raw::Call(SYS_close, fd);
    fd = -EPERM;
  }
  if (fd < 0 && g_error == 0) g_error = static_cast<int>(-fd);
  return fd;
}

// A part of the file and its mapping.
struct Part {
  char* address;
  uint64_t offset;
  uint64_t bytes;
};

bool Allocate(long fd, uint64_t offset, uint64_t bytes) {
  const int error = AllocatePages(fd, offset, bytes);
  if (error != 0) g_error = error;
  return error == 0;
}

// Makes it real. `fd` is the file; negative: it is opened if need be.
bool MakeReal(const Part& part, long fd) {
  if (PopulatePages(part.address, part.bytes)) return true;
  if (fd >= 0) return Allocate(fd, part.offset, part.bytes);
  const long own = OpenFile(O_RDWR);
  const bool made = own >= 0 && Allocate(own, part.offset, part.bytes);
  if (own >= 0) raw::Call(SYS_close, own);
  return made;
}

void* Map(long fd, uint64_t offset, uint64_t bytes) {
  const int flags = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  NoteMapped(static_cast<int64_t>(bytes), fd >= 0);
  const long address = raw::Call(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE,
                                 flags, fd, fd >= 0 ? static_cast<long>(offset) : 0);
  if (raw::IsError(address)) {
    NoteMapped(-static_cast<int64_t>(bytes), fd >= 0);
    return nullptr;
  }
  // A forked child must not see, let alone write, its parent's rings.
  raw::Call(SYS_madvise, address, static_cast<long>(bytes), MADV_DONTFORK);
  // The kernel would read 128 KiB of zeros ahead for each page that a short process touches.
  if (fd >= 0) raw::Call(SYS_madvise, address, static_cast<long>(bytes), MADV_RANDOM);
  return reinterpret_cast<void*>(address);
}

void NotePlace(RingFileHeader* header) {
  struct stat status;
  utsname names;
  if (raw::Call(SYS_newfstatat, AT_FDCWD, raw::Arg("/proc/self/ns/pid"), raw::Arg(&status), 0) == 0)
    header->pid_namespace = status.st_ino;
  if (raw::Call(SYS_uname, raw::Arg(&names)) == 0)
    Text(header->host, sizeof(header->host)).Add(names.nodename);
}

void FillHeader(RingFileHeader* header) {
  header->version = proto::kRingFileVersion;
  header->header_bytes = static_cast<uint32_t>(kHeaderBytes);
  header->pid = g_process.pid;
  header->ppid = static_cast<int32_t>(raw::Call(SYS_getppid));
  header->is_forked = g_process.is_forked;
  header->start_id = g_settings.start_id;
  header->clock_kind = static_cast<uint64_t>(g_process.clock);
  header->snapshot_ticks = proto::ReadTicks(g_process.clock);
  header->snapshot_monotonic_ns = proto::ReadClockNs(CLOCK_MONOTONIC);
  header->snapshot_realtime_ns = proto::ReadClockNs(CLOCK_REALTIME);
  header->ticks_per_second = g_settings.ticks_per_second;
  header->heap_mode = static_cast<uint32_t>(g_settings.heap_mode);
  header->heap_period = g_settings.heap_period;
  header->capture.store(g_process.captures.load(std::memory_order_relaxed),
                        std::memory_order_relaxed);
  header->namespaces.store(g_namespaces.load(std::memory_order_relaxed), std::memory_order_relaxed);
  header->file_bytes.store(kHeaderBytes, std::memory_order_relaxed);
  const long n = raw::Call(SYS_readlink, raw::Arg("/proc/self/exe"), raw::Arg(header->executable),
                           sizeof(header->executable) - 1);
  if (n > 0) header->executable[n] = 0;
  header->segments = static_cast<uint32_t>(
      g_settings.flight_bytes != 0 ? proto::RingSegments::kMaybe : proto::RingSegments::kNone);
  NotePlace(header);
  header->magic = proto::kRingFileMagic;
}

// How large the next ring may be. The n-th gets about an n-th of a fixed share of the budget: the
// first threads get the most, the sum grows with the logarithm of their number only, and hundreds
// still get something; then the smallest size from the reserve. With exact heaps the first few,
// which are most often those that work, get a fair share of what is left.
uint64_t NextRingBytes() {
  const uint64_t used = g_process.ring_bytes_used.load(std::memory_order_relaxed);
  const uint64_t normal = g_ring_memory - g_ring_memory / kReserveShare;
  const uint64_t number = g_process.ring_count.load(std::memory_order_relaxed) + 1;
  uint64_t share = normal / (kRingShare * number);
  const bool exact = g_settings.heap_mode == proto::HeapMode::kExact;
  if (exact && number <= kFewRings && used < normal && (normal - used) / 4 > share) {
    share = (normal - used) / 4;
  }
  uint64_t most = g_ring_memory / (exact ? kFirstExactRingShare : kFirstRingShare);
  if (most < kFirstRingBytes) most = kFirstRingBytes;
  uint64_t bytes = proto::kMinRingBytes;
  while (bytes * 2 <= most && bytes * 2 <= share && bytes < proto::kMaxRingBytes) bytes *= 2;
  if (used + bytes <= normal) return bytes;
  return used + proto::kMinRingBytes <= g_ring_memory ? proto::kMinRingBytes : 0;
}

RingHeader* ReuseRing() {
  const uint32_t count = g_process.ring_count.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count && i < proto::kMaxRings; ++i) {
    RingHeader* ring = __atomic_load_n(&g_rings[i], __ATOMIC_ACQUIRE);
    if (ring == nullptr) continue;
    uint32_t expected = static_cast<uint32_t>(proto::RingState::kFree);
    if (ring->state.compare_exchange_strong(expected,
                                            static_cast<uint32_t>(proto::RingState::kClaimed)))
      return ring;
  }
  return nullptr;
}

void TakeOver(RingHeader* ring, int tid) {
  ring->tid = tid;
  ring->opened = proto::ReadTicks(g_process.clock);
  ring->last_time = 0;
  ring->last_stack_frames = 0;
  ring->open_ops.store(0, std::memory_order_relaxed);
  ring->open_ranges.store(0, std::memory_order_relaxed);
  ring->open_calls.store(0, std::memory_order_relaxed);
  ring->open_wait_start.store(0, std::memory_order_relaxed);
  raw::Call(SYS_prctl, 16 /* PR_GET_NAME */, raw::Arg(ring->name));
  ring->track = g_process.next_track.fetch_add(1, std::memory_order_relaxed) + 1;
  ring->state.store(static_cast<uint32_t>(proto::RingState::kOwned), std::memory_order_release);
}

// The entry of one of the first threads is on the header's first page, which is real.
bool HasRealEntry(const RingFileHeader* file, uint32_t slot) {
  const auto* entry = reinterpret_cast<const char*>(&file->directory[slot]);
  const auto at = static_cast<uint64_t>(entry - reinterpret_cast<const char*>(file));
  if (at + sizeof(file->directory[slot]) <= proto::kPageBytes) return true;
  const uint64_t page = at / proto::kPageBytes * proto::kPageBytes;
  char* address = const_cast<char*>(entry) - (at - page);
  return MakeReal({address, page, proto::kPageBytes}, -1);
}

// Returns the ring's mapping; its header, its first records and its place in the file are real.
// Null: the file cannot have it.
RingHeader* MapInFile(uint64_t offset, uint64_t total) {
  const long fd = OpenFile(O_RDWR);
  if (fd < 0) return nullptr;
  // Only its last page makes the file longer without ever making it shorter, whatever other threads
  // do.
  const bool has_place = offset + total <= g_first_bytes ||
                         Allocate(fd, offset + total - proto::kPageBytes, proto::kPageBytes);
  char* address = has_place ? static_cast<char*>(Map(fd, offset, total)) : nullptr;
  const uint64_t real = proto::kRingHeaderBytes + kFewRecordsBytes;
  if (address != nullptr && !MakeReal({address, offset, real}, fd)) {
    raw::Call(SYS_munmap, raw::Arg(address), static_cast<long>(total));
    address = nullptr;
  }
  raw::Call(SYS_close, fd);
  return reinterpret_cast<RingHeader*>(address);
}

RingHeader* NewRing(int tid) {
  const uint64_t bytes = NextRingBytes();
  if (bytes == 0) return nullptr;
  const uint32_t slot = g_process.ring_count.fetch_add(1, std::memory_order_relaxed);
  if (slot >= proto::kMaxRings) {
    g_process.ring_count.fetch_sub(1, std::memory_order_relaxed);
    return nullptr;
  }
  g_process.ring_bytes_used.fetch_add(bytes, std::memory_order_relaxed);
  const uint64_t total = proto::kRingHeaderBytes + bytes;
  RingFileHeader* file = g_process.ring_file;
  const uint64_t offset = file->file_bytes.fetch_add(total, std::memory_order_relaxed);
  RingHeader* ring = HasRealEntry(file, slot) ? MapInFile(offset, total) : nullptr;
  const bool in_file = ring != nullptr;
  if (!in_file) {
    ring = static_cast<RingHeader*>(Map(-1, 0, total));
    if (ring == nullptr) return nullptr;
    file->rings_outside.fetch_add(1, std::memory_order_relaxed);
    Debug("a ring is in anonymous memory: its last events are lost if the process is killed");
  }
  ring->magic = proto::kRingMagic;
  ring->most = static_cast<uint32_t>(bytes / proto::kRecordBytes);
  ring->capacity = in_file ? kFewRecordsBytes / proto::kRecordBytes : ring->most;
  TakeOver(ring, tid);
  if (in_file) {
    file->directory[slot].bytes = total;
    file->directory[slot].offset.store(offset, std::memory_order_release);
    file->ring_count.store(slot + 1 > file->ring_count.load() ? slot + 1 : file->ring_count.load(),
                           std::memory_order_release);
  }
  __atomic_store_n(&g_rings[slot], ring, __ATOMIC_RELEASE);
  return ring;
}

// What was counted before there was a file.
void MoveEarlyEdges() {
  const uint64_t count = g_process.early_thread_edges.exchange(0);
  if (count != 0) g_process.ring_file->thread_edges.fetch_add(count, std::memory_order_relaxed);
}

// Returns the mapping of a new file's header. Null: there can be no file. Of the directory only the
// first page is real; most processes have few threads.
RingFileHeader* MakeFile() {
  const long fd = OpenFile(O_RDWR | O_CREAT | O_EXCL);
  if (fd < 0) return nullptr;
  constexpr uint64_t kTail =
      offsetof(RingFileHeader, ranges_unpaired) / proto::kPageBytes * proto::kPageBytes;
  // With a place for the first ring, if files may be so large.
  const uint64_t with_ring = kHeaderBytes + proto::kRingHeaderBytes + NextRingBytes();
  const uint64_t last = with_ring - proto::kPageBytes;
  g_first_bytes = AllocatePages(fd, last, proto::kPageBytes) == 0 ? with_ring : 0;
  char* address = nullptr;
  if (g_first_bytes != 0 || Allocate(fd, 0, kHeaderBytes))
    address = static_cast<char*>(Map(fd, 0, kHeaderBytes));
  if (address != nullptr && !(MakeReal({address, 0, proto::kPageBytes}, fd) &&
                              MakeReal({address + kTail, kTail, kHeaderBytes - kTail}, fd))) {
    raw::Call(SYS_munmap, raw::Arg(address), kHeaderBytes);
    address = nullptr;
  }
  raw::Call(SYS_close, fd);
  if (address == nullptr) RemoveRingFile();  // a file without a header tells nobody anything
  return reinterpret_cast<RingFileHeader*>(address);
}

}  // namespace

bool EnsureRingFile() noexcept {
  uint32_t state = g_process.ring_file_state.load(std::memory_order_acquire);
  if (state == 2) return true;
  if (state != 0 || !g_process.ring_file_state.compare_exchange_strong(state, 1)) return false;
  g_error = 0;
  RingFileHeader* header = MakeFile();
  if (header == nullptr) {
    header = static_cast<RingFileHeader*>(Map(-1, 0, kHeaderBytes));
    if (header == nullptr) {
      g_process.ring_file_state.store(0, std::memory_order_release);
      return false;
    }
  }
  FillHeader(header);
  g_process.ring_file = header;
  g_process.ring_file_state.store(2);
  MoveEarlyEdges();
  return true;
}

proto::RingHeader* OpenRing(int tid) noexcept {
  if (!EnsureRingFile()) return nullptr;
  RingHeader* ring = ReuseRing();
  if (ring != nullptr) {
    TakeOver(ring, tid);
    return ring;
  }
  return NewRing(tid);
}

bool GrowRing(proto::RingHeader* ring) noexcept {
  const RingFileHeader* file = g_process.ring_file;
  uint32_t slot = 0;
  while (slot < proto::kMaxRings && __atomic_load_n(&g_rings[slot], __ATOMIC_RELAXED) != ring)
    ++slot;
  // Not in a child that was forked by a signal handler, inside the hook that it interrupted.
  if (file == nullptr || slot == proto::kMaxRings) return false;
  const uint64_t offset = file->directory[slot].offset.load(std::memory_order_relaxed);
  const uint64_t had = proto::kRingHeaderBytes + uint64_t{ring->capacity} * proto::kRecordBytes;
  const uint32_t records =
      ring->capacity > ring->most / kGrowth ? ring->most : ring->capacity * kGrowth;
  const uint64_t more = uint64_t{records - ring->capacity} * proto::kRecordBytes;
  const int error = g_error;
  const bool made = MakeReal({reinterpret_cast<char*>(ring) + had, offset + had, more}, -1);
  g_error = error;  // the ring is in the file as before
  if (made) ring->capacity = records;
  return made;
}

void CloseRing(proto::RingHeader* ring) noexcept {
  ring->state.store(static_cast<uint32_t>(proto::RingState::kClosed), std::memory_order_release);
}

void CountThreadEdge() noexcept {
  g_process.early_thread_edges.fetch_add(1);
  if (g_process.ring_file_state.load() == 2) MoveEarlyEdges();
}

void CountLostWithoutFile() noexcept {
  RingFileHeader* file = g_process.ring_file;
  if (file == nullptr || file->rings_outside.exchange(0) == 0) return;
  for (uint32_t slot = 0; slot < proto::kMaxRings; ++slot) {
    const RingHeader* ring = __atomic_load_n(&g_rings[slot], __ATOMIC_ACQUIRE);
    if (ring == nullptr || file->directory[slot].offset.load() != 0) continue;
    const uint64_t records = ring->head.load() - ring->tail.load();
    file->no_ring.fetch_add(records + ring->dropped.load(), std::memory_order_relaxed);
  }
}

void NoteTrouble(const char* text) noexcept {
  RingFileHeader* file = g_process.ring_file;
  if (file == nullptr) return;
  Text(file->trouble, sizeof(file->trouble)).Add(text);
}

void UpdateLatestSnapshot() noexcept {
  RingFileHeader* file = g_process.ring_file;
  if (file == nullptr) return;
  file->latest_ticks = proto::ReadTicks(g_process.clock);
  file->latest_monotonic_ns = proto::ReadClockNs(CLOCK_MONOTONIC);
  file->latest_realtime_ns = proto::ReadClockNs(CLOCK_REALTIME);
}

void NoteOwnTime(uint64_t ns) noexcept {
  RingFileHeader* file = g_process.ring_file;
  if (file != nullptr) file->begin_end_cpu_ns.fetch_add(ns, std::memory_order_relaxed);
}

int RingFileError() noexcept { return g_error; }

void UnmapRings() noexcept {
  const auto unmap = [](void* at, uint64_t bytes, bool is_in_file) {
    raw::Call(SYS_munmap, raw::Arg(at), static_cast<long>(bytes));
    NoteMapped(-static_cast<int64_t>(bytes), is_in_file);
  };
  RingFileHeader* file = g_process.ring_file;
  if (file == nullptr) return;
  for (uint32_t slot = 0; slot < proto::kMaxRings; ++slot) {
    RingHeader* ring = g_rings[slot];
    if (ring == nullptr) continue;
    g_rings[slot] = nullptr;
    const bool is_in_file = file->directory[slot].offset.load() != 0;
    unmap(ring, proto::kRingHeaderBytes + uint64_t{ring->most} * proto::kRecordBytes, is_in_file);
  }
  g_process.ring_file = nullptr;
  t_thread.ring = nullptr;
  unmap(file, kHeaderBytes, true);
}

void RemoveRingFile() noexcept {
  char buffer[640];
  Text path(buffer, sizeof(buffer));
  RingFilePath(&path);
  raw::Call(SYS_unlinkat, AT_FDCWD, raw::Arg(buffer), 0);
}

}  // namespace gpuprof::inject
