// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Hooks of the calls by which a program counts its own threads: stat and its kin, the list of the
// folder /proc/self/task, and the files stat and status of the process. The program gets the number
// that it would get without gpuprof's threads. Calls about anything else are the program's own, and
// nothing is changed while gpuprof has no thread.
//
// A sandbox asks fstatat before it closes. The program must really be alone then, as its next calls
// may bypass libc: gpuprof's threads end (inject/departure.h).

#include "inject/hooks/thread_counts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/memfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "inject/departure.h"
#include "inject/hook_list.h"
#include "inject/raw_syscall.h"
#include "inject/real_symbols.h"
#include "inject/text.h"

using namespace gpuprof::inject;

namespace {

constexpr char kTaskFolder[] = "/proc/self/task";
// Neither file is longer; what is longer is another file.
constexpr ssize_t kMostBytes = 8192;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool EndsWith(const char* path, const char* end) {
  const size_t bytes = Length(path);
  const size_t end_bytes = Length(end);
  return bytes >= end_bytes && Equal(path + bytes - end_bytes, end);
}

bool NamesTaskFolder(const char* path) {
  return path != nullptr && (EndsWith(path, "/task") || EndsWith(path, "/task/"));
}

// Whether the folder is this process's folder of threads.
[[gnu::noinline, gnu::cold]] bool IsTaskFolder(dev_t device, ino_t inode) {
  struct stat own;
  return raw::Call(SYS_stat, raw::Arg(kTaskFolder), raw::Arg(&own)) == 0 && own.st_dev == device &&
         own.st_ino == inode;
}

// The number of links of the folder is the number of threads and two more.
template <typename Status>
int Corrected(int result, Status* status) {
  if (!MayHaveOwnThreads() || result != 0) return result;
  if (!S_ISDIR(status->st_mode) || status->st_size != 0 || status->st_nlink < 3) return result;
  if (!IsTaskFolder(status->st_dev, status->st_ino)) return result;
  if (const nlink_t left = CountProgramThreads(); left != 0) status->st_nlink = left + 2;
  return result;
}

// The layout of libc's structure is the kernel's.
int Stat(int folder, const char* path, void* status, int flags) {
  const long result = raw::Call(SYS_newfstatat, folder, raw::Arg(path),
                                raw::Arg(static_cast<char*>(status)), flags);
  if (!raw::IsError(result)) return static_cast<int>(result);
  errno = static_cast<int>(-result);
  return -1;
}

void BeforeSandbox(const char* path) {
  if (!NamesTaskFolder(path)) return;
  const int saved = errno;
  DepartIfAlone();
  errno = saved;
}

// Whether an entry of a folder is one of gpuprof's threads.
[[gnu::noinline, gnu::cold]] bool IsOwnEntry(DIR* folder, const char* name) {
  int tid = 0;
  for (const char* p = name; *p != 0; ++p) {
    if (!IsDigit(*p) || tid > INT_MAX / 10 - 10) return false;
    tid = tid * 10 + (*p - '0');
  }
  AwaitNotedThreads();
  struct stat status;
  return IsOwnThread(tid) && raw::Call(SYS_fstat, real.dirfd(folder), raw::Arg(&status)) == 0 &&
         IsTaskFolder(status.st_dev, status.st_ino);
}

template <typename Entry>
bool IsHidden(DIR* folder, const Entry* entry) {
  return MayHaveOwnThreads() && entry != nullptr && IsDigit(entry->d_name[0]) &&
         IsOwnEntry(folder, entry->d_name);
}

// Takes gpuprof's threads out of a list that scandir has made.
template <typename Entry>
int WithoutOwnEntries(const char* path, Entry*** list, int count) {
  if (!MayHaveOwnThreads() || count <= 0) return count;
  struct stat status;
  if (raw::Call(SYS_stat, raw::Arg(path), raw::Arg(&status)) != 0 ||
      !IsTaskFolder(status.st_dev, status.st_ino))
    return count;
  AwaitNotedThreads();
  int kept = 0;
  for (int i = 0; i < count; ++i) {
    Entry* entry = (*list)[i];
    IsDigit(entry->d_name[0]) && IsOwnThread(atoi(entry->d_name)) ? free(entry)
                                                                  : void((*list)[kept++] = entry);
  }
  return kept;
}

// The path of the file behind a descriptor is /proc/PID/NAME or /proc/PID/task/TID/NAME of this
// process, with NAME stat or status.
bool IsOwnFile(int descriptor) {
  char link[48];
  char path[96];
  char begin[32];
  Text(link, sizeof(link)).Add("/proc/self/fd/").Number(descriptor);
  const long n = raw::Call(SYS_readlink, raw::Arg(link), raw::Arg(path), sizeof(path) - 1);
  if (n <= 0) return false;
  path[n] = 0;
  Text(begin, sizeof(begin)).Add("/proc/").Number(g_process.pid).Add("/");
  return __builtin_strncmp(path, begin, Length(begin)) == 0 &&
         (EndsWith(path, "/stat") || EndsWith(path, "/status"));
}

// Where the number of threads stands in the text of `stat`; null: the text is not whole. The name
// in parentheses may hold parentheses and blanks. The number is the 18th field behind it.
char* FindInStat(char* text, char* end) {
  char* p = static_cast<char*>(memrchr(text, ')', static_cast<size_t>(end - text)));
  for (int field = 0; p != nullptr && field < 18; ++field)
    p = static_cast<char*>(memchr(p + 1, ' ', static_cast<size_t>(end - p - 1)));
  return p == nullptr ? nullptr : p + 1;
}

char* FindInStatus(char* text, char* end) {
  constexpr char kKey[] = "\nThreads:\t";
  auto* p =
      static_cast<char*>(memmem(text, static_cast<size_t>(end - text), kKey, sizeof(kKey) - 1));
  return p == nullptr ? nullptr : p + sizeof(kKey) - 1;
}

char* FindNumber(char* text, char* end) {
  if (end - text > 6 && __builtin_memcmp(text, "Name:\t", 6) == 0) return FindInStatus(text, end);
  char* p = text;
  while (p < end && IsDigit(*p)) ++p;
  const bool is_stat = p > text && p + 1 < end && p[0] == ' ' && p[1] == '(';
  return is_stat ? FindInStat(text, end) : nullptr;
}

// Replaces the number at `number` by that without gpuprof's threads. Returns the text's new end.
char* Replace(char* number, char* end) {
  char* p = number;
  while (p < end && IsDigit(*p)) ++p;
  if (p == number || p == end) return end;
  const uint32_t left = CountProgramThreads();
  if (left == 0) return end;
  char digits[24];
  Text text(digits, sizeof(digits));
  text.Number(left);
  __builtin_memcpy(number, digits, text.size());
  __builtin_memmove(number + text.size(), p, static_cast<size_t>(end - p));
  return end - (p - number) + text.size();
}

// A stream reads its file inside libc, where no hook sees it: it gets a copy of the file, as it is
// at this moment, under the same descriptor.
void GiveCopy(int descriptor) {
  char text[kMostBytes];
  const long bytes = raw::Call(SYS_pread64, descriptor, raw::Arg(text), kMostBytes, 0);
  char* number = bytes > 0 ? FindNumber(text, text + bytes) : nullptr;
  if (number == nullptr) return;
  const long size = Replace(number, text + bytes) - text;
  const long copy = raw::Call(SYS_memfd_create, raw::Arg("status"), MFD_CLOEXEC);
  if (raw::IsError(copy)) return;
  const long flags = raw::Call(SYS_fcntl, descriptor, F_GETFD);
  if (raw::Call(SYS_pwrite64, copy, raw::Arg(text), size, 0) == size)
    raw::Call(SYS_dup3, copy, descriptor, (flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0);
  raw::Call(SYS_close, copy);
}

[[gnu::noinline, gnu::cold]] void LookAtStream(const char* path, _IO_FILE* stream) {
  const bool is_wanted = __builtin_strncmp(path, "/proc/", 6) == 0 &&
                         (EndsWith(path, "/stat") || EndsWith(path, "/status"));
  if (!is_wanted) return;
  const int saved = errno;
  const int descriptor = real.fileno(stream);
  if (IsOwnFile(descriptor)) GiveCopy(descriptor);
  errno = saved;
}

_IO_FILE* Opened(const char* path, _IO_FILE* stream) {
  if (MayHaveOwnThreads() && stream != nullptr && path != nullptr) LookAtStream(path, stream);
  return stream;
}

}  // namespace

namespace gpuprof::inject {

[[gnu::noinline]] ssize_t WithoutOwnThreads(int descriptor, void* buffer, ssize_t bytes) noexcept {
  if (bytes < 16 || bytes > kMostBytes || t_thread.tool != 0) return bytes;
  char* text = static_cast<char*>(buffer);
  if (text[0] != 'N' && !IsDigit(text[0])) return bytes;
  char* number = FindNumber(text, text + bytes);
  if (number == nullptr || !IsOwnFile(descriptor)) return bytes;
  return Replace(number, text + bytes) - text;
}

}  // namespace gpuprof::inject

extern "C" {

GPUPROF_EXPORT int fstatat(int folder, const char* path, struct stat* status, int flags) {
  BeforeSandbox(path);
  return Corrected(real.fstatat(folder, path, status, flags), status);
}

GPUPROF_EXPORT int fstatat64(int folder, const char* path, struct stat64* status, int flags) {
  BeforeSandbox(path);
  return Corrected(real.fstatat64(folder, path, status, flags), status);
}

// What programs call that were built with glibc before 2.33. Later ones keep them for such programs
// alone, and may not tell where they are.
GPUPROF_EXPORT int __fxstatat(int version, int folder, const char* path, struct stat* status,
                              int flags) {
  BeforeSandbox(path);
  const int result = real.__fxstatat != nullptr
                         ? real.__fxstatat(version, folder, path, status, flags)
                         : Stat(folder, path, status, flags);
  return Corrected(result, status);
}

GPUPROF_EXPORT int __fxstatat64(int version, int folder, const char* path, struct stat64* status,
                                int flags) {
  BeforeSandbox(path);
  const int result = real.__fxstatat64 != nullptr
                         ? real.__fxstatat64(version, folder, path, status, flags)
                         : Stat(folder, path, status, flags);
  return Corrected(result, status);
}

GPUPROF_EXPORT int __xstat(int version, const char* path, struct stat* status) {
  const int result = real.__xstat != nullptr ? real.__xstat(version, path, status)
                                             : Stat(AT_FDCWD, path, status, 0);
  return Corrected(result, status);
}

GPUPROF_EXPORT int __xstat64(int version, const char* path, struct stat64* status) {
  const int result = real.__xstat64 != nullptr ? real.__xstat64(version, path, status)
                                               : Stat(AT_FDCWD, path, status, 0);
  return Corrected(result, status);
}

GPUPROF_EXPORT int __lxstat(int version, const char* path, struct stat* status) {
  const int result = real.__lxstat != nullptr ? real.__lxstat(version, path, status)
                                              : Stat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
  return Corrected(result, status);
}

GPUPROF_EXPORT int __lxstat64(int version, const char* path, struct stat64* status) {
  const int result = real.__lxstat64 != nullptr ? real.__lxstat64(version, path, status)
                                                : Stat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
  return Corrected(result, status);
}

GPUPROF_EXPORT int __fxstat(int version, int file, struct stat* status) {
  const int result = real.__fxstat != nullptr ? real.__fxstat(version, file, status)
                                              : Stat(file, "", status, AT_EMPTY_PATH);
  return Corrected(result, status);
}

GPUPROF_EXPORT int __fxstat64(int version, int file, struct stat64* status) {
  const int result = real.__fxstat64 != nullptr ? real.__fxstat64(version, file, status)
                                                : Stat(file, "", status, AT_EMPTY_PATH);
  return Corrected(result, status);
}

// libc has them since 2.33.
GPUPROF_EXPORT int stat(const char* path, struct stat* status) {
  const int result =
      real.stat != nullptr ? real.stat(path, status) : Stat(AT_FDCWD, path, status, 0);
  return Corrected(result, status);
}

GPUPROF_EXPORT int stat64(const char* path, struct stat64* status) {
  const int result =
      real.stat64 != nullptr ? real.stat64(path, status) : Stat(AT_FDCWD, path, status, 0);
  return Corrected(result, status);
}

GPUPROF_EXPORT int lstat(const char* path, struct stat* status) {
  const int result = real.lstat != nullptr ? real.lstat(path, status)
                                           : Stat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
  return Corrected(result, status);
}

GPUPROF_EXPORT int lstat64(const char* path, struct stat64* status) {
  const int result = real.lstat64 != nullptr ? real.lstat64(path, status)
                                             : Stat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
  return Corrected(result, status);
}

GPUPROF_EXPORT int fstat(int file, struct stat* status) {
  const int result =
      real.fstat != nullptr ? real.fstat(file, status) : Stat(file, "", status, AT_EMPTY_PATH);
  return Corrected(result, status);
}

GPUPROF_EXPORT int fstat64(int file, struct stat64* status) {
  const int result =
      real.fstat64 != nullptr ? real.fstat64(file, status) : Stat(file, "", status, AT_EMPTY_PATH);
  return Corrected(result, status);
}

GPUPROF_EXPORT int statx(int folder, const char* path, int flags, unsigned mask,
                         struct statx* status) {
  const int result = real.statx(folder, path, flags, mask, status);
  if (!MayHaveOwnThreads() || result != 0) return result;
  if (!S_ISDIR(status->stx_mode) || status->stx_size != 0 || status->stx_nlink < 3) return result;
  if (!IsTaskFolder(makedev(status->stx_dev_major, status->stx_dev_minor), status->stx_ino))
    return result;
  if (const uint32_t left = CountProgramThreads(); left != 0) status->stx_nlink = left + 2;
  return result;
}

GPUPROF_EXPORT struct dirent* readdir(DIR* folder) {
  struct dirent* entry = real.readdir(folder);
  while (IsHidden(folder, entry)) entry = real.readdir(folder);
  return entry;
}

GPUPROF_EXPORT struct dirent64* readdir64(DIR* folder) {
  struct dirent64* entry = real.readdir64(folder);
  while (IsHidden(folder, entry)) entry = real.readdir64(folder);
  return entry;
}

GPUPROF_EXPORT int readdir_r(DIR* folder, struct dirent* entry, struct dirent** found) {
  int result = real.readdir_r(folder, entry, found);
  while (result == 0 && IsHidden(folder, *found)) result = real.readdir_r(folder, entry, found);
  return result;
}

GPUPROF_EXPORT int readdir64_r(DIR* folder, struct dirent64* entry, struct dirent64** found) {
  int result = real.readdir64_r(folder, entry, found);
  while (result == 0 && IsHidden(folder, *found)) result = real.readdir64_r(folder, entry, found);
  return result;
}

GPUPROF_EXPORT int scandir(const char* path, struct dirent*** list,
                           int (*filter)(const struct dirent*),
                           int (*compare)(const struct dirent**, const struct dirent**)) {
  return WithoutOwnEntries(path, list, real.scandir(path, list, filter, compare));
}

GPUPROF_EXPORT int scandir64(const char* path, struct dirent64*** list,
                             int (*filter)(const struct dirent64*),
                             int (*compare)(const struct dirent64**, const struct dirent64**)) {
  return WithoutOwnEntries(path, list, real.scandir64(path, list, filter, compare));
}

GPUPROF_EXPORT _IO_FILE* fopen(const char* path, const char* mode) {
  return Opened(path, real.fopen(path, mode));
}

GPUPROF_EXPORT _IO_FILE* fopen64(const char* path, const char* mode) {
  return Opened(path, real.fopen64(path, mode));
}

}  // extern "C"
