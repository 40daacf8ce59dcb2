// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A program that loses a right or a resource while it runs, and works on: confined WHAT
// early|late|middle [DIRECTORY]. Early: the first thing it does; late: after 60 ms of work, before
// more threads begin; middle: threads are at work. Prints how many blocks each size had.
//   chroot DIR    another root          user       becomes nobody, for good
//   nofile        8 descriptors         memory     200 MiB of addresses
//   nproc         nobody, who may have no more threads
//   remove DIR    a directory is removed with all that is in it

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { kBefore = 70001, kAfter = 70002, kThreads = 4, kEach = 2000 };

static int g_started;

static void Work(long size, int count) {
  for (int i = 0; i < count; ++i) {
    free(malloc((size_t)size));
    if (i % 50 == 0) usleep(1000);
  }
}

static void* After(void* unused) {
  Work(kAfter, kEach);
  return unused;
}

static void* Long(void* unused) {
  for (int i = 0; i < 200; ++i) {
    free(malloc(kBefore));
    usleep(500);
  }
  return unused;
}

static int Limit(int resource, rlim_t value) {
  const struct rlimit limit = {value, value};
  return setrlimit(resource, &limit);
}

static int BecomeNobody(void) {
  if (setgroups(0, NULL) != 0 || setgid(65534) != 0) return -1;
  return setuid(65534);
}

static int Remove(const char* path) {
  DIR* folder = opendir(path);
  if (folder == NULL) return -1;
  for (struct dirent* entry; (entry = readdir(folder)) != NULL;) {
    char name[4096];
    snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
    if (entry->d_name[0] != '.') unlink(name);
  }
  closedir(folder);
  return rmdir(path);
}

static int Confine(const char* what, const char* path) {
  if (strcmp(what, "chroot") == 0) return chroot(path) != 0 || chdir("/") != 0;
  if (strcmp(what, "user") == 0) return BecomeNobody();
  if (strcmp(what, "nofile") == 0) return Limit(RLIMIT_NOFILE, 8);
  if (strcmp(what, "memory") == 0) return Limit(RLIMIT_AS, 200u << 20);
  if (strcmp(what, "nproc") == 0) return Limit(RLIMIT_NPROC, 0) != 0 || BecomeNobody() != 0;
  if (strcmp(what, "remove") == 0) return Remove(path);
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* when = argv[2];
  pthread_t beside, threads[kThreads];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 * 1024);
  const int is_middle = strcmp(when, "middle") == 0;
  if (is_middle) pthread_create(&beside, &attributes, Long, NULL);
  if (strcmp(when, "late") == 0) Work(kBefore, 1500);
  if (is_middle) usleep(30000);
  const int result = Confine(argv[1], argc > 3 ? argv[3] : NULL);
  for (int i = 0; i < kThreads; ++i) {
    const int error = pthread_create(&threads[g_started], &attributes, After, NULL);
    if (error == 0) {
      ++g_started;
    } else {
      printf("no thread: %s\n", strerror(error));
    }
  }
  Work(kAfter, kEach);
  for (int i = 0; i < g_started; ++i) pthread_join(threads[i], NULL);
  if (is_middle) pthread_join(beside, NULL);
  printf("confined %d, %d threads\n", result, g_started);
  return 7;
}
