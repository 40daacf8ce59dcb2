// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Short threads that signals hit from their first instruction on, while the recorder makes room for
// them: signals_at_birth COUNT. Only these threads let the signal in; its handler allocates. Ends
// with 77 where a thread cannot be born with a mask of its own.

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((weak)) int pthread_attr_setsigmask_np(pthread_attr_t* attributes,
                                                     const sigset_t* mask);

enum { kMost = 20 };  // a thread; more could keep it from ever getting on

static long g_handled;
static int g_stop, g_left;

static void Handle(int number) {
  free(malloc(74001));
  __atomic_fetch_add(&g_handled, number == SIGUSR2, __ATOMIC_RELAXED);
  __atomic_fetch_sub(&g_left, 1, __ATOMIC_RELAXED);
}

// At its end libc gives its memory back: a handler that allocates in the midst of that would wait
// for itself, here as in any program.
static void* Short(void* unused) {
  for (volatile int spin = 0; spin < 20000; ++spin) {}
  sigset_t late;
  sigemptyset(&late);
  sigaddset(&late, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &late, NULL);
  return unused;
}

static void* Send(void* unused) {
  while (!__atomic_load_n(&g_stop, __ATOMIC_RELAXED)) {
    if (__atomic_load_n(&g_left, __ATOMIC_RELAXED) > 0) {
      kill(getpid(), SIGUSR2);
    } else {
      sched_yield();
    }
  }
  return unused;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (pthread_attr_setsigmask_np == NULL) return 77;
  sigset_t ours, none;
  sigemptyset(&none);
  sigemptyset(&ours);
  sigaddset(&ours, SIGUSR2);
  sigprocmask(SIG_BLOCK, &ours, NULL);
  struct sigaction action = {0};
  action.sa_handler = Handle;
  sigaction(SIGUSR2, &action, NULL);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setsigmask_np(&attributes, &none);
  pthread_t sender, thread;
  pthread_create(&sender, NULL, Send, NULL);
  int made = 0;
  for (int i = 0; i < atoi(argv[1]); ++i) {
    __atomic_store_n(&g_left, kMost, __ATOMIC_RELAXED);
    if (pthread_create(&thread, &attributes, Short, NULL) == 0) ++made;
    pthread_join(thread, NULL);
  }
  __atomic_store_n(&g_stop, 1, __ATOMIC_RELAXED);
  pthread_join(sender, NULL);
  printf("%d threads\n", made);
  fprintf(stderr, "handled %ld\n", g_handled);
  return 0;
}
