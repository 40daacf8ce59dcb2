// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the C library of libc_floor.py lacks: functions that are younger than the floor, and that
// the command or the compiler's own libraries call. Each does what the later one does. Where that
// matters, the machine's own function is asked for at run time. Any thread.

#define _GNU_SOURCE

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef GPUPROF_SHARED_OBJECT
// 2.34: the start of a program. Older releases run the program's own constructors by a function
// that the compiler's start files gave them, and later start files give none.
typedef int Main(int, char**, char**);
typedef void Constructor(int, char**, char**);
extern Constructor* __init_array_start[] __attribute__((visibility("hidden")));
extern Constructor* __init_array_end[] __attribute__((visibility("hidden")));
extern void _init(void);

static int RunConstructors(int argc, char** argv, char** environment) {
  _init();
  const size_t count = (size_t)(__init_array_end - __init_array_start);
  for (size_t i = 0; i < count; ++i) __init_array_start[i](argc, argv, environment);
  return 0;
}

int __real___libc_start_main(Main* main, int argc, char** argv, Main* init, void (*fini)(void),
                             void (*loader_end)(void), void* stack_end);
int __wrap___libc_start_main(Main* main, int argc, char** argv, Main* init, void (*fini)(void),
                             void (*loader_end)(void), void* stack_end);
int __wrap___libc_start_main(Main* main, int argc, char** argv, Main* init, void (*fini)(void),
                             void (*loader_end)(void), void* stack_end) {
  return __real___libc_start_main(main, argc, argv, init != NULL ? init : RunConstructors, fini,
                                  loader_end, stack_end);
}

#endif

// 2.33: before, each program had its own copy of these.
static int StatusAt(int folder, const char* path, struct stat* status, int flags) {
  return (int)syscall(SYS_newfstatat, folder, path, status, flags);
}
int stat(const char* path, struct stat* status) { return StatusAt(AT_FDCWD, path, status, 0); }
int lstat(const char* path, struct stat* status) {
  return StatusAt(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}
int fstat(int fd, struct stat* status) { return (int)syscall(SYS_fstat, fd, status); }
int fstatat(int folder, const char* path, struct stat* status, int flags) {
  return StatusAt(folder, path, status, flags);
}
int fstat64(int fd, struct stat64* status) { return (int)syscall(SYS_fstat, fd, status); }
// SQLite names these. A status of 64 bits is the only one of a machine of 64 bits.
int stat64(const char* path, struct stat64* status) {
  return StatusAt(AT_FDCWD, path, (struct stat*)status, 0);
}
int lstat64(const char* path, struct stat64* status) {
  return StatusAt(AT_FDCWD, path, (struct stat*)status, AT_SYMLINK_NOFOLLOW);
}

// 2.32: whether the process has one thread, so that counters need no lock. Nobody knows here.
char __libc_single_threaded = 0;

// 2.36.
uint32_t arc4random(void) {
  uint32_t value;
  while (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value) {
    if (errno != EINTR) abort();
  }
  return value;
}

// 2.35: finds the tables for C++ exceptions of an address.
struct Search {
  uintptr_t address;
  struct dl_find_object* found;
};

static int LookInto(struct dl_phdr_info* info, size_t size, void* argument) {
  (void)size;
  struct Search* search = argument;
  uintptr_t start = UINTPTR_MAX, end = 0, tables = 0;
  int contains = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &info->dlpi_phdr[i];
    const uintptr_t at = info->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) tables = at;
    if (part->p_type != PT_LOAD) continue;
    if (at < start) start = at;
    if (at + part->p_memsz > end) end = at + part->p_memsz;
    if (search->address >= at && search->address - at < part->p_memsz) contains = 1;
  }
  if (!contains) return 0;
  if (tables == 0) return 2;
  memset(search->found, 0, sizeof *search->found);
  search->found->dlfo_map_start = (void*)start;
  search->found->dlfo_map_end = (void*)end;
  search->found->dlfo_eh_frame = (void*)tables;
  return 1;
}

int _dl_find_object(void* address, struct dl_find_object* result) {
  struct Search search = {(uintptr_t)address, result};
  return dl_iterate_phdr(LookInto, &search) == 1 ? 0 : -1;
}

// 2.30. The older function counts by the clock that people set.
typedef int ClockWait(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  ClockWait* const own = (ClockWait*)dlsym(RTLD_NEXT, "pthread_cond_clockwait");
  if (own != NULL) return own(condition, mutex, clock, until);
  struct timespec now, at;
  if (clock_gettime(clock, &now) != 0) return EINVAL;
  clock_gettime(CLOCK_REALTIME, &at);
  at.tv_sec += until->tv_sec - now.tv_sec;
  at.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (at.tv_nsec >= 1000000000) {
    at.tv_nsec -= 1000000000;
    ++at.tv_sec;
  } else if (at.tv_nsec < 0) {
    at.tv_nsec += 1000000000;
    --at.tv_sec;
  }
  return pthread_cond_timedwait(condition, mutex, &at);
}

// 2.32. The numbers differ between machines, so each is named.
const char* sigabbrev_np(int number) {
  static const struct {
    int number;
    const char* name;
  } kNames[] = {
      {SIGHUP, "HUP"},   {SIGINT, "INT"},       {SIGQUIT, "QUIT"}, {SIGILL, "ILL"},
      {SIGTRAP, "TRAP"}, {SIGABRT, "ABRT"},     {SIGBUS, "BUS"},   {SIGFPE, "FPE"},
      {SIGKILL, "KILL"}, {SIGUSR1, "USR1"},     {SIGSEGV, "SEGV"}, {SIGUSR2, "USR2"},
      {SIGPIPE, "PIPE"}, {SIGALRM, "ALRM"},     {SIGTERM, "TERM"}, {SIGSTKFLT, "STKFLT"},
      {SIGCHLD, "CHLD"}, {SIGCONT, "CONT"},     {SIGSTOP, "STOP"}, {SIGTSTP, "TSTP"},
      {SIGTTIN, "TTIN"}, {SIGTTOU, "TTOU"},     {SIGURG, "URG"},   {SIGXCPU, "XCPU"},
      {SIGXFSZ, "XFSZ"}, {SIGVTALRM, "VTALRM"}, {SIGPROF, "PROF"}, {SIGWINCH, "WINCH"},
      {SIGPOLL, "POLL"}, {SIGPWR, "PWR"},       {SIGSYS, "SYS"},
  };
  for (size_t i = 0; i < sizeof kNames / sizeof *kNames; ++i) {
    if (kNames[i].number == number) return kNames[i].name;
  }
  return NULL;
}

// 2.32. The command chooses no language, so both have the same words.
const char* strerrordesc_np(int error) { return strerror(error); }
