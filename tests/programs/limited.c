// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Sets a limit for itself once the recorder runs, and then takes what the limit leaves: threads,
// memory and files. limited LIMIT AMOUNT soft|hard|outside. Prints what it got, and whether it is
// told the limit that was set. `outside`: by a system call of its own, as another process would set
// it.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int g_over;

static void* wait_for_end(void* unused) {
  (void)unused;
  while (!g_over) usleep(1000);
  return NULL;
}

static int count_blocks(size_t bytes, int most) {
  void* blocks[512];
  int count = 0;
  while (count < most && (blocks[count] = malloc(bytes)) != NULL) ++count;
  for (int i = 0; i < count; ++i) free(blocks[i]);
  return count;
}

static int count_threads(int most) {
  pthread_t threads[128];
  int count = 0;
  while (count < most && pthread_create(&threads[count], NULL, wait_for_end, NULL) == 0) ++count;
  g_over = 1;
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  return count;
}

static int count_files(int most) {
  int files[256];
  int count = 0;
  while (count < most && (files[count] = open("/dev/null", O_RDONLY)) >= 0) ++count;
  for (int i = 0; i < count; ++i) close(files[i]);
  return count;
}

static long count_written(void) {
  char name[] = "/tmp/limited-XXXXXX";
  char page[4096] = {0};
  const int file = mkstemp(name);
  long written = 0;
  unlink(name);
  while (written < 256 && write(file, page, sizeof page) == (long)sizeof page) ++written;
  close(file);
  return written;
}

int main(int count, char** words) {
  if (count != 4) return 2;
  static const struct {
    const char* name;
    int resource;
  } kinds[] = {{"addresses", RLIMIT_AS},  {"data", RLIMIT_DATA},       {"processes", RLIMIT_NPROC},
               {"files", RLIMIT_NOFILE},  {"file_size", RLIMIT_FSIZE}, {"stack", RLIMIT_STACK},
               {"locked", RLIMIT_MEMLOCK}};
  int resource = -1;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (strcmp(kinds[i].name, words[1]) == 0) resource = kinds[i].resource;
  if (resource < 0) return 2;
  for (int i = 0; i < 1000; ++i) free(malloc(100));
  usleep(400000);  // the recorder takes what it takes
  struct rlimit limit;
  getrlimit(resource, &limit);
  limit.rlim_cur = strtoul(words[2], NULL, 0);
  if (strcmp(words[3], "hard") == 0) limit.rlim_max = limit.rlim_cur;
  signal(SIGXFSZ, SIG_IGN);
  const int is_outside = strcmp(words[3], "outside") == 0;
  if ((is_outside ? syscall(SYS_prlimit64, 0, resource, &limit, NULL)
                  : setrlimit(resource, &limit)) != 0)
    return 3;
  struct rlimit told;
  getrlimit(resource, &told);
  printf("told %d\n", told.rlim_cur == limit.rlim_cur && told.rlim_max == limit.rlim_max);
  if (resource == RLIMIT_MEMLOCK) {
    printf("locked %d\n", mlockall(MCL_CURRENT | MCL_FUTURE) == 0);
    munlockall();
  }
  printf("threads %d\n", count_threads(60));
  printf("blocks %d\n", count_blocks(1 << 20, 400));
  printf("small %d\n", count_blocks(100 << 10, 500));
  printf("files %d\n", count_files(200));
  printf("pages %ld\n", count_written());
  return 0;
}
