// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// attached WAY: runs until SIGTERM, and checks itself at every moment. At the end it prints "ok"
// and how far it came, or at once what was wrong. WAY: sleep (one thread that sleeps), waits (a
// thread for each way to wait), churn (threads that allocate and never wait), busy (registers that
// must keep their values, no call at all), locks (threads that wait for a mutex), forks (a child
// now and then), handler (sits in a signal handler), constructor (sits in the constructor of a
// library), allocator (sits in the allocator that was preloaded), counted (so many calls after a
// byte on stdin), later (loads a library after a byte on stdin, which allocates), passing (threads,
// children and a library that come and go).

#include <dlfcn.h>
#include <errno.h>
#include <immintrin.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t g_ends;
static atomic_ulong g_rounds;

static void OnTerm(int number) { g_ends = number; }

static void Fail(const char* what, long value) {
  printf("%s: %ld\n", what, value);
  fflush(stdout);
  _exit(3);
}

static int64_t NowNs(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void Ready(void) {
  printf("ready\n");
  fflush(stdout);
}

// A wait of so many nanoseconds: it must last, and it must not be interrupted.
enum { kWaitNs = 30000000 };

static void Check(const char* what, long result, long expected, int64_t began, int is_timed) {
  if (g_ends) return;
  if (result != expected) Fail(what, result == -1 ? -errno : result);
  if (is_timed && NowNs() - began < kWaitNs - 1000000) Fail("too short", NowNs() - began);
  ++g_rounds;
}

static void* Sleeper(void* unused) {
  (void)unused;
  while (!g_ends) {
    const struct timespec time = {0, kWaitNs};
    const int64_t began = NowNs();
    Check("nanosleep", nanosleep(&time, NULL), 0, began, 1);
  }
  return NULL;
}

static void* AbsoluteSleeper(void* unused) {
  (void)unused;
  while (!g_ends) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const int64_t began = NowNs(), end = began + kWaitNs;
    until.tv_sec = end / 1000000000;
    until.tv_nsec = end % 1000000000;
    Check("clock_nanosleep", clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL), 0,
          began, 1);
  }
  return NULL;
}

static void* Poller(void* unused) {
  (void)unused;
  while (!g_ends) {
    const int64_t began = NowNs();
    Check("poll", poll(NULL, 0, kWaitNs / 1000000), 0, began, 1);
  }
  return NULL;
}

static int g_epoll;

static void* EpollWaiter(void* unused) {
  (void)unused;
  while (!g_ends) {
    struct epoll_event event;
    const int64_t began = NowNs();
    Check("epoll_wait", epoll_wait(g_epoll, &event, 1, kWaitNs / 1000000), 0, began, 1);
  }
  return NULL;
}

// The kernel does not begin these again after a stop.
static void* SignalWaiter(void* unused) {
  (void)unused;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  while (!g_ends) {
    const struct timespec time = {0, kWaitNs};
    const int64_t began = NowNs();
    const int got = sigtimedwait(&set, NULL, &time);
    Check("sigtimedwait", got < 0 && errno == EAGAIN ? 0 : -errno, 0, began, 1);
  }
  return NULL;
}

static void* OldSemaphoreWaiter(void* unused) {
  (void)unused;
  const int id = semget(IPC_PRIVATE, 1, 0600);
  while (!g_ends) {
    struct sembuf operation = {0, -1, 0};
    const struct timespec time = {0, kWaitNs};
    const int64_t began = NowNs();
    const int got = semtimedop(id, &operation, 1, &time);
    Check("semtimedop", got < 0 && errno == EAGAIN ? 0 : -errno, 0, began, 1);
  }
  semctl(id, 0, IPC_RMID);
  return NULL;
}

static void* Selecter(void* unused) {
  (void)unused;
  while (!g_ends) {
    struct timeval time = {0, kWaitNs / 1000};
    const int64_t began = NowNs();
    Check("select", select(0, NULL, NULL, NULL, &time), 0, began, 1);
  }
  return NULL;
}

