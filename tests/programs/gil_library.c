// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Loaded by python_guest.py. When a second copy is loaded, its constructor takes CPython's lock
// again and again, while the loader's lock is held: who has CPython's lock must not wait for the
// loader.

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

// Loads the library at `path` once the file `flag` is there.
int load_when(const char* flag, const char* path) {
  while (access(flag, F_OK) != 0) usleep(1000);
  return dlopen(path, RTLD_NOW) != NULL;
}

static pthread_t churning[3];
static volatile int churns;

static void* churn(void* nothing) {
  int (*ensure)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "PyGILState_Ensure");
  void (*release)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, "PyGILState_Release");
  while (churns) {
    release(ensure());
    usleep(100);
  }
  return NULL;
}

static void* make_states(void* nothing) {
  void* (*make)(void*) = (void* (*)(void*))dlsym(RTLD_DEFAULT, "PyThreadState_New");
  void* (*interpreter)(void) = (void* (*)(void))dlsym(RTLD_DEFAULT, "PyInterpreterState_Main");
  for (int i = 0; i < 50000 && churns; ++i) make(interpreter());
  return NULL;
}

// Makes states of threads without CPython's lock, as threads of C do, and keeps them.
void states_begin(void) {
  churns = 1;
  pthread_create(&churning[0], NULL, make_states, NULL);
}

void states_end(void) {
  churns = 0;
  pthread_join(churning[0], NULL);
}

// Threads that CPython did not make come to it and leave it, again and again.
void churn_begin(void) {
  churns = 1;
  for (int i = 0; i < 3; ++i) pthread_create(&churning[i], NULL, churn, NULL);
}

void churn_end(void) {
  churns = 0;
  for (int i = 0; i < 3; ++i) pthread_join(churning[i], NULL);
}

__attribute__((constructor)) static void on_load(void) {
  int (*ensure)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "PyGILState_Ensure");
  void (*release)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, "PyGILState_Release");
  const char* inside = getenv("GIL_LIBRARY_INSIDE");
  static const char kCopies[] = "GIL_LIBRARY_COPIES";
  if (ensure == NULL || release == NULL || inside == NULL) return;
  if (getenv(kCopies) == NULL) {
    setenv(kCopies, "1", 1);
    return;
  }
  close(open(inside, O_CREAT | O_WRONLY, 0600));
  for (int i = 0; i < 200; ++i) {
    release(ensure());
    usleep(2000);
  }
}
