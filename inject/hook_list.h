// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Every function that the inject object interposes, once, with its signature. Declarations of the
// originals, their resolution and the reviewed export list (tests/checks) derive from it. The hooks
// themselves are in hooks/, one family a file.

#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/select.h>
#include <sys/types.h>
#include <threads.h>
#include <time.h>

struct _IO_FILE;
struct __dirstream;
struct dirent;
struct dirent64;
struct epoll_event;
struct iovec;
struct msghdr;
struct pollfd;
struct rlimit;
struct rusage;
struct stat;
struct stat64;
struct statx;

// X(result, name, parameters, arguments)
#define GPUPROF_HEAP_HOOKS(X)                                                                 \
  X(void*, malloc, (size_t size), (size))                                                     \
  X(void*, calloc, (size_t count, size_t size), (count, size))                                \
  X(void*, realloc, (void* block, size_t size), (block, size))                                \
  X(void, free, (void* block), (block))                                                       \
  X(int, posix_memalign, (void** out, size_t alignment, size_t size), (out, alignment, size)) \
  X(void*, aligned_alloc, (size_t alignment, size_t size), (alignment, size))                 \
  X(void*, memalign, (size_t alignment, size_t size), (alignment, size))                      \
  X(void*, valloc, (size_t size), (size))                                                     \
  X(void*, pvalloc, (size_t size), (size))                                                    \
  X(void*, reallocarray, (void* block, size_t count, size_t size), (block, count, size))      \
  X(void, free_sized, (void* block, size_t size), (block, size))                              \
  X(void, free_aligned_sized, (void* block, size_t alignment, size_t size),                   \
    (block, alignment, size))

#define GPUPROF_MAPPING_HOOKS(X)                                                                 \
  X(void*, mmap, (void* address, size_t bytes, int protection, int flags, int fd, off_t offset), \
    (address, bytes, protection, flags, fd, offset))                                             \
  X(void*, mmap64,                                                                               \
    (void* address, size_t bytes, int protection, int flags, int fd, off64_t offset),            \
    (address, bytes, protection, flags, fd, offset))                                             \
  X(int, munmap, (void* address, size_t bytes), (address, bytes))                                \
  X(void*, shmat, (int id, const void* address, int flags), (id, address, flags))                \
  X(int, shmdt, (const void* address), (address))                                                \
  X(void*, mremap, (void* old, size_t old_bytes, size_t bytes, int flags, void* to),             \
    (old, old_bytes, bytes, flags, to))

#define GPUPROF_LOCK_HOOKS(X)                                                                      \
  X(int, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))                                   \
  X(int, pthread_mutex_timedlock, (pthread_mutex_t * mutex, const timespec* until),                \
    (mutex, until))                                                                                \
  X(int, pthread_mutex_clocklock,                                                                  \
    (pthread_mutex_t * mutex, clockid_t clock, const timespec* until), (mutex, clock, until))      \
  X(int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))                                 \
  X(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, const timespec* until),             \
    (lock, until))                                                                                 \
  X(int, pthread_rwlock_clockrdlock,                                                               \
    (pthread_rwlock_t * lock, clockid_t clock, const timespec* until), (lock, clock, until))       \
  X(int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))                                 \
  X(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, const timespec* until),             \
    (lock, until))                                                                                 \
  X(int, pthread_rwlock_clockwrlock,                                                               \
    (pthread_rwlock_t * lock, clockid_t clock, const timespec* until), (lock, clock, until))       \
  X(int, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t * mutex),                 \
    (condition, mutex))                                                                            \
  X(int, pthread_cond_timedwait,                                                                   \
    (pthread_cond_t * condition, pthread_mutex_t * mutex, const timespec* until),                  \
    (condition, mutex, until))                                                                     \
  X(int, pthread_cond_clockwait,                                                                   \
    (pthread_cond_t * condition, pthread_mutex_t * mutex, clockid_t clock, const timespec* until), \
    (condition, mutex, clock, until))                                                              \
  X(int, pthread_cond_signal, (pthread_cond_t * condition), (condition))                           \
  X(int, pthread_cond_broadcast, (pthread_cond_t * condition), (condition))                        \
  X(int, sem_wait, (sem_t * semaphore), (semaphore))                                               \
  X(int, sem_timedwait, (sem_t * semaphore, const timespec* until), (semaphore, until))            \
  X(int, sem_clockwait, (sem_t * semaphore, clockid_t clock, const timespec* until),               \
    (semaphore, clock, until))                                                                     \
  X(int, pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier))                           \
  X(int, pthread_join, (pthread_t thread, void** result), (thread, result))                        \
  X(int, pthread_timedjoin_np, (pthread_t thread, void** result, const timespec* until),           \
    (thread, result, until))                                                                       \
  X(int, pthread_clockjoin_np,                                                                     \
    (pthread_t thread, void** result, clockid_t clock, const timespec* until),                     \
    (thread, result, clock, until))                                                                \
  X(int, mtx_lock, (mtx_t * mutex), (mutex))                                                       \
  X(int, mtx_timedlock, (mtx_t * mutex, const timespec* until), (mutex, until))                    \
  X(int, cnd_wait, (cnd_t * condition, mtx_t * mutex), (condition, mutex))                         \
  X(int, cnd_timedwait, (cnd_t * condition, mtx_t * mutex, const timespec* until),                 \
    (condition, mutex, until))                                                                     \
  X(int, cnd_signal, (cnd_t * condition), (condition))                                             \
  X(int, cnd_broadcast, (cnd_t * condition), (condition))                                          \
  X(int, thrd_join, (thrd_t thread, int* result), (thread, result))