static void* ConditionWaiter(void* unused) {
  (void)unused;
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  pthread_mutex_lock(&mutex);
  while (!g_ends) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += kWaitNs;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    const int64_t began = NowNs();
    Check("pthread_cond_timedwait", pthread_cond_timedwait(&condition, &mutex, &until), ETIMEDOUT,
          began, 1);
  }
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static int g_pipe[2], g_sockets[2];
static sem_t g_semaphore;

static void* Reader(void* unused) {
  (void)unused;
  char byte;
  while (!g_ends) Check("read", read(g_pipe[0], &byte, 1), 1, 0, 0);
  return NULL;
}

static void* Receiver(void* unused) {
  (void)unused;
  char byte;
  while (!g_ends) Check("recv", recv(g_sockets[0], &byte, 1, 0), 1, 0, 0);
  return NULL;
}

static void* SemaphoreWaiter(void* unused) {
  (void)unused;
  while (!g_ends) Check("sem_wait", sem_wait(&g_semaphore), 0, 0, 0);
  return NULL;
}

static void* Feeder(void* unused) {
  (void)unused;
  while (!g_ends) {
    const struct timespec time = {0, kWaitNs};
    nanosleep(&time, NULL);
    if (write(g_pipe[1], "x", 1) != 1 || send(g_sockets[1], "x", 1, 0) != 1) Fail("feed", errno);
    sem_post(&g_semaphore);
  }
  if (write(g_pipe[1], "x", 1) != 1 || send(g_sockets[1], "x", 1, 0) != 1) Fail("feed", errno);
  sem_post(&g_semaphore);
  return NULL;
}

static void* Churner(void* seed) {
  unsigned state = (unsigned)(uintptr_t)seed;
  enum { kBlocks = 64 };
  unsigned char* blocks[kBlocks] = {0};
  size_t sizes[kBlocks] = {0};
  while (!g_ends) {
    state = state * 1103515245 + 12345;
    const unsigned at = state >> 16 & (kBlocks - 1);
    if (blocks[at] != NULL) {
      if (blocks[at][0] != at || blocks[at][sizes[at] - 1] != at) Fail("block", at);
      free(blocks[at]);
    }
    sizes[at] = 16 + (state >> 8) % 3000;
    blocks[at] = malloc(sizes[at]);
    blocks[at][0] = blocks[at][sizes[at] - 1] = (unsigned char)at;
    atomic_fetch_add_explicit(&g_rounds, 1, memory_order_relaxed);
  }
  return NULL;
}

// No call of any library in the loop: eight general and sixteen vector registers keep their values.
static void Busy(void) {
  static uint64_t wanted[16][2], seen[16][2];
  for (int i = 0; i < 16; ++i) {
    wanted[i][0] = 0x1111111111111111ull * (uint64_t)(i + 1);
    wanted[i][1] = ~wanted[i][0];
  }
  while (!g_ends) {
    uint64_t sum = 0;
    __asm__ volatile(
        "movdqu (%1), %%xmm0; movdqu 16(%1), %%xmm1; movdqu 32(%1), %%xmm2; movdqu 48(%1), %%xmm3\n"
        "movdqu 64(%1), %%xmm4; movdqu 80(%1), %%xmm5; movdqu 96(%1), %%xmm6; movdqu 112(%1), "
        "%%xmm7\n"
        "movdqu 128(%1), %%xmm8; movdqu 144(%1), %%xmm9; movdqu 160(%1), %%xmm10; movdqu 176(%1), "
        "%%xmm11\n"
        "movdqu 192(%1), %%xmm12; movdqu 208(%1), %%xmm13; movdqu 224(%1), %%xmm14; movdqu "
        "240(%1), %%xmm15\n"
        "mov $1, %%r8; mov $2, %%r9; mov $3, %%r10; mov $4, %%r11; mov $5, %%r12; mov $6, %%r13; "
        "mov $7, %%r14; mov $8, %%r15\n"
        "mov $3000000, %%ecx\n"
        "1: dec %%ecx; jnz 1b\n"
        "movdqu %%xmm0, (%2); movdqu %%xmm1, 16(%2); movdqu %%xmm2, 32(%2); movdqu %%xmm3, 48(%2)\n"
        "movdqu %%xmm4, 64(%2); movdqu %%xmm5, 80(%2); movdqu %%xmm6, 96(%2); movdqu %%xmm7, "
        "112(%2)\n"
        "movdqu %%xmm8, 128(%2); movdqu %%xmm9, 144(%2); movdqu %%xmm10, 160(%2); movdqu %%xmm11, "
        "176(%2)\n"
        "movdqu %%xmm12, 192(%2); movdqu %%xmm13, 208(%2); movdqu %%xmm14, 224(%2); movdqu "
        "%%xmm15, 240(%2)\n"
        "mov %%r8, %0; shl $4, %0; or %%r9, %0; shl $4, %0; or %%r10, %0; shl $4, %0; or %%r11, "
        "%0; shl $4, %0\n"
        "or %%r12, %0; shl $4, %0; or %%r13, %0; shl $4, %0; or %%r14, %0; shl $4, %0; or %%r15, "
        "%0\n"
        : "=&a"(sum)
        : "S"(wanted), "D"(seen)
        : "memory", "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1",
          "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
          "xmm13", "xmm14", "xmm15");
    if (sum != 0x12345678) Fail("general registers", (long)sum);
    if (memcmp(wanted, seen, sizeof wanted) != 0) Fail("vector registers", 0);
    ++g_rounds;
  }
}

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned long g_counted;

