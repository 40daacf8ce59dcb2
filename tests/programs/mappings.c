// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Every call of the mmap family: memory, files, reservations, parts taken back, ranges mapped over,
// moved and grown; calls that fail, with the errno they set. Prints what is mapped at the end.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/programs/at_rest.h"

enum { kPage = 4096 };

static char* Memory(size_t pages, int protection) {
  return mmap(NULL, pages * kPage, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(void) {
  AwaitRecorder();
  char* a = Memory(100, PROT_READ | PROT_WRITE);
  memset(a, 1, 100 * kPage);
  if (munmap(a + 10 * kPage, 20 * kPage) != 0) return 1;  // leaves 10 and 70

  char* b = Memory(1000, PROT_NONE);  // a reservation, part of which becomes memory
  char* inside = mmap(b + 100 * kPage, 50 * kPage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (inside != b + 100 * kPage) return 2;
  inside[0] = 2;

  char* c = Memory(30, PROT_READ | PROT_WRITE);
  c = mremap(c, 30 * kPage, 300 * kPage, MREMAP_MAYMOVE);
  if (c == MAP_FAILED) return 3;
  c[299 * kPage] = 3;
  char* place = Memory(300, PROT_NONE);
  c = mremap(c, 300 * kPage, 200 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, place);
  if (c != place || c[0] != 0) return 4;

  const int self = open("/proc/self/exe", O_RDONLY);
  char* file = mmap64(NULL, 2 * kPage, PROT_READ, MAP_PRIVATE, self, 0);
  if (memcmp(file, "\177ELF", 4) != 0) return 5;
  munmap(file + kPage, 100);  // a page, however little is named

  errno = 0;
  if (mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) return 6;
  const int of_mmap = errno;
  if (munmap(a + 1, kPage) != -1) return 7;
  const int of_munmap = errno;
  if (mremap(a + 1, kPage, kPage, 0) != MAP_FAILED) return 8;
  const int of_mremap = errno;
  printf("errno %d %d %d\n", of_mmap, of_munmap, of_mremap);
  printf("memory %d file %d reserved %d\n", (80 + 50 + 200) * kPage, kPage, (950 + 100) * kPage);
  return 0;
}