#define GPUPROF_THREAD_HOOKS(X)                                                                    \
  X(int, pthread_create,                                                                           \
    (pthread_t * thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument), \
    (thread, attributes, start, argument))                                                         \
  X(int, pthread_setname_np, (pthread_t thread, const char* name), (thread, name))                 \
  X(int, thrd_create, (thrd_t * thread, thrd_start_t start, void* argument),                       \
    (thread, start, argument))

#define GPUPROF_PROCESS_HOOKS(X)                                                                  \
  X(pid_t, fork, (void), ())                                                                      \
  X(int, daemon, (int no_chdir, int no_close), (no_chdir, no_close))                              \
  X(int, execve, (const char* path, char* const argv[], char* const envp[]), (path, argv, envp))  \
  X(int, execv, (const char* path, char* const argv[]), (path, argv))                             \
  X(int, execvp, (const char* file, char* const argv[]), (file, argv))                            \
  X(int, execvpe, (const char* file, char* const argv[], char* const envp[]), (file, argv, envp)) \
  X(int, fexecve, (int fd, char* const argv[], char* const envp[]), (fd, argv, envp))             \
  X(int, execveat,                                                                                \
    (int folder, const char* path, char* const argv[], char* const envp[], int flags),            \
    (folder, path, argv, envp, flags))                                                            \
  X(int, posix_spawn,                                                                             \
    (pid_t * pid, const char* path, const posix_spawn_file_actions_t* actions,                    \
     const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]),                \
    (pid, path, actions, attributes, argv, envp))                                                 \
  X(int, posix_spawnp,                                                                            \
    (pid_t * pid, const char* file, const posix_spawn_file_actions_t* actions,                    \
     const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]),                \
    (pid, file, actions, attributes, argv, envp))

#define GPUPROF_EXIT_HOOKS(X)            \
  X(void, _exit, (int status), (status)) \
  X(void, _Exit, (int status), (status)) \
  X(void, abort, (void), ())

// The moment between the last library constructor and main.
#define GPUPROF_START_HOOKS(X)                                                    \
  X(int, __libc_start_main,                                                       \
    (int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void), \
     void (*fini)(void), void (*loader_fini)(void), void* stack_end),             \
    (main, argc, argv, init, fini, loader_fini, stack_end))

#define GPUPROF_SIGNAL_HOOKS(X)                                                          \
  X(int, sigaction, (int number, const struct sigaction* action, struct sigaction* old), \
    (number, action, old))                                                               \
  X(sighandler_t, signal, (int number, sighandler_t handler), (number, handler))         \
  X(sighandler_t, sysv_signal, (int number, sighandler_t handler), (number, handler))    \
  X(sighandler_t, sigset, (int number, sighandler_t handler), (number, handler))         \
  X(int, sigignore, (int number), (number))                                              \
  X(int, siginterrupt, (int number, int interrupt), (number, interrupt))