static void* Locker(void* unused) {
  (void)unused;
  while (!g_ends) {
    pthread_mutex_lock(&g_mutex);
    ++g_counted;
    const struct timespec time = {0, 50000};
    nanosleep(&time, NULL);
    pthread_mutex_unlock(&g_mutex);
    atomic_fetch_add(&g_rounds, 1);
  }
  return NULL;
}

static void Forks(void) {
  while (!g_ends) {
    const pid_t child = fork();
    if (child == 0) {
      free(malloc(100));
      _exit(7);
    }
    int status = 0;
    pid_t got;
    do got = waitpid(child, &status, 0);
    while (got < 0 && errno == EINTR);
    if (got != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7) Fail("child", status);
    ++g_rounds;
  }
}

static void Sit(void) {
  while (!g_ends) {
    const struct timespec time = {0, kWaitNs};
    nanosleep(&time, NULL);
    ++g_rounds;
  }
}

// After a byte on stdin: so many blocks of one size, and so many waits for a lock that another
// thread holds.
enum { kCountedBlocks = 1000, kCountedBytes = 12345, kCountedWaits = 20 };

static void* Holder(void* unused) {
  (void)unused;
  for (int i = 0; i < kCountedWaits; ++i) {
    pthread_mutex_lock(&g_mutex);
    sem_post(&g_semaphore);
    const struct timespec time = {0, 2000000};
    nanosleep(&time, NULL);
    pthread_mutex_unlock(&g_mutex);
    while (g_counted != (unsigned long)i + 1) sched_yield();
  }
  return NULL;
}

static void Counted(void) {
  char byte;
  while (read(0, &byte, 1) != 1) continue;
  for (int i = 0; i < kCountedBlocks; ++i) free(malloc(kCountedBytes));
  sem_init(&g_semaphore, 0, 0);
  pthread_t holder;
  pthread_create(&holder, NULL, Holder, NULL);
  for (int i = 0; i < kCountedWaits; ++i) {
    sem_wait(&g_semaphore);
    pthread_mutex_lock(&g_mutex);
    pthread_mutex_unlock(&g_mutex);
    __atomic_store_n(&g_counted, (unsigned long)i + 1, __ATOMIC_SEQ_CST);
  }
  pthread_join(holder, NULL);
  g_rounds = g_counted;
  printf("counted\n");
  fflush(stdout);
  while (!g_ends) Sleeper(NULL);
}

// After a byte on stdin: a library that came later works, through calls of its own.
static void Later(const char* path) {
  char byte;
  while (read(0, &byte, 1) != 1) continue;
  void* library = dlopen(path, RTLD_NOW);
  if (library == NULL) Fail(dlerror(), 0);
  void (*work)(void) = (void (*)(void))dlsym(library, "work_later");
  while (!g_ends) {
    work();
    const struct timespec time = {0, 1000000};
    nanosleep(&time, NULL);
    ++g_rounds;
  }
}

