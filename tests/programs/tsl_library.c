// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Stands in for libtensorflow_framework.so.2: a recorder of marks under TensorFlow's names, which
// the library itself calls through its PLT. With GPUPROF_VICTIM_OTHER it is a release that does not
// export the recorder.

#include <stdbool.h>
#include <stddef.h>

struct Mark {
  const char* name;
  size_t bytes;
  char rest[16];
  long start, end;
};

#define LEVEL "_ZN3tsl8profiler8internal13g_trace_levelE"
#ifdef GPUPROF_VICTIM_OTHER
#define RECORDER "_ZN10tensorflow8profiler15TraceMeRecorder"
#else
#define RECORDER "_ZN3tsl8profiler15TraceMeRecorder"
#endif

int tsl_level __asm__(LEVEL) = -1;
void tsl_record(struct Mark* mark) __asm__(RECORDER "6RecordEONS1_5EventE");
bool tsl_start(int level) __asm__(RECORDER "5StartEi");
bool tsl_start_filtered(int level, unsigned long filter) __asm__(RECORDER "5StartEim");
void* tsl_stop(void* events) __asm__(RECORDER "4StopEv");

static long kept;

void tsl_record(struct Mark* mark) { __atomic_fetch_add(&kept, 1, __ATOMIC_RELAXED); }

bool tsl_start_filtered(int level, unsigned long filter) {
  int off = -1;
  if (!__atomic_compare_exchange_n(&tsl_level, &off, level, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE))
    return false;
  kept = 0;
  return true;
}

bool tsl_start(int level) { return tsl_start_filtered(level, ~0ul); }

void* tsl_stop(void* events) {
  __atomic_exchange_n(&tsl_level, -1, __ATOMIC_ACQ_REL);
  *(long*)events = kept;
  return events;
}

const char* TF_Version(void) { return "2.99.1"; }

// What the library does for its users.
int tsl_level_now(void) { return __atomic_load_n(&tsl_level, __ATOMIC_ACQUIRE); }
void tsl_mark(struct Mark* mark) { tsl_record(mark); }
bool tsl_begin_profile(int level) { return tsl_start_filtered(level, ~0ul); }
long tsl_end_profile(void) {
  long events[3] = {0, 0, 0};
  tsl_stop(events);
  return events[0];
}