#define GPUPROF_BLOCKING_HOOKS(X)                                                                  \
  X(int, nanosleep, (const timespec* time, timespec* left), (time, left))                          \
  X(int, clock_nanosleep, (clockid_t clock, int flags, const timespec* time, timespec* left),      \
    (clock, flags, time, left))                                                                    \
  X(int, usleep, (unsigned microseconds), (microseconds))                                          \
  X(unsigned, sleep, (unsigned seconds), (seconds))                                                \
  X(int, poll, (struct pollfd * files, unsigned long count, int timeout), (files, count, timeout)) \
  X(int, ppoll,                                                                                    \
    (struct pollfd * files, unsigned long count, const timespec* timeout, const sigset_t* mask),   \
    (files, count, timeout, mask))                                                                 \
  X(int, select,                                                                                   \
    (int count, fd_set* read, fd_set* write, fd_set* except, struct timeval* timeout),             \
    (count, read, write, except, timeout))                                                         \
  X(int, epoll_wait, (int epoll, struct epoll_event* events, int most, int timeout),               \
    (epoll, events, most, timeout))                                                                \
  X(int, epoll_pwait,                                                                              \
    (int epoll, struct epoll_event* events, int most, int timeout, const sigset_t* mask),          \
    (epoll, events, most, timeout, mask))                                                          \
  X(ssize_t, recv, (int socket, void* buffer, size_t bytes, int flags),                            \
    (socket, buffer, bytes, flags))                                                                \
  X(ssize_t, recvmsg, (int socket, struct msghdr* message, int flags), (socket, message, flags))   \
  X(pid_t, waitpid, (pid_t child, int* status, int options), (child, status, options))             \
  X(pid_t, wait4, (pid_t child, int* status, int options, struct rusage* usage),                   \
    (child, status, options, usage))

// Calls that read files, and that give descriptors free. Fortified programs call the functions with
// _chk.
#define GPUPROF_FILE_HOOKS(X)                                                                    \
  X(ssize_t, __read_chk, (int file, void* buffer, size_t bytes, size_t room),                    \
    (file, buffer, bytes, room))                                                                 \
  X(ssize_t, pread, (int file, void* buffer, size_t bytes, off_t offset),                        \
    (file, buffer, bytes, offset))                                                               \
  X(ssize_t, pread64, (int file, void* buffer, size_t bytes, off64_t offset),                    \
    (file, buffer, bytes, offset))                                                               \
  X(ssize_t, __pread_chk, (int file, void* buffer, size_t bytes, off_t offset, size_t room),     \
    (file, buffer, bytes, offset, room))                                                         \
  X(ssize_t, __pread64_chk, (int file, void* buffer, size_t bytes, off64_t offset, size_t room), \
    (file, buffer, bytes, offset, room))                                                         \
  X(ssize_t, readv, (int file, const struct iovec* parts, int count), (file, parts, count))      \
  X(ssize_t, preadv, (int file, const struct iovec* parts, int count, off_t offset),             \
    (file, parts, count, offset))                                                                \
  X(ssize_t, preadv64, (int file, const struct iovec* parts, int count, off64_t offset),         \
    (file, parts, count, offset))                                                                \
  X(ssize_t, preadv2, (int file, const struct iovec* parts, int count, off_t offset, int flags), \
    (file, parts, count, offset, flags))                                                         \
  X(ssize_t, preadv64v2,                                                                         \
    (int file, const struct iovec* parts, int count, off64_t offset, int flags),                 \
    (file, parts, count, offset, flags))                                                         \
  X(size_t, fread, (void* buffer, size_t size, size_t count, struct _IO_FILE* stream),           \
    (buffer, size, count, stream))                                                               \
  X(size_t, fread_unlocked, (void* buffer, size_t size, size_t count, struct _IO_FILE* stream),  \
    (buffer, size, count, stream))                                                               \
  X(size_t, __fread_chk,                                                                         \
    (void* buffer, size_t room, size_t size, size_t count, struct _IO_FILE* stream),             \
    (buffer, room, size, count, stream))                                                         \
  X(size_t, __fread_unlocked_chk,                                                                \
    (void* buffer, size_t room, size_t size, size_t count, struct _IO_FILE* stream),             \
    (buffer, room, size, count, stream))                                                         \
  X(int, fclose, (struct _IO_FILE * stream), (stream))                                           \
  X(int, dup2, (int from, int to), (from, to))                                                   \
  X(int, dup3, (int from, int to, int flags), (from, to, flags))                                 \
  X(int, close_range, (unsigned first, unsigned last, int flags), (first, last, flags))          \
  X(void, closefrom, (int first), (first))

