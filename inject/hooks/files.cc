// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Hooks of the source `files`: calls that read a file, with the file's path. Reads of pipes,
// sockets, terminals and other devices are not recorded. A read by read() that lasts is also a wait
// (blocking.h).
//
// A descriptor is looked at when it is first read from, and its path is kept until it is closed.
// libc's stdio calls the kernel without passing here, so fread() is hooked. A call of fread() that
// the stream's buffer serves alone reads no file. All are cancellation points. The guard is never
// held across the real call.

#include <stddef.h>

// The layout of a stream, and no declarations of stdio. It needs size_t.
#include <bits/types/struct_FILE.h>
#include <errno.h>
#include <linux/fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <atomic>

#include "inject/hook_list.h"
#include "inject/hooks/blocking.h"
#include "inject/hooks/thread_counts.h"
#include "inject/ranges/messages.h"
#include "inject/raw_syscall.h"
#include "inject/real_symbols.h"
#include "inject/recorder.h"
#include "inject/text.h"

using namespace gpuprof;
using namespace gpuprof::inject;

namespace {

// What a descriptor is: one of these, or the address of its path's text in the table of names.
constexpr uint64_t kUnknown = 0;
constexpr uint64_t kNoFile = 1;
constexpr uint64_t kNameless = 2;  // a file whose path is not known

// By descriptor. The upper bits say in which capture it was looked at: what is closed between
// captures passes unseen. Higher descriptors are looked at each time.
constexpr uint32_t kDescriptors = 4096;
constexpr uint32_t kCaptureShift = 48;
constexpr uint64_t kKindMask = (uint64_t{1} << kCaptureShift) - 1;
constinit std::atomic<uint64_t> g_descriptors[kDescriptors] = {};

// The generation differs in a forked child.
inline uint64_t CaptureTag() {
  const uint32_t capture = g_process.captures.load(std::memory_order_relaxed);
  const uint32_t generation = g_process.generation.load(std::memory_order_relaxed);
  return static_cast<uint16_t>(capture ^ generation << 12);
}

// Returns what is known of the descriptor in this capture.
inline uint64_t Known(int descriptor) {
  if (static_cast<uint32_t>(descriptor) >= kDescriptors) return kUnknown;
  const uint64_t word = g_descriptors[descriptor].load(std::memory_order_acquire);
  return word >> kCaptureShift == CaptureTag() ? word & kKindMask : kUnknown;
}

bool IsFile(int descriptor) {
  struct stat status;
  return raw::Call(SYS_fstat, descriptor, raw::Arg(&status)) == 0 &&
         (S_ISREG(status.st_mode) || S_ISBLK(status.st_mode));
}

// Asks the kernel. A path that is too long for the table of names is cut.
[[gnu::noinline, gnu::cold]] uint64_t Look(int descriptor) {
  if (!IsFile(descriptor)) return kNoFile;
  char link[48];
  Text(link, sizeof(link)).Add("/proc/thread-self/fd/").Number(descriptor);
  char path[proto::kMostNameBytes + 1];
  const long bytes = raw::Call(SYS_readlinkat, AT_FDCWD, raw::Arg(link), raw::Arg(path),
                               static_cast<long>(proto::kMostNameBytes));
  if (raw::IsError(bytes) || !ranges::PrepareMessages()) return kNameless;
  path[bytes] = 0;
  const ranges::Text* text = ranges::Intern(ranges::Ascii(path));
  return text == nullptr ? kNameless : reinterpret_cast<uint64_t>(text);
}

// With the guard held. Who closes a descriptor while it is read from may find either file's path.
inline uint64_t KindOf(int descriptor) {
  uint64_t kind = Known(descriptor);
  if (__builtin_expect(kind != kUnknown, 1)) return kind;
  kind = Look(descriptor);
  if (static_cast<uint32_t>(descriptor) < kDescriptors)
    g_descriptors[descriptor].store(CaptureTag() << kCaptureShift | kind,
                                    std::memory_order_release);
  return kind;
}

inline void Forget(int descriptor) {
  if (Recording(proto::kSourceFiles) && static_cast<uint32_t>(descriptor) < kDescriptors)
    g_descriptors[descriptor].store(kUnknown, std::memory_order_relaxed);
}

[[gnu::noinline, gnu::cold]] void ForgetRange(uint32_t first, uint32_t last) {
  for (uint32_t i = first; i < kDescriptors && i <= last; ++i)
    g_descriptors[i].store(kUnknown, std::memory_order_relaxed);
}

// Returns which of the sources are to record a read. Our own code reads no files of the program's.
[[gnu::noinline]] uint32_t Wanted(uint32_t sources, int descriptor) {
  uint32_t wanted = g_process.recording.load(std::memory_order_relaxed) & sources;
  if (__builtin_expect(wanted == 0, 1)) return 0;
  if (t_thread.busy != 0) wanted &= ~proto::kSourceLocks;
  if ((wanted & proto::kSourceFiles) == 0) return wanted;
  const bool is_ours = t_thread.tool != 0;
  return is_ours || Known(descriptor) == kNoFile ? wanted & ~proto::kSourceFiles : wanted;
}

struct Start {
  uint64_t time;
  uint32_t capture;
};

inline Start Begin() {
  const uint32_t capture = g_process.captures.load(std::memory_order_relaxed);
  return {proto::ReadTicks(g_process.clock), capture};
}

// `bytes` are -errno if the call failed.
[[gnu::noinline]] void End(const Start& start, int descriptor, int64_t bytes) {
  // It began in an earlier capture.
  if (g_process.captures.load(std::memory_order_relaxed) != start.capture) return;
  // A signal handler that interrupted our code; or our own code, which reads pipes only.
  if (__builtin_expect(t_thread.busy != 0, 0)) {
    if (IsFile(descriptor)) CountReentered(t_thread);
    return;
  }
  const HookTimer timer;
  Recorder recorder(proto::kSourceFiles);
  if (!recorder.active()) return;
  const uint64_t end = recorder.Now();
  const uint64_t kind = KindOf(descriptor);
  if (kind == kNoFile) return;
  const uint64_t path =
      kind == kNameless ? 0 : ranges::IdOf(recorder.ring(), reinterpret_cast<ranges::Text*>(kind));
  const uint64_t duration = end > start.time ? end - start.time : 0;
  const proto::Record record = {end,
                                static_cast<uint32_t>(duration),
                                static_cast<uint8_t>(proto::RecordKind::kFileRead),
                                0,
                                0,
                                path | static_cast<uint64_t>(descriptor) << 32,
                                static_cast<uint64_t>(bytes)};
  if (__builtin_expect(duration < proto::kLongDuration, 1)) {
    recorder.Write(record);
  } else {
    recorder.WriteWait(record, duration, 0, nullptr, 0);
  }
}

// A call that reads a descriptor. Out of line, as all here: the system call itself takes longer.
struct Place {
  Start start;
  uint32_t wanted;
  int descriptor;
  const void* caller;
  const void* frame;  // the hook's
};

[[gnu::noinline]] void BeginRead(Place* place) { place->start = Begin(); }

[[gnu::noinline]] ssize_t EndRead(const Place& place, ssize_t result) {
  if ((place.wanted & proto::kSourceLocks) != 0)
    EndInputWait(place.descriptor, place.start.time, place.start.capture, place.caller,
                 place.frame);
  if ((place.wanted & proto::kSourceFiles) != 0)
    End(place.start, place.descriptor, result < 0 ? -int64_t{errno} : result);
  return result;
}

// Where the next read from a file begins; negative: it has no such place.
int64_t Position(int descriptor) {
  constexpr long kFromHere = 1;  // SEEK_CUR
  return raw::Call(SYS_lseek, descriptor, 0, kFromHere);
}

// A call that reads a stream.
struct StreamPlace {
  Start start;
  size_t size;
  int64_t position;
  int descriptor;
};

// False: there is nothing to record.
[[gnu::noinline]] bool BeginStream(StreamPlace* place, _IO_FILE* stream, size_t size,
                                   size_t count) {
  if (Wanted(proto::kSourceFiles, stream->_fileno) == 0) return false;
  size_t bytes;
  const bool is_huge = __builtin_mul_overflow(size, count, &bytes);
  const auto buffered = static_cast<size_t>(stream->_IO_read_end - stream->_IO_read_ptr);
  if (!is_huge && bytes <= buffered) return false;
  const int descriptor = stream->_fileno;
  const int64_t position = Position(descriptor);
  *place = {Begin(), size, position, descriptor};
  return true;
}

// The kernel may give more than the program gets, for the buffer, and less than a whole element.
[[gnu::noinline]] size_t EndStream(const StreamPlace& place, size_t result) {
  const int64_t read = Position(place.descriptor) - place.position;
  const bool is_known = place.position >= 0 && read >= 0;
  End(place.start, place.descriptor, is_known ? read : static_cast<int64_t>(result * place.size));
  return result;
}

}  // namespace

