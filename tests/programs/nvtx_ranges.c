// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Calls NVTX in every way that there is, and prints what it truly did: one JSON object a line for
// each range that ended, each mark and each name, with moments of CLOCK_MONOTONIC around both ends.
//
//   nvtx_ranges mix | unbalanced | fork | killed | late | toggled | deep | storm N | cost N

#include <nvtx3/nvToolsExt.h>
#if __has_include(<cuda_runtime_api.h>)  // with the wheel of NVTX alone there is none
#include <nvtx3/nvToolsExtCudaRt.h>
#endif
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int tid(void) { return (int)syscall(SYS_gettid); }

// Moments before and after the call that begins, and the one that ends.
typedef struct {
  int64_t begin[2], end[2];
} Moments;

static pthread_mutex_t printing = PTHREAD_MUTEX_INITIALIZER;

static void tell(const char* kind, const char* domain, const char* name, int depth,
                 uint32_t category, uint32_t color, const char* payload, int begin_tid,
                 const Moments* m) {
  pthread_mutex_lock(&printing);
  printf(
      "{\"pid\": %d, \"tid\": %d, \"kind\": \"%s\", \"domain\": \"%s\", \"name\": \"%s\", "
      "\"depth\": %d, \"category\": %u, \"color\": %u, \"payload\": \"%s\", \"begin_tid\": %d, "
      "\"begin\": [%lld, %lld], \"end\": [%lld, %lld]}\n",
      (int)getpid(), tid(), kind, domain, name, depth, category, color, payload, begin_tid,
      (long long)m->begin[0], (long long)m->begin[1], (long long)m->end[0], (long long)m->end[1]);
  fflush(stdout);
  pthread_mutex_unlock(&printing);
}

static nvtxEventAttributes_t plain(void) {
  nvtxEventAttributes_t a;
  memset(&a, 0, sizeof a);
  a.version = NVTX_VERSION;
  a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  return a;
}

static nvtxEventAttributes_t ascii(const char* text) {
  nvtxEventAttributes_t a = plain();
  a.messageType = NVTX_MESSAGE_TYPE_ASCII;
  a.message.ascii = text;
  return a;
}

#define BEGIN(m, call)    \
  do {                    \
    (m).begin[0] = now(); \
    call;                 \
    (m).begin[1] = now(); \
  } while (0)
#define END(m, call)    \
  do {                  \
    (m).end[0] = now(); \
    call;               \
    (m).end[1] = now(); \
  } while (0)

static void work(int us) {
  const int64_t until = now() + us * 1000LL;
  while (now() < until) {}
}

static nvtxDomainHandle_t library, other;
static nvtxStringHandle_t registered, registered_wide;

static void mixed_pushes(void) {
  Moments outer, inner, wide, in_library, in_other;
  BEGIN(outer, nvtxRangePushA("outer"));
  work(30);
  // The text is gone before the range ends.
  char text[32];
  for (int i = 0; i < 3; ++i) {
    snprintf(text, sizeof text, "iteration %d", i);
    BEGIN(inner, nvtxRangePushA(text));
    memset(text, 'x', sizeof text - 1);
    work(20);
    END(inner, nvtxRangePop());
    snprintf(text, sizeof text, "iteration %d", i);
    tell("push_pop", "", text, 1, 0, 0, "", 0, &inner);
  }
  BEGIN(wide, nvtxRangePushW(L"wide \u00e4\u20ac\U0001f600"));
  nvtxEventAttributes_t a = plain();
  a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  a.message.registered = registered;
  a.category = 7;
  a.colorType = NVTX_COLOR_ARGB;
  a.color = 0xff8040c0;
  a.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  a.payload.llValue = -5;
  BEGIN(in_library, nvtxDomainRangePushEx(library, &a));
  a = ascii("of the other");
  a.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  a.payload.dValue = 0.25;
  BEGIN(in_other, nvtxDomainRangePushEx(other, &a));
  work(20);
  // Domains do not nest in each other: the default one's innermost ends first.
  END(wide, nvtxRangePop());
  tell("push_pop", "", "wide \u00e4\u20ac\U0001f600", 1, 0, 0, "", 0, &wide);
  END(in_library, nvtxDomainRangePop(library));
  tell("push_pop", "library", "registered", 0, 7, 0xff8040c0, "-5", 0, &in_library);
  END(in_other, nvtxDomainRangePop(other));
  tell("push_pop", "other:domain", "of the other", 0, 0, 0, "0.25", 0, &in_other);
  END(outer, nvtxRangePop());
  tell("push_pop", "", "outer", 0, 0, 0, "", 0, &outer);
}

