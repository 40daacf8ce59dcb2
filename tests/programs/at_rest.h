// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Waits for what other threads must have done: for victims that would have to guess a time for it.
// A guess is wrong on a busy machine. These waits have no limit: the test that runs the victim has.
// They leave errno as it was.

#pragma once

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/programs/all_threads.h"

// Returns the state of a thread as the kernel tells it: 'S' for asleep; 0 if there is no such
// thread.
static inline char StateOf(const char* stat_path, char* name, size_t size) {
  FILE* file = fopen(stat_path, "r");
  if (file == NULL) return 0;
  char line[512], state = 0;
  if (fgets(line, sizeof(line), file) != NULL) {
    const char* begin = strchr(line, '(');
    const char* end = strrchr(line, ')');
    if (begin != NULL && end != NULL) {
      state = end[2];
      if (name != NULL) snprintf(name, size, "%.*s", (int)(end - begin - 1), begin + 1);
    }
  }
  fclose(file);
  return state;
}

static inline char StateOfThread(int tid) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
  return StateOf(path, NULL, 0);
}

// Waits until a thread of this process has told its number and sleeps.
static inline void AwaitSleepOf(const volatile int* tid) {
  const int error = errno;
  while (*tid == 0 || StateOfThread(*tid) != 'S') usleep(200);
  errno = error;
}

// Waits until a thread of this process has told its number and has ended.
static inline void AwaitEndOf(const volatile int* tid) {
  const int error = errno;
  while (*tid == 0 || StateOfThread(*tid) != 0) usleep(200);
  errno = error;
}

// Waits until another process sleeps.
static inline void AwaitSleepOfProcess(int pid) {
  const int error = errno;
  char path[64];
  snprintf(path, sizeof(path), "/proc/%d/stat", pid);
  while (StateOf(path, NULL, 0) != 'S') usleep(200);
  errno = error;
}

// Returns how often a thread has given up its processor. -1: there is no such thread.
static inline long SwitchesOfThread(int tid) {
  char path[64], line[256];
  snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
  FILE* file = fopen(path, "r");
  if (file == NULL) return -1;
  long switches = 0, each = 0;
  while (fgets(line, sizeof(line), file) != NULL) {
    if (sscanf(line, "voluntary_ctxt_switches: %ld", &each) == 1 ||
        sscanf(line, "nonvoluntary_ctxt_switches: %ld", &each) == 1)
      switches += each;
  }
  fclose(file);
  return switches;
}

// Returns how often the recorder's two threads have slept, if both sleep now: else -1.
static inline long SleepsOfRecorder(void) {
  int asleep = 0;
  long switches = 0;
  int tids[256];
  const int count = AllThreads(tids, 256);
  for (int i = 0; i < count && i < 256; ++i) {
    char path[300], name[32] = "";
    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tids[i]);
    const char state = StateOf(path, name, sizeof(name));
    if (strcmp(name, "gpuprof-drain") != 0 && strcmp(name, "gpuprof-ctl") != 0) continue;
    asleep += state == 'S';
    switches += SwitchesOfThread(tids[i]);
  }
  return asleep == 2 ? switches : -1;
}

// Returns whether the recorder's threads are there and sleep: they sleep once a capture has begun.
// While it begins they wait for each other in turn. So both must have slept from one look to the
// next.
static inline int RecorderSleeps(void) {
  const long sleeps = SleepsOfRecorder();
  return sleeps >= 0 && sleeps == SleepsOfRecorder();
}

// Waits until the recorder can take call stacks, if the program is recorded from its start.
static inline void AwaitRecorder(void) {
  const int error = errno;
  const char* capture = getenv("GPUPROF_CAPTURE");
  if (getenv("GPUPROF_BUNDLE") == NULL || (capture != NULL && strcmp(capture, "now") != 0)) return;
  while (!RecorderSleeps()) usleep(1000);
  errno = error;
}