// Of calls that read to one buffer.
#define GPUPROF_READ_BUFFER(sources, call) GPUPROF_READ(sources, AsBare(file, buffer, call))

#define GPUPROF_READ(sources, call)                                                          \
  if (__builtin_expect(!Recording(sources), 1)) return call;                                 \
  const uint32_t wanted = Wanted(sources, file);                                             \
  if (wanted == 0) return call;                                                              \
  Place place = {{}, wanted, file, __builtin_return_address(0), __builtin_frame_address(0)}; \
  BeginRead(&place);                                                                         \
  const ssize_t result = call;                                                               \
  return EndRead(place, result)

#define GPUPROF_READ_STREAM(call)                                        \
  if (__builtin_expect(!Recording(proto::kSourceFiles), 1)) return call; \
  StreamPlace place;                                                     \
  if (!BeginStream(&place, stream, size, count)) return call;            \
  const size_t result = call;                                            \
  return EndStream(place, result)

extern "C" {

GPUPROF_EXPORT ssize_t read(int file, void* buffer, size_t bytes) {
  GPUPROF_READ_BUFFER(proto::kSourceFiles | proto::kSourceLocks, real.read(file, buffer, bytes));
}

GPUPROF_EXPORT ssize_t __read_chk(int file, void* buffer, size_t bytes, size_t room) {
  GPUPROF_READ_BUFFER(proto::kSourceFiles | proto::kSourceLocks,
                      real.__read_chk(file, buffer, bytes, room));
}

GPUPROF_EXPORT ssize_t pread(int file, void* buffer, size_t bytes, off_t offset) {
  GPUPROF_READ_BUFFER(proto::kSourceFiles, real.pread(file, buffer, bytes, offset));
}

GPUPROF_EXPORT ssize_t pread64(int file, void* buffer, size_t bytes, off64_t offset) {
  GPUPROF_READ_BUFFER(proto::kSourceFiles, real.pread64(file, buffer, bytes, offset));
}

GPUPROF_EXPORT ssize_t __pread_chk(int file, void* buffer, size_t bytes, off_t offset,
                                   size_t room) {
  GPUPROF_READ_BUFFER(proto::kSourceFiles, real.__pread_chk(file, buffer, bytes, offset, room));
}

GPUPROF_EXPORT ssize_t __pread64_chk(int file, void* buffer, size_t bytes, off64_t offset,
                                     size_t room) {
  GPUPROF_READ_BUFFER(proto::kSourceFiles, real.__pread64_chk(file, buffer, bytes, offset, room));
}

GPUPROF_EXPORT ssize_t readv(int file, const iovec* parts, int count) {
  GPUPROF_READ(proto::kSourceFiles, real.readv(file, parts, count));
}

GPUPROF_EXPORT ssize_t preadv(int file, const iovec* parts, int count, off_t offset) {
  GPUPROF_READ(proto::kSourceFiles, real.preadv(file, parts, count, offset));
}

GPUPROF_EXPORT ssize_t preadv64(int file, const iovec* parts, int count, off64_t offset) {
  GPUPROF_READ(proto::kSourceFiles, real.preadv64(file, parts, count, offset));
}

GPUPROF_EXPORT ssize_t preadv2(int file, const iovec* parts, int count, off_t offset, int flags) {
  GPUPROF_READ(proto::kSourceFiles, real.preadv2(file, parts, count, offset, flags));
}

GPUPROF_EXPORT ssize_t preadv64v2(int file, const iovec* parts, int count, off64_t offset,
                                  int flags) {
  GPUPROF_READ(proto::kSourceFiles, real.preadv64v2(file, parts, count, offset, flags));
}

GPUPROF_EXPORT size_t fread(void* buffer, size_t size, size_t count, _IO_FILE* stream) {
  GPUPROF_READ_STREAM(real.fread(buffer, size, count, stream));
}

GPUPROF_EXPORT size_t fread_unlocked(void* buffer, size_t size, size_t count, _IO_FILE* stream) {
  GPUPROF_READ_STREAM(real.fread_unlocked(buffer, size, count, stream));
}

GPUPROF_EXPORT size_t __fread_chk(void* buffer, size_t room, size_t size, size_t count,
                                  _IO_FILE* stream) {
  GPUPROF_READ_STREAM(real.__fread_chk(buffer, room, size, count, stream));
}

GPUPROF_EXPORT size_t __fread_unlocked_chk(void* buffer, size_t room, size_t size, size_t count,
                                           _IO_FILE* stream) {
  GPUPROF_READ_STREAM(real.__fread_unlocked_chk(buffer, room, size, count, stream));
}

GPUPROF_EXPORT int close(int descriptor) {
  Forget(descriptor);
  return real.close(descriptor);
}

GPUPROF_EXPORT int fclose(_IO_FILE* stream) {
  if (Recording(proto::kSourceFiles)) Forget(stream->_fileno);
  return real.fclose(stream);
}

GPUPROF_EXPORT int dup2(int from, int to) {
  Forget(to);
  return real.dup2(from, to);
}

GPUPROF_EXPORT int dup3(int from, int to, int flags) {
  Forget(to);
  return real.dup3(from, to, flags);
}

GPUPROF_EXPORT int close_range(unsigned first, unsigned last, int flags) {
  if (Recording(proto::kSourceFiles)) ForgetRange(first, last);
  if (real.close_range != nullptr) return real.close_range(first, last, flags);
  // Older than glibc 2.34.
  const long result = raw::Call(SYS_close_range, first, last, flags);
  if (!raw::IsError(result)) return 0;
  errno = static_cast<int>(-result);
  return -1;
}

GPUPROF_EXPORT void closefrom(int first) {
  const unsigned from = first < 0 ? 0 : static_cast<unsigned>(first);
  if (Recording(proto::kSourceFiles)) ForgetRange(from, ~0u);
  if (real.closefrom != nullptr) return real.closefrom(first);
  raw::Call(SYS_close_range, from, ~0u, 0);
}

}  // extern "C"