static void marks(void) {
  Moments m;
  BEGIN(m, nvtxMarkA("a mark"));
  m.end[0] = m.begin[0], m.end[1] = m.begin[1];
  tell("mark", "", "a mark", 0, 0, 0, "", 0, &m);
  BEGIN(m, nvtxMarkW(L"a wide mark"));
  m.end[0] = m.begin[0], m.end[1] = m.begin[1];
  tell("mark", "", "a wide mark", 0, 0, 0, "", 0, &m);
  nvtxEventAttributes_t a = plain();
  a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  a.message.registered = registered_wide;
  a.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
  a.payload.fValue = 1.5f;
  BEGIN(m, nvtxDomainMarkEx(library, &a));
  m.end[0] = m.begin[0], m.end[1] = m.begin[1];
  tell("mark", "library", "registered w\u00efde", 0, 0, 0, "1.5", 0, &m);
}

typedef struct {
  nvtxRangeId_t id[4];
  Moments m[4];
  int begun_by;
} Crossing;

static void* ends_elsewhere(void* argument) {
  Crossing* c = argument;
  work(30);
  END(c->m[0], nvtxRangeEnd(c->id[0]));
  tell("start_end", "", "crossing", 0, 0, 0, "", c->begun_by, &c->m[0]);
  END(c->m[2], nvtxDomainRangeEnd(library, c->id[2]));
  tell("start_end", "library", "crossing in a domain", 0, 3, 0, "42", c->begun_by, &c->m[2]);
  mixed_pushes();
  return NULL;
}

static void crossings(void) {
  Crossing c;
  c.begun_by = tid();
  BEGIN(c.m[0], c.id[0] = nvtxRangeStartA("crossing"));
  BEGIN(c.m[1], c.id[1] = nvtxRangeStartW(L"begun and ended here"));
  nvtxEventAttributes_t a = ascii("crossing in a domain");
  a.category = 3;
  a.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
  a.payload.uiValue = 42;
  BEGIN(c.m[2], c.id[2] = nvtxDomainRangeStartEx(library, &a));
  pthread_t thread;
  pthread_create(&thread, NULL, ends_elsewhere, &c);
  mixed_pushes();
  END(c.m[1], nvtxRangeEnd(c.id[1]));
  tell("start_end", "", "begun and ended here", 0, 0, 0, "", 0, &c.m[1]);
  pthread_join(thread, NULL);
}

static void name(const char* kind, const char* domain, const char* text, unsigned long number) {
  char payload[24];
  snprintf(payload, sizeof payload, "%lu", number);
  const Moments none = {{0, INT64_MAX}, {0, INT64_MAX}};
  tell(kind, domain, text, 0, 0, 0, payload, 0, &none);
}

static void names(void) {
  nvtxNameOsThreadA((uint32_t)tid(), "a longer name than the kernel's");
  name("name_thread", "", "a longer name than the kernel's", (unsigned long)tid());
  nvtxNameCategoryW(3, L"three");
  name("name_category", "", "three", 3);
  nvtxDomainNameCategoryA(library, 7, "seven");
  name("name_category", "library", "seven", 7);
#if __has_include(<cuda_runtime_api.h>)
  nvtxNameCudaDeviceA(1, "second");
  name("name_device", "", "second", 1);
#endif
}

static void mix(void) {
  library = nvtxDomainCreateA("library");
  other = nvtxDomainCreateW(L"other:domain");
  registered = nvtxDomainRegisterStringA(library, "registered");
  registered_wide = nvtxDomainRegisterStringW(library, L"registered w\u00efde");
  names();
  mixed_pushes();
  marks();
  crossings();
  nvtxDomainDestroy(other);
  nvtxDomainDestroy(library);
}

static void unbalanced(void) {
  Moments m;
  library = nvtxDomainCreateA("library");
  nvtxRangePop();
  nvtxRangePop();
  BEGIN(m, nvtxRangePushA("balanced"));
  nvtxDomainRangePop(library);  // of a domain where nothing is open
  END(m, nvtxRangePop());
  tell("push_pop", "", "balanced", 0, 0, 0, "", 0, &m);
  nvtxRangeEnd(123456789);  // never begun
  const nvtxRangeId_t id = nvtxRangeStartA("twice");
  nvtxRangeEnd(id);
  nvtxRangeEnd(id);
  nvtxRangePushA("open at the end");
  const nvtxEventAttributes_t a = ascii("open too");
  nvtxDomainRangePushEx(library, &a);
  nvtxRangeStartA("never ended");
  work(50);
}

