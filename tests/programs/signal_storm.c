// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Signals, in short bursts and each delivered, whose handler allocates and takes a lock of its
// own: signal_storm before|after|raw|altstack|timer COUNT. `before`: the handler is installed by a
// constructor; `raw`: by the bare system call; `altstack`: it runs on a stack of its own. The
// interrupted thread names itself without end: libc is never interrupted inside its heap, our hook
// is. `timer` adds an interval timer and two threads that lock and allocate with signals blocked.

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#define STORM (SIGRTMIN + 3)  // queued: none is lost
enum { kBurst = 8 };

static volatile long g_handled, g_errno_lost;
static volatile int g_stop;
static pthread_mutex_t g_mine = PTHREAD_MUTEX_INITIALIZER;  // of the handler alone
static pthread_mutex_t g_shared = PTHREAD_MUTEX_INITIALIZER;

static void Handle(int number) {
  const int saved = errno;
  pthread_mutex_lock(&g_mine);
  char* block = malloc(67001);
  block[0] = (char)number;
  block = realloc(block, 67002);
  free(block);
  pthread_mutex_unlock(&g_mine);
  errno = saved;
  g_handled = g_handled + 1;
}

#if defined(__x86_64__)
// As the kernel takes it.
struct KernelAction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)(void);
  unsigned long mask;
};
void ReturnFromSignal(void);
__asm__(".text\n.globl ReturnFromSignal\nReturnFromSignal:\n\tmov $15, %eax\n\tsyscall\n");

static int InstallRaw(int number) {
  struct KernelAction action = {Handle, 0x04000000 | SA_RESTART, ReturnFromSignal, 0};
  return (int)syscall(SYS_rt_sigaction, number, &action, NULL, 8);
}
#else
static int InstallRaw(int number) {
  struct sigaction action = {0};
  action.sa_handler = Handle;
  return sigaction(number, &action, NULL);
}
#endif

static int Install(int number, int flags) {
  struct sigaction action = {0};
  action.sa_handler = Handle;
  action.sa_flags = SA_RESTART | flags;
  sigfillset(&action.sa_mask);  // handlers do not interrupt each other inside the heap
  return sigaction(number, &action, NULL);
}

__attribute__((constructor)) static void Early(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "before") == 0) Install(STORM, 0);
}

static void* Send(void* opaque) {
  const pthread_t target = *(pthread_t*)opaque;
  for (;;) {
    const long until = g_handled + kBurst;
    if (g_stop) return NULL;
    for (int i = 0; i < kBurst; ++i) pthread_kill(target, STORM);
    while (g_handled < until && !g_stop) sched_yield();
  }
}

static void* Busy(void* unused) {
  while (!g_stop) {
    pthread_mutex_lock(&g_shared);
    free(malloc(67003));
    pthread_mutex_unlock(&g_shared);
    usleep(100);
  }
  return unused;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* how = argv[1];
  const long count = atol(argv[2]);
  const int timer = strcmp(how, "timer") == 0;
  int result = 0;
  if (strcmp(how, "raw") == 0) {
    result = InstallRaw(STORM);
  } else if (strcmp(how, "altstack") == 0) {
    static char room[16384];
    const stack_t stack = {room, 0, sizeof(room)};
    result = sigaltstack(&stack, NULL);
    result |= Install(STORM, SA_ONSTACK);
  } else if (strcmp(how, "before") != 0) {
    result = Install(STORM, 0);
  }
  pthread_t self = pthread_self(), sender, busy[2];
  sigset_t ours, old;
  sigemptyset(&ours);
  sigaddset(&ours, STORM);
  sigaddset(&ours, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &ours, &old);
  pthread_create(&sender, NULL, Send, &self);
  for (int i = 0; timer && i < 2; ++i) pthread_create(&busy[i], NULL, Busy, NULL);
  if (timer) {
    Install(SIGALRM, 0);
    const struct itimerval often = {{0, 500}, {0, 500}};
    setitimer(ITIMER_REAL, &often, NULL);
  }
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  long named = 0;
  while (g_handled < count) {
    errno = 123;
    pthread_setname_np(self, ++named % 2 != 0 ? "odd" : "even");
    if (errno != 123) ++g_errno_lost;
    for (volatile int spin = 0; spin < 300; ++spin) {}
  }
  pthread_sigmask(SIG_BLOCK, &ours, NULL);
  g_stop = 1;
  pthread_join(sender, NULL);
  for (int i = 0; timer && i < 2; ++i) pthread_join(busy[i], NULL);
  printf("installed %d, errno changed %ld\n", result, g_errno_lost);
  fprintf(stderr, "handled %ld, named %ld\n", g_handled, named);
  return 0;
}
