// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Coroutines that allocate on stacks of their own: coroutines heap|mapped|moved|bare TIMES. `heap`:
// the stacks are blocks of the heap; `mapped`: mappings side by side without guards, unmapped in
// between; `moved`: a coroutine is continued by another thread; `bare`: the switch is made by hand,
// and what lies above the stack is unmapped meanwhile.

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { kBlock = 69001, kCount = 8, kYields = 5, kStack = 32 * 1024 };

static ucontext_t g_main, g_coroutine[kCount];
static long g_made;

__attribute__((noinline)) static void Deeper(int left) {
  volatile char here[40];
  here[0] = (char)left;
  if (left > 0) {
    Deeper(left - 1);
  } else {
    void* block = malloc(kBlock);
    __asm__ volatile("" ::"r"(block) : "memory");
    ++g_made;
    free(block);
  }
  here[1] = here[0];
}

static void Run(int which) {
  for (int i = 0; i < kYields; ++i) {
    Deeper(6);
    swapcontext(&g_coroutine[which], &g_main);
  }
}

static char* NewStack(int mapped) {
  if (!mapped) return malloc(kStack);
  char* stack =
      mmap(NULL, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  return stack == MAP_FAILED ? NULL : stack;
}

static void Drop(char* stack, int mapped) {
  if (mapped) {
    munmap(stack, kStack);
  } else {
    free(stack);
  }
}

static void* Continue(void* which) {
  swapcontext(&g_main, &g_coroutine[(size_t)which]);
  return NULL;
}

static void RoundOf(int mapped, int moved) {
  char* stacks[kCount];
  for (int i = 0; i < kCount; ++i) {
    stacks[i] = NewStack(mapped);
    getcontext(&g_coroutine[i]);
    g_coroutine[i].uc_stack.ss_sp = stacks[i];
    g_coroutine[i].uc_stack.ss_size = kStack;
    g_coroutine[i].uc_link = &g_main;
    makecontext(&g_coroutine[i], (void (*)(void))Run, 1, i);
  }
  for (int turn = 0; turn <= kYields; ++turn) {
    for (size_t i = 0; i < kCount; ++i) {
      if (moved && turn % 2 != 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, Continue, (void*)i);
        pthread_join(thread, NULL);
      } else {
        Continue((void*)i);
      }
    }
  }
  // Every other one first: the rest have holes beside them then, and are used by the next round.
  for (int i = 0; i < kCount; i += 2) Drop(stacks[i], mapped);
  for (int i = 1; i < kCount; i += 2) Drop(stacks[i], mapped);
}

#if defined(__x86_64__)
// Calls Deeper(3) on another stack. The return goes through a frame whose tables tell nothing true
// about where the caller's stack is.
__attribute__((noinline)) static void OnStack(char* top) {
  __asm__ volatile(
      "mov %%rsp, %%rbx\n\t"
      "mov %0, %%rsp\n\t"
      "mov $3, %%edi\n\t"
      "call *%1\n\t"
      "mov %%rbx, %%rsp\n\t"
      :
      : "r"(top), "r"(Deeper)
      : "rbx", "rdi", "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
}

static void Bare(void) {
  enum { kPages = 16 * 4096 };
  char* all = mmap(NULL, 2 * kPages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  OnStack(all + kPages);
  munmap(all + kPages, kPages);
  OnStack(all + kPages);
  munmap(all, kPages);
}
#else
static void Bare(void) { Deeper(3), Deeper(3); }
#endif

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int mapped = strcmp(argv[1], "heap") != 0;
  for (int i = 0; i < atoi(argv[2]); ++i) {
    if (strcmp(argv[1], "bare") == 0) {
      Bare();
    } else {
      RoundOf(mapped, strcmp(argv[1], "moved") == 0);
    }
  }
  printf("%ld made\n", g_made);
  return 0;
}