static void forks(void) {
  Moments m, mine;
  library = nvtxDomainCreateA("library");
  BEGIN(m, nvtxRangePushA("around the fork"));
  const nvtxRangeId_t id = nvtxRangeStartA("started before the fork");
  const pid_t child = fork();
  if (child == 0) {
    nvtxRangePop();  // the parent's
    nvtxRangeEnd(id);
    BEGIN(mine, nvtxRangePushA("around the fork"));
    const nvtxEventAttributes_t a = ascii("of the child");
    Moments inner;
    BEGIN(inner, nvtxDomainRangePushEx(library, &a));
    work(30);
    END(inner, nvtxDomainRangePop(library));
    tell("push_pop", "library", "of the child", 0, 0, 0, "", 0, &inner);
    END(mine, nvtxRangePop());
    tell("push_pop", "", "around the fork", 0, 0, 0, "", 0, &mine);
    exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  nvtxRangeEnd(id);
  END(m, nvtxRangePop());
  tell("push_pop", "", "around the fork", 0, 0, 0, "", 0, &m);
}

static void late(void) {
  char line[16];
  nvtxNameCategoryA(9, "nine");
  library = nvtxDomainCreateA("library");
  registered = nvtxDomainRegisterStringA(library, "registered before");
  nvtxRangePushA("begun before");
  const nvtxRangeId_t before = nvtxRangeStartA("started before");
  puts("ready");
  fflush(stdout);
  if (fgets(line, sizeof line, stdin) == NULL) exit(1);
  nvtxEventAttributes_t a = plain();
  a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  a.message.registered = registered;
  a.category = 9;
  nvtxDomainRangePushEx(library, &a);
  work(20);
  nvtxDomainRangePop(library);
  nvtxRangeEnd(before);
  nvtxRangePop();
  puts("done");
  fflush(stdout);
  if (fgets(line, sizeof line, stdin) == NULL) exit(1);
}

// A range open when the capture ends, popped in the next; and one that never ends.
static void toggled(void) {
  char line[16];
  for (int i = 0; i < 3; ++i) {
    char text[32];
    snprintf(text, sizeof text, "pass %d", i);
    nvtxRangePushA(text);
    nvtxRangeStartA("never ended");
    puts(text);
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL) exit(1);
    nvtxRangePop();
  }
}

static void deep(void) {
  for (int i = 0; i < 200; ++i) nvtxRangePushA("deep");
  for (int i = 0; i < 200; ++i) nvtxRangePop();
  nvtxRangePushA("after");
  nvtxRangePop();
}

static int storm_rounds;
static void* storm_thread(void* argument) {
  for (int i = 0; i < storm_rounds; ++i) {
    char text[32];
    snprintf(text, sizeof text, "name %d", i % 100);
    nvtxRangePushA(text);
    nvtxRangePushA("inner");
    nvtxRangePop();
    const nvtxRangeId_t id = nvtxRangeStartA("process");
    nvtxRangeEnd(id);
    nvtxRangePop();
    if (i % 64 == 0) sched_yield();
  }
  return NULL;
}
static void storm(int rounds) {
  pthread_t threads[4];
  storm_rounds = rounds;
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, storm_thread, NULL);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
}

static void cost(long rounds) {
  double least = 1e9;
  nvtxRangePushA("first");
  nvtxRangePop();
  for (int batch = 0; batch < 20; ++batch) {
    const int64_t start = now();
    for (long i = 0; i < rounds; ++i) {
      nvtxRangePushA("a range with a name");
      nvtxRangePop();
    }
    const double each = (double)(now() - start) / (double)rounds;
    if (each < least) least = each;
  }
  printf("%.2f\n", least);
}

// Ranges "part", with something in and something between them.
static void marked(void) {
  for (int i = 0; i < 3; ++i) {
    nvtxRangePushA("part");
    nvtxMarkA("within");
    nvtxRangePop();
    nvtxMarkA("between");
  }
}

// A range that a child is forked in, and that both close; one that another thread has open
// meanwhile; one that is never closed.
static void* other_part(void* barrier) {
  nvtxRangePushA("part");
  pthread_barrier_wait(barrier);
  pthread_barrier_wait(barrier);
  nvtxRangePop();
  return NULL;
}

