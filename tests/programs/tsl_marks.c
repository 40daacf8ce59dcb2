// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A program of TensorFlow's recorder of marks (tsl_library.c): marks at each level, activities that
// another thread ends, and a profiler of its own. Under gpuprof alone: it waits for gpuprof's
// level.
//
// usage: tsl_marks LIBRARY [other]   With `other`, the library does not export its recorder, and
// the program waits for a line.

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct Mark {
  const char* name;
  size_t bytes;
  char rest[16];
  long start, end;
};

static void (*tsl_mark)(struct Mark*);
static int (*tsl_level_now)(void);
static bool (*tsl_begin_profile)(int);
static long (*tsl_end_profile)(void);

static long Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void Mark(const char* name, long start, long end) {
  struct Mark mark = {name, strlen(name), {0}, start, end};
  tsl_mark(&mark);
}

static void Work(const char* name) {
  const long start = Now();
  Mark(name, start, Now());
}

static void AwaitLevel(int level) {
  while (tsl_level_now() != level) usleep(1000);
}

static void* EndActivity(void* unused) {
  Mark("", -77, Now());
  return NULL;
}

int main(int count, char** words) {
  void* library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return puts(dlerror()), 2;
  tsl_mark = dlsym(library, "tsl_mark");
  tsl_level_now = dlsym(library, "tsl_level_now");
  tsl_begin_profile = dlsym(library, "tsl_begin_profile");
  tsl_end_profile = dlsym(library, "tsl_end_profile");
  if (count > 2) {
    puts("ready");
    fflush(stdout);
    char line[16];
    fgets(line, sizeof(line), stdin);
    printf("level %d\n", tsl_level_now());
    return 0;
  }

  AwaitLevel(1);
  for (int i = 0; i < 100; ++i) Work("EagerExecute#eager_op=__inference_train_step_7,is_func=1#");
  AwaitLevel(2);
  for (int i = 0; i < 10; ++i)
    Work("dense/MatMul:MatMul#shapes=[8,784] [8],id=18446744073709551615#");

  // An activity whose end comes on another thread, and an end without a begin.
  Mark("Transfer#bytes=3#", Now(), -77);
  pthread_t thread;
  pthread_create(&thread, NULL, EndActivity, NULL);
  pthread_join(thread, NULL);
  Mark("", -78, Now());

  // The program's own profiler: a second one does not begin.
  const long before = Now();
  const bool begun = tsl_begin_profile(3);
  const int level = tsl_level_now();
  const bool again = tsl_begin_profile(1);
  for (int i = 0; i < 5; ++i) Work("verbose");
  Mark("began before", before - 1, Now());
  const long kept = tsl_end_profile();
  printf("begun %d, at level %d, again %d, kept %ld, then level %d\n", begun, level, again, kept,
         tsl_level_now());
  Work("after");
  return 0;
}