static void* Brief(void* unused) {
  (void)unused;
  for (int i = 0; i < 50; ++i) free(malloc(100 + i));
  ++g_rounds;
  return NULL;
}

static void* MakesThreads(void* unused) {
  (void)unused;
  while (!g_ends) {
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i)
      if (pthread_create(&threads[i], NULL, Brief, NULL) != 0) Fail("pthread_create", i);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  }
  return NULL;
}

static const char* g_library;

static void* Loads(void* unused) {
  (void)unused;
  while (!g_ends) {
    void* library = dlopen(g_library, RTLD_NOW);
    if (library == NULL) Fail(dlerror(), 0);
    ((void (*)(void))dlsym(library, "work_later"))();
    dlclose(library);
    ++g_rounds;
  }
  return NULL;
}

static void* MakesChildren(void* unused) {
  (void)unused;
  Forks();
  return NULL;
}

static void OnUser(int number) {
  (void)number;
  Ready();
  Sit();
}

// Called by the constructor of the library.
__attribute__((visibility("default"))) void sit_in_constructor(void) {
  Ready();
  Sit();
}

static void Run(void* (*const* mains)(void*), int count) {
  pthread_t threads[16];
  for (int i = 0; i < count; ++i)
    pthread_create(&threads[i], NULL, mains[i], (void*)(uintptr_t)(i + 1));
  Ready();
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "sleep";
  struct sigaction action = {.sa_handler = OnTerm, .sa_flags = SA_RESTART};
  sigaction(SIGTERM, &action, NULL);
  if (strcmp(way, "sleep") == 0) {
    Ready();
    Sleeper(NULL);
  } else if (strcmp(way, "waits") == 0) {
    g_epoll = epoll_create1(0);
    if (g_epoll < 0 || pipe(g_pipe) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, g_sockets) != 0 ||
        sem_init(&g_semaphore, 0, 0) != 0)
      Fail("set-up", errno);
    void* (*const mains[])(void*) = {Sleeper,      AbsoluteSleeper,    Poller,
                                     EpollWaiter,  Selecter,           ConditionWaiter,
                                     Reader,       Receiver,           SemaphoreWaiter,
                                     SignalWaiter, OldSemaphoreWaiter, Feeder};
    Run(mains, 12);
  } else if (strcmp(way, "churn") == 0) {
    void* (*const mains[])(void*) = {Churner, Churner, Churner};
    pthread_t threads[3];
    for (int i = 0; i < 3; ++i)
      pthread_create(&threads[i], NULL, mains[i], (void*)(uintptr_t)(i + 1));
    Ready();
    Churner((void*)(uintptr_t)9);
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  } else if (strcmp(way, "busy") == 0) {
    Ready();
    Busy();
  } else if (strcmp(way, "locks") == 0) {
    void* (*const mains[])(void*) = {Locker, Locker, Locker};
    Run(mains, 3);
    if (g_counted != g_rounds) Fail("counted", (long)g_counted);
  } else if (strcmp(way, "forks") == 0) {
    Ready();
    Forks();
  } else if (strcmp(way, "counted") == 0) {
    Ready();
    Counted();
  } else if (strcmp(way, "later") == 0) {
    Ready();
    Later(argv[2]);
  } else if (strcmp(way, "passing") == 0) {
    g_library = argv[2];
    void* (*const mains[])(void*) = {MakesThreads, MakesThreads, Loads, MakesChildren};
    Run(mains, 4);
  } else if (strcmp(way, "handler") == 0) {
    signal(SIGUSR2, OnUser);
    raise(SIGUSR2);
  } else if (strcmp(way, "allocator") == 0) {
    Ready();
    free(malloc(5000));
    ++g_rounds;
  } else if (strcmp(way, "constructor") == 0) {
    if (dlopen(argv[2], RTLD_NOW) == NULL) Fail(dlerror(), 0);
  } else {
    Fail("unknown way", 0);
  }
  printf("ok %lu\n", (unsigned long)g_rounds);
  return 0;
}