static void marked_badly(void) {
  pthread_barrier_t barrier;
  pthread_t thread;
  pthread_barrier_init(&barrier, NULL, 2);
  nvtxRangePushA("part");
  pthread_create(&thread, NULL, other_part, &barrier);
  pthread_barrier_wait(&barrier);
  const pid_t child = fork();
  if (child == 0) {
    nvtxMarkA("child");
    nvtxRangePop();
    nvtxRangePop();
    nvtxRangePushA("part");
    nvtxRangePop();
    _exit(0);
  }
  waitpid(child, NULL, 0);
  nvtxRangePop();
  nvtxMarkA("between");
  pthread_barrier_wait(&barrier);
  pthread_join(thread, NULL);
  nvtxRangePushA("part");
  nvtxMarkA("within");
}

// NVTX tells the level of a range that somebody records, else less than 0.
static int is_recorded(const char* name) {
  const int level = nvtxRangePushA(name);
  nvtxRangePop();
  return level >= 0;
}

// A child and a grandchild that are forked in a range and live on when it has ended.
static void marked_family(void) {
  int* marked = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  nvtxRangePushA("part");
  const pid_t child = fork();
  if (child == 0) {
    const pid_t grandchild = fork();
    nvtxMarkA("early");
    __atomic_fetch_add(marked, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(marked, __ATOMIC_SEQ_CST) < 3) usleep(1000);
    while (is_recorded("until then")) usleep(1000);
    nvtxMarkA("late");
    if (grandchild != 0) waitpid(grandchild, NULL, 0);
    _exit(0);
  }
  while (__atomic_load_n(marked, __ATOMIC_SEQ_CST) < 2) usleep(1000);
  nvtxRangePop();
  __atomic_fetch_add(marked, 1, __ATOMIC_SEQ_CST);
  waitpid(child, NULL, 0);
}

// A child and a grandchild that are there before two ranges begin, and long after. Each range lasts
// until both are recorded, and the next begins once neither is.
static void marked_workers(void) {
  struct {
    int recorded, is_over;
  }* shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const pid_t child = fork();
  if (child == 0) {
    const pid_t grandchild = fork();
    int was_recorded = 0;
    while (!__atomic_load_n(&shared->is_over, __ATOMIC_SEQ_CST)) {
      const int now = is_recorded("within");
      __atomic_fetch_add(&shared->recorded, now - was_recorded, __ATOMIC_SEQ_CST);
      was_recorded = now;
      usleep(5000);
    }
    if (grandchild != 0) waitpid(grandchild, NULL, 0);
    _exit(0);
  }
  for (int i = 0; i < 2; ++i) {
    nvtxRangePushA("part");
    while (__atomic_load_n(&shared->recorded, __ATOMIC_SEQ_CST) != 2) usleep(1000);
    nvtxRangePop();
    while (__atomic_load_n(&shared->recorded, __ATOMIC_SEQ_CST) != 0) usleep(1000);
  }
  __atomic_store_n(&shared->is_over, 1, __ATOMIC_SEQ_CST);
  waitpid(child, NULL, 0);
}

// A range that is open while lines come, each answered: captures end in it.
static void open_range(void) {
  char line[64];
  printf("ready\n");
  fflush(stdout);
  while (fgets(line, sizeof(line), stdin) != NULL) {
    if (strcmp(line, "push\n") == 0) nvtxRangePushA("open");
    if (strcmp(line, "mark\n") == 0) nvtxMarkA("mark");
    if (strcmp(line, "kill\n") == 0) raise(SIGKILL);
    printf("done %s", line);
    fflush(stdout);
  }
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  const long number = argc > 2 ? atol(argv[2]) : 0;
  if (strcmp(mode, "mix") == 0) mix();
  if (strcmp(mode, "unbalanced") == 0) unbalanced();
  if (strcmp(mode, "fork") == 0) forks();
  if (strcmp(mode, "killed") == 0) {
    nvtxRangePushA("outer");
    nvtxRangePushA("inner");
    work(300000);
    raise(SIGKILL);
  }
  if (strcmp(mode, "late") == 0) late();
  if (strcmp(mode, "marked") == 0) marked();
  if (strcmp(mode, "marked_badly") == 0) marked_badly();
  if (strcmp(mode, "marked_family") == 0) marked_family();
  if (strcmp(mode, "marked_workers") == 0) marked_workers();
  if (strcmp(mode, "open_range") == 0) open_range();
  if (strcmp(mode, "toggled") == 0) toggled();
  if (strcmp(mode, "deep") == 0) deep();
  if (strcmp(mode, "storm") == 0) storm((int)number);
  if (strcmp(mode, "cost") == 0) cost(number);
  return 0;
}
