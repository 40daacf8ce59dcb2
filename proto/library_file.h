// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Files of libraries, looked at before the dynamic loader maps them: it believes what their headers
// promise, and a file that ends before that (a download that broke off, a full disk) ends by SIGBUS
// whoever touches what is not there.
//
// The tracer on the thread that loads CUPTI, the launcher for doctor. Frees nothing and allocates
// nothing, is no cancellation point, keeps errno; opens a file for a moment, as the loader would.

#pragma once

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gpuprof::proto {
namespace library_file {

inline constexpr char kUnreadable[] = "cannot be read";
inline constexpr char kForeign[] = "is not a shared library for this machine";
inline constexpr char kCut[] =
    "is incomplete: its end is missing, as after a download that broke off or on a full disk";

#if defined(__x86_64__)
inline constexpr uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
inline constexpr uint16_t kMachine = EM_AARCH64;
#endif

inline bool Read(int fd, uint64_t offset, void* to, size_t bytes) noexcept {
  return syscall(SYS_pread64, fd, to, bytes, offset) == static_cast<long>(bytes);
}

inline bool IsWithin(uint64_t offset, uint64_t bytes, uint64_t size) noexcept {
  return offset <= size && bytes <= size - offset;
}

inline const char* FaultOfSegments(int fd, const Elf64_Ehdr& header, uint64_t size) noexcept {
  bool has_contents = false;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    const uint64_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
    Elf64_Phdr segment;
    if (at < header.e_phoff || !IsWithin(at, sizeof(segment), size)) return kCut;
    if (!Read(fd, at, &segment, sizeof(segment))) return kUnreadable;
    if (segment.p_type != PT_LOAD) continue;
    if (!IsWithin(segment.p_offset, segment.p_filesz, size)) return kCut;
    has_contents = true;
  }
  return has_contents ? nullptr : kForeign;
}

inline const char* FaultOfOpen(int fd) noexcept {
  const long size = syscall(SYS_lseek, fd, 0, SEEK_END);
  Elf64_Ehdr header = {};
  const long got = size < 0 ? -1 : syscall(SYS_pread64, fd, &header, sizeof(header), 0);
  if (got < 0) return kUnreadable;
  const auto read = static_cast<size_t>(got);
  if (memcmp(header.e_ident, ELFMAG, read < SELFMAG ? read : SELFMAG) != 0) return kForeign;
  if (read < sizeof(header)) return kCut;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_type != ET_DYN || header.e_machine != kMachine ||
      header.e_phentsize != sizeof(Elf64_Phdr))
    return kForeign;
  return FaultOfSegments(fd, header, static_cast<uint64_t>(size));
}

}  // namespace library_file

// Why the loader had better not be given this file, as the end of a sentence that begins with its
// path; null: nothing is wrong with what the loader would map.
inline const char* FaultOfLibrary(const char* path) noexcept {
  const int error = errno;
  // A pipe of that name would wait for its writer.
  const long fd =
      syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
  const char* fault = library_file::kUnreadable;
  if (fd >= 0) {
    fault = library_file::FaultOfOpen(static_cast<int>(fd));
    syscall(SYS_close, fd);
  }
  errno = error;
  return fault;
}

// The folder, with a slash at its end, of the next path in the bytes of /etc/ld.so.cache from `*at`
// on (begin with 0) whose file's name begins with `name`: where the loader finds what it is asked
// for by name alone. False: there is no more. Those that do not fit into `room` are left out.
inline bool NextInLoaderCache(const char* bytes, size_t size, size_t* at, const char* name,
                              char* folder, size_t room) noexcept {
  const size_t length = strlen(name);
  while (*at < size) {
    const auto* found = static_cast<const char*>(memmem(bytes + *at, size - *at, name, length));
    if (found == nullptr) return false;
    *at = static_cast<size_t>(found - bytes) + length;
    const char* begin = found;
    while (begin > bytes && begin[-1] != 0) --begin;
    const auto* end = static_cast<const char*>(memchr(found, 0, size - (found - bytes)));
    const auto used = static_cast<size_t>(found - begin);
    // Its bare name stands there as well.
    if (end == nullptr || used == 0 || *begin != '/' || found[-1] != '/' ||
        memchr(found, '/', static_cast<size_t>(end - found)) != nullptr || used + 1 > room)
      continue;
    memcpy(folder, begin, used);
    folder[used] = 0;
    return true;
  }
  return false;
}

}  // namespace gpuprof::proto
