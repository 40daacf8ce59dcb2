// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Moves its environment about as servers do that write their title over it: the array lives in
// pages that are unmapped a moment later, it is emptied, and it is built anew. All of it from
// main's first line on, while a recorder would be starting beside it.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern char** environ;

enum { kPage = 4096, kVariables = 40, kRounds = 4000, kAllocations = 500 };

static char* Page(void) {
  char* page = mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) exit(1);
  return page;
}

int main(void) {
  clearenv();
  char* before = NULL;
  for (int round = 0; round < kRounds; ++round) {
    char* page = Page();
    char** entries = (char**)page;
    for (int i = 0; i < kVariables; ++i) {
      entries[i] = page + kPage / 2 + i * 32;
      snprintf(entries[i], 32, i == 7 ? "RANK=%d" : "VARIABLE=%d", round);
    }
    environ = entries;
    if (before != NULL) munmap(before, kPage);
    before = page;
    if (round % 8 == 0) free(malloc(73001));
  }
  environ = NULL;
  munmap(before, kPage);
  usleep(50000);
  for (int i = 0; i < kAllocations; ++i) free(malloc(73002));
  printf("%d\n", kAllocations);
  return 0;
}
