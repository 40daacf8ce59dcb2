// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Counts its own threads in every way that libc offers, with one thread and with three.

#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_barrier_t g_barrier;

static void* stay(void* unused) {
  (void)unused;
  pthread_barrier_wait(&g_barrier);
  pthread_barrier_wait(&g_barrier);
  return NULL;
}

static int number_in(const char* text, int is_stat) {
  if (!is_stat) {
    const char* key = strstr(text, "\nThreads:\t");
    return key == NULL ? -1 : atoi(key + 10);
  }
  const char* field = strrchr(text, ')');
  for (int i = 0; field != NULL && i < 18; ++i) field = strchr(field + 1, ' ');
  return field == NULL ? -1 : atoi(field + 1);
}

static int by_descriptor(const char* path, int is_stat, int way) {
  char text[4096] = {0};
  const int file = open(path, O_RDONLY);

  ssize_t size =
      way == 0 ? read(file, text, sizeof text - 1) : pread(file, text, sizeof text - 1, 0);
  // What is read again tells the same.
  if (way == 0) size = pread(file, text, sizeof text - 1, 0);
  close(file);
  text[size > 0 ? size : 0] = 0;
  return number_in(text, is_stat);
}

static int by_stream(const char* path, int is_stat) {
  char text[4096] = {0};
  FILE* stream = fopen(path, "re");
  size_t size = 0;
  int c;
  while ((c = fgetc(stream)) != EOF && size < sizeof text - 1) text[size++] = (char)c;
  const int is_close_on_exec = fcntl(fileno(stream), F_GETFD) & FD_CLOEXEC;
  fclose(stream);
  return is_close_on_exec ? number_in(text, is_stat) : -2;
}

static int by_list(const char* path) {
  int count = 0;
  DIR* folder = opendir(path);
  for (const struct dirent* entry; (entry = readdir(folder)) != NULL;)
    count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

static int by_scan(const char* path) {
  struct dirent** list;
  int count = scandir(path, &list, NULL, alphasort);
  int threads = 0;
  for (int i = 0; i < count; ++i) {
    threads += list[i]->d_name[0] != '.';
    free(list[i]);
  }
  free(list);
  return threads;
}

static void count_all(void) {
  char own[64];
  struct stat status;
  struct statx more;
  snprintf(own, sizeof own, "/proc/%d/task", getpid());
  stat("/proc/self/task", &status);
  printf("stat %d\n", (int)status.st_nlink - 2);
  stat(own, &status);
  printf("stat by number %d\n", (int)status.st_nlink - 2);
  lstat("/proc/self/task/", &status);
  printf("lstat %d\n", (int)status.st_nlink - 2);
  const int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY);
  fstat(folder, &status);
  printf("fstat %d\n", (int)status.st_nlink - 2);
  close(folder);
  statx(AT_FDCWD, "/proc/self/task", 0, STATX_BASIC_STATS, &more);
  printf("statx %d\n", (int)more.stx_nlink - 2);
  printf("readdir %d\n", by_list("/proc/self/task"));
  printf("readdir by number %d\n", by_list(own));
  printf("scandir %d\n", by_scan("/proc/self/task"));
  for (int way = 0; way < 2; ++way) {
    printf("stat file %d\n", by_descriptor("/proc/self/stat", 1, way));
    printf("status file %d\n", by_descriptor("/proc/self/status", 0, way));
    printf("thread's status file %d\n", by_descriptor("/proc/thread-self/status", 0, way));
  }
  printf("stat stream %d\n", by_stream("/proc/self/stat", 1));
  printf("status stream %d\n", by_stream("/proc/self/status", 0));
  stat("/proc/1/task", &status);
  printf("another process's folder %d\n", status.st_nlink >= 3);
}

int main(int count, char** words) {
  pthread_t threads[2];
  for (int i = 0; i < 1000; ++i) free(malloc(100));
  usleep(count > 1 ? 1000 * (useconds_t)atoi(words[1]) : 0);
  count_all();
  pthread_barrier_init(&g_barrier, NULL, 3);
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, stay, NULL);
  pthread_barrier_wait(&g_barrier);
  count_all();
  pthread_barrier_wait(&g_barrier);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  return 0;
}
