// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Jumps past many frames: jumps deep|handler|wait|fault TIMES. `deep`: longjmp out of a recursion
// that allocates; `handler`: siglongjmp out of a timer's handler that struck a computation; `wait`:
// the same out of a semaphore and a condition wait; `fault`: out of SIGSEGV handlers on a stack of
// their own. After each jump one block is allocated.

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { kDeep = 68001, kAfter = 68002, kInHandler = 68003 };

static sigjmp_buf g_back;
static sem_t g_never;
static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_condition = PTHREAD_COND_INITIALIZER;

static void Handle(int number) {
  free(malloc(kInHandler));
  siglongjmp(g_back, number);
}

__attribute__((noinline)) static int Deep(int left) {
  volatile char here[48];
  here[0] = (char)left;
  void* block = malloc(kDeep);
  free(block);
  if (left == 0) siglongjmp(g_back, 1);
  return Deep(left - 1) + here[0];
}

static void Arm(void) {
  const struct itimerval once = {{0, 0}, {0, 1500}};
  setitimer(ITIMER_REAL, &once, NULL);
}

static void Act(const char* how, int round) {
  if (strcmp(how, "deep") == 0) Deep(200 + round % 50);
  if (strcmp(how, "fault") == 0) {
    volatile int* nothing = (volatile int*)(size_t)(16 + round % 2 * 4);
    *nothing = 1;
  }
  Arm();
  if (strcmp(how, "wait") != 0) {
    for (;;) __asm__ volatile("");
  }
  if (round % 2 == 0) sem_wait(&g_never);
  // A jump out of the wait leaves the mutex as it was at that moment: a new pair each time.
  pthread_mutex_init(&g_mutex, NULL);
  pthread_cond_init(&g_condition, NULL);
  pthread_mutex_lock(&g_mutex);
  for (;;) pthread_cond_wait(&g_condition, &g_mutex);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  static char room[32768];
  const stack_t stack = {room, 0, sizeof(room)};
  sigaltstack(&stack, NULL);
  struct sigaction action = {0};
  action.sa_handler = Handle;
  sigaction(SIGALRM, &action, NULL);
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGSEGV, &action, NULL);
  sem_init(&g_never, 0, 0);
  volatile int jumped = 0;
  for (volatile int i = 0; i < atoi(argv[2]); i = i + 1) {
    if (sigsetjmp(g_back, 1) == 0) {
      Act(argv[1], i);
    } else {
      jumped = jumped + 1;
    }
    free(malloc(kAfter));
  }
  printf("%d jumps\n", jumped);
  return 0;
}