// Calls that an allocator makes as it begins. sys/prctl.h and unistd.h declare two of them as
// variadic.
#define GPUPROF_EARLY_HOOKS(X)                                                                    \
  X(ssize_t, read, (int file, void* buffer, size_t bytes), (file, buffer, bytes))                 \
  X(int, close, (int descriptor), (descriptor))                                                   \
  X(int, prctl, (int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d), \
    (option, a, b, c, d))                                                                         \
  X(long, syscall, (long number, long a, long b, long c, long d, long e, long f),                 \
    (number, a, b, c, d, e, f))

#define GPUPROF_IDENTITY_HOOKS(X)                                    \
  X(int, setuid, (uid_t user), (user))                               \
  X(int, seteuid, (uid_t user), (user))                              \
  X(int, setreuid, (uid_t user, uid_t effective), (user, effective)) \
  X(int, setresuid, (uid_t user, uid_t effective, uid_t saved), (user, effective, saved))

#define GPUPROF_SANDBOX_HOOKS(X)                                   \
  X(int, capset, (void* header, const void* data), (header, data)) \
  X(int, unshare, (int flags), (flags))                            \
  X(int, setns, (int fd, int type), (fd, type))

// Calls by which a program counts its threads.
#define GPUPROF_COUNT_HOOKS(X)                                                                    \
  X(int, fstatat, (int folder, const char* path, struct stat* status, int flags),                 \
    (folder, path, status, flags))                                                                \
  X(int, fstatat64, (int folder, const char* path, struct stat64* status, int flags),             \
    (folder, path, status, flags))                                                                \
  X(int, __fxstatat, (int version, int folder, const char* path, struct stat* status, int flags), \
    (version, folder, path, status, flags))                                                       \
  X(int, __fxstatat64,                                                                            \
    (int version, int folder, const char* path, struct stat64* status, int flags),                \
    (version, folder, path, status, flags))                                                       \
  X(int, __xstat, (int version, const char* path, struct stat* status), (version, path, status))  \
  X(int, __xstat64, (int version, const char* path, struct stat64* status),                       \
    (version, path, status))                                                                      \
  X(int, __lxstat, (int version, const char* path, struct stat* status), (version, path, status)) \
  X(int, __lxstat64, (int version, const char* path, struct stat64* status),                      \
    (version, path, status))                                                                      \
  X(int, __fxstat, (int version, int file, struct stat* status), (version, file, status))         \
  X(int, __fxstat64, (int version, int file, struct stat64* status), (version, file, status))     \
  X(int, stat, (const char* path, struct stat* status), (path, status))                           \
  X(int, stat64, (const char* path, struct stat64* status), (path, status))                       \
  X(int, lstat, (const char* path, struct stat* status), (path, status))                          \
  X(int, lstat64, (const char* path, struct stat64* status), (path, status))                      \
  X(int, fstat, (int file, struct stat* status), (file, status))                                  \
  X(int, fstat64, (int file, struct stat64* status), (file, status))                              \
  X(int, statx, (int folder, const char* path, int flags, unsigned mask, struct statx* status),   \
    (folder, path, flags, mask, status))                                                          \
  X(struct dirent*, readdir, (struct __dirstream * folder), (folder))                             \
  X(struct dirent64*, readdir64, (struct __dirstream * folder), (folder))                         \
  X(int, readdir_r, (struct __dirstream * folder, struct dirent * entry, struct dirent * *found), \
    (folder, entry, found))                                                                       \
  X(int, readdir64_r,                                                                             \
    (struct __dirstream * folder, struct dirent64 * entry, struct dirent64 * *found),             \
    (folder, entry, found))                                                                       \
  X(int, scandir,                                                                                 \
    (const char* path, struct dirent*** list, int (*filter)(const struct dirent*),                \
     int (*compare)(const struct dirent**, const struct dirent**)),                               \
    (path, list, filter, compare))                                                                \
  X(int, scandir64,                                                                               \
    (const char* path, struct dirent64*** list, int (*filter)(const struct dirent64*),            \
     int (*compare)(const struct dirent64**, const struct dirent64**)),                           \
    (path, list, filter, compare))                                                                \
  X(struct _IO_FILE*, fopen, (const char* path, const char* mode), (path, mode))                  \
  X(struct _IO_FILE*, fopen64, (const char* path, const char* mode), (path, mode))

// Calls by which a program sets its limits, and locks memory.
#define GPUPROF_LIMIT_HOOKS(X)                                                                 \
  X(int, setrlimit, (int resource, const struct rlimit* limit), (resource, limit))             \
  X(int, setrlimit64, (int resource, const struct rlimit* limit), (resource, limit))           \
  X(int, getrlimit, (int resource, struct rlimit* limit), (resource, limit))                   \
  X(int, getrlimit64, (int resource, struct rlimit* limit), (resource, limit))                 \
  X(int, prlimit, (pid_t pid, int resource, const struct rlimit* limit, struct rlimit* old),   \
    (pid, resource, limit, old))                                                               \
  X(int, prlimit64, (pid_t pid, int resource, const struct rlimit* limit, struct rlimit* old), \
    (pid, resource, limit, old))                                                               \
  X(int, mlock, (const void* address, size_t bytes), (address, bytes))                         \
  X(int, mlockall, (int flags), (flags))

#define GPUPROF_LOADER_HOOKS(X)             \
  X(int, dlclose, (void* handle), (handle)) \
  X(void*, dlmopen, (long space, const char* path, int mode), (space, path, mode))

// Originals that the inject object needs but does not interpose.
#define GPUPROF_NEEDED_SYMBOLS(X)                                                                 \
  X(int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))                               \
  X(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), (lock))                             \
  X(int, pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), (lock))                             \
  X(int, sem_trywait, (sem_t * semaphore), (semaphore))                                           \
  X(int, mtx_trylock, (mtx_t * mutex), (mutex))                                                   \
  X(int, pthread_getcpuclockid, (pthread_t thread, clockid_t * clock), (thread, clock))           \
  X(int, dirfd, (struct __dirstream * folder), (folder))                                          \
  X(int, fileno, (struct _IO_FILE * stream), (stream))                                            \
  X(void, pthread_testcancel, (void), ())                                                         \
  X(int, pthread_key_create, (pthread_key_t * key, void (*destructor)(void*)), (key, destructor)) \
  X(int, pthread_setspecific, (pthread_key_t key, const void* value), (key, value))               \
  X(int, pthread_attr_init, (pthread_attr_t * attributes), (attributes))                          \
  X(int, pthread_attr_setstacksize, (pthread_attr_t * attributes, size_t bytes),                  \
    (attributes, bytes))                                                                          \
  X(int, pthread_attr_setdetachstate, (pthread_attr_t * attributes, int state),                   \
    (attributes, state))                                                                          \
  X(int, pthread_attr_destroy, (pthread_attr_t * attributes), (attributes))

// Hooks whose first call resolves all originals. Locks first: they are resolved before the others
// (real_symbols.cc).
#define GPUPROF_LATE_HOOKS(X) \
  GPUPROF_LOCK_HOOKS(X)       \
  GPUPROF_THREAD_HOOKS(X)     \
  GPUPROF_PROCESS_HOOKS(X)    \
  GPUPROF_EXIT_HOOKS(X)       \
  GPUPROF_START_HOOKS(X)      \
  GPUPROF_SIGNAL_HOOKS(X)     \
  GPUPROF_BLOCKING_HOOKS(X)   \
  GPUPROF_FILE_HOOKS(X)       \
  GPUPROF_IDENTITY_HOOKS(X)   \
  GPUPROF_SANDBOX_HOOKS(X)    \
  GPUPROF_COUNT_HOOKS(X)      \
  GPUPROF_LIMIT_HOOKS(X)      \
  GPUPROF_LOADER_HOOKS(X)

#define GPUPROF_HOOKS(X)   \
  GPUPROF_LATE_HOOKS(X)    \
  GPUPROF_HEAP_HOOKS(X)    \
  GPUPROF_MAPPING_HOOKS(X) \
  GPUPROF_EARLY_HOOKS(X)

#define GPUPROF_EXPORT __attribute__((visibility("default")))
