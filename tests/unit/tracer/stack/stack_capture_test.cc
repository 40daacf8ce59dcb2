// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Stacks of known call chains: with, without and with mixed frame pointers, from signal handlers,
// on small, alternative and unknown stacks, in many threads, across fork. This program stands for
// the profiled one: no sanitizer.

#include "tracer/stack/stack_capture.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "proto/record.h"
#include "tests/unit/tracer/stack/call_chain.h"
#include "tracer/stack/modules.h"
#include "tracer/stack/stack_bounds.h"
#include "tracer/stack/unwind_rule.h"

extern "C" void* __libc_malloc(size_t size);

namespace {
thread_local bool no_malloc_now = false;
std::atomic<int> forbidden_mallocs = 0;
}  // namespace

// In place of the C library's: tells of allocations made where none is allowed.
extern "C" void* malloc(size_t size) {
  if (no_malloc_now) forbidden_mallocs.fetch_add(1);
  return __libc_malloc(size);
}

namespace gpuprof::tracer {
namespace {

using stack_test::Next;
using stack_test::Trail;

struct Shot {
  uint64_t pcs[proto::kMaxStackFrames];
  uint32_t count = 0;
};

// Stands for a hook: the first frame told is its caller's.
[[gnu::noinline]] void Hook(Shot* shot, uint32_t most = proto::kMaxStackFrames) {
  no_malloc_now = true;
  errno = 4711;
  shot->count = CaptureStack(shot->pcs, most, __builtin_frame_address(0));
  EXPECT_EQ(errno, 4711);
  no_malloc_now = false;
}

thread_local Shot* shot_wanted = nullptr;

// The end of a chain: one more frame of its own, whose caller is the chain's last.
[[gnu::noinline]] void Shoot(Next* next) {
  next->trail->push_back(reinterpret_cast<uint64_t>(__builtin_return_address(0)));
  Hook(shot_wanted);
  next->sum += 1;
}

// What the captured stack has behind the innermost frame (Shoot's own, whose address a chain cannot
// know).
Trail Told(const Shot& shot, size_t want) {
  Trail told;
  for (size_t i = 1; i < shot.count && told.size() < want; ++i) told.push_back(shot.pcs[i]);
  std::reverse(told.begin(), told.end());
  return told;
}

Trail RunChain(const char* shape, Shot* shot, void (*at_end)(Next*) = Shoot) {
  Trail trail;
  trail.reserve(512);
  shot_wanted = shot;
  Next next = {stack_test::Descend, &trail, shape, at_end};
  stack_test::Descend(&next);
  return trail;
}

class StackCaptureTest : public testing::Test {
 protected:
  void SetUp() override {
    StackInit(proto::kMaxStackFrames);
    StackModulesChanged();
    forbidden_mallocs = 0;
  }
  void TearDown() override {
    EXPECT_EQ(forbidden_mallocs.load(), 0);
    ModulesUseOwnList(false);
  }
};

void ExpectExact(const char* shape) {
  for (int repeat = 0; repeat < 3; ++repeat) {
    Shot shot;
    const Trail trail = RunChain(shape, &shot);
    EXPECT_EQ(Told(shot, trail.size()), trail) << shape << " repeat " << repeat;
    EXPECT_GT(shot.count, trail.size() + 3) << "main and its callers are missing: " << shape;
  }
}

TEST_F(StackCaptureTest, WithFramePointers) { ExpectExact("pppsvap"); }
TEST_F(StackCaptureTest, WithoutFramePointers) { ExpectExact("PPPSVAP"); }
TEST_F(StackCaptureTest, Mixed) { ExpectExact("pPsSvVaApPaPvAsVpS"); }

TEST_F(StackCaptureTest, OwnModuleListGivesTheSame) {
  ModulesUseOwnList(true);
  StackModulesChanged();
  ExpectExact("pPsSvVaApPaPvAsVpS");
}

// The C library's, which uses the compiler's unwinder: the static libunwind offers the same name.
[[gnu::noinline]] int Truth(void** pcs, int most) {
  static const auto libc_backtrace = reinterpret_cast<int (*)(void**, int)>(
      dlsym(dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD), "backtrace"));
  const int count = libc_backtrace(pcs, most);
  // The first is this function's own.
  std::copy(pcs + 1, pcs + count, pcs);
  return count - 1;
}

TEST_F(StackCaptureTest, AgreesWithTheCompilersUnwinderOnRandomChains) {
  std::mt19937 random(20261121);
  constexpr char kShapes[] = "psvaPSVA";
  for (int i = 0; i < 2000; ++i) {
    std::string shape;
    for (uint32_t n = random() % 40; n != 0; --n) shape += kShapes[random() % 8];
    Shot shot;
    static thread_local void* truth[256];
    static thread_local int truth_count;
    const Trail trail = RunChain(shape.c_str(), &shot, [](Next* next) {
      next->trail->push_back(reinterpret_cast<uint64_t>(__builtin_return_address(0)));
      truth_count = Truth(truth, 256);
      Hook(shot_wanted);
      next->sum += 1;
    });
    // truth[0] and pcs[0] are two places in the same function.
    ASSERT_EQ(static_cast<int>(shot.count), truth_count) << shape;
    for (int k = 1; k < truth_count; ++k) {
      ASSERT_EQ(shot.pcs[k], reinterpret_cast<uint64_t>(truth[k])) << shape << " frame " << k;
    }
    ASSERT_EQ(Told(shot, trail.size()), trail) << shape;
  }
}

TEST_F(StackCaptureTest, DeepRecursionIsCutAtTheOuterEnd) {
  const std::string shape(400, 'P');
  Shot shot;
  const Trail trail = RunChain(shape.c_str(), &shot);
  ASSERT_EQ(shot.count, proto::kMaxStackFrames);
  const Trail inner(trail.end() - (proto::kMaxStackFrames - 1), trail.end());
  EXPECT_EQ(Told(shot, proto::kMaxStackFrames), inner);
}

TEST_F(StackCaptureTest, NoMoreThanAskedFor) {
  Shot shot;
  shot.pcs[5] = 42;
  Hook(&shot, 5);
  EXPECT_EQ(shot.count, 5u);
  EXPECT_EQ(shot.pcs[5], 42u);
  Hook(&shot, 0);
  EXPECT_EQ(shot.count, 0u);
}

// --- Libraries ---

using BounceFunction = int (*)(void (*)(void*), void*);
BounceFunction bounce = nullptr;

[[gnu::noinline]] void ShootFromThere(void* argument) {
  Next* next = static_cast<Next*>(argument);
  Hook(shot_wanted);
  next->sum += 1;
}

// The end of a chain: goes on through another library's frame.
void ShootThroughBounce(Next* next) {
  next->trail->push_back(reinterpret_cast<uint64_t>(__builtin_return_address(0)));
  bounce(ShootFromThere, next);
  next->sum += 1;
}

std::string FileOf(uint64_t address) {
  Dl_info info = {};
  dladdr(reinterpret_cast<void*>(address), &info);
  return info.dli_fname != nullptr ? info.dli_fname : "";
}

void* LoadBounce(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << dlerror();
  bounce = reinterpret_cast<BounceFunction>(dlsym(library, "Bounce"));
  return library;
}

// The captured frames from number `from` on, as long as the trail, outermost first.
Trail OuterFrames(const Shot& shot, size_t from, size_t count) {
  Trail frames;
  for (size_t i = from; i < from + count && i < shot.count; ++i) frames.push_back(shot.pcs[i]);
  std::reverse(frames.begin(), frames.end());
  return frames;
}

TEST_F(StackCaptureTest, OurOwnFramesAreLeftOut) {
  void* library = LoadBounce(STACK_TEST_OWN);
  StackTick();
  for (int repeat = 0; repeat < 3; ++repeat) {
    Shot shot;
    const Trail trail = RunChain("pPv", &shot, ShootThroughBounce);
    // Inside of the chain: ShootFromThere and ShootThroughBounce, without what is between them.
    EXPECT_EQ(OuterFrames(shot, 2, trail.size()), trail);
    for (uint32_t i = 0; i < shot.count; ++i) {
      EXPECT_EQ(FileOf(shot.pcs[i]).find("libgpuprof_inject.so"), std::string::npos) << i;
    }
  }
  dlclose(library);
}

TEST_F(StackCaptureTest, UnloadedCodeIsForgotten) {
  uint64_t first_place = 0;
  bool same_place = false;
  for (int round = 0; round < 6; ++round) {
    for (const bool own_list : {false, true}) {
      ModulesUseOwnList(own_list);
      void* library = LoadBounce(round % 2 == 0 ? STACK_TEST_PLUGIN_A : STACK_TEST_PLUGIN_B);
      StackTick();
      Shot shot;
      const Trail trail = RunChain("pPv", &shot, ShootThroughBounce);
      EXPECT_EQ(OuterFrames(shot, 3, trail.size()), trail) << "round " << round;
      ASSERT_GT(shot.count, trail.size() + 3);
      EXPECT_NE(FileOf(shot.pcs[1]).find("plugin"), std::string::npos);
      if (round == 0) first_place = shot.pcs[1] & ~uint64_t{4095};
      if (round == 1) same_place |= (shot.pcs[1] & ~uint64_t{4095}) == first_place;
      dlclose(library);
      StackTick();
    }
  }
  // Otherwise nothing was tried: the second library must lie where the first one was.
  EXPECT_TRUE(same_place);
}

// --- Signals ---

void OnSignal(int) { Hook(shot_wanted); }

// The whole chain must stand in the stack, unbroken, outside of the handler's frames.
void ExpectChainInside(const Trail& trail, const Shot& shot) {
  Trail all(shot.pcs, shot.pcs + shot.count);
  std::reverse(all.begin(), all.end());
  const auto found = std::search(all.begin(), all.end(), trail.begin(), trail.end());
  ASSERT_NE(found, all.end());
  EXPECT_GE(all.end() - found - static_cast<ptrdiff_t>(trail.size()), 3) << "no handler frames";
}

TEST_F(StackCaptureTest, FromASignalHandler) {
  for (const int flags : {0, SA_SIGINFO, SA_ONSTACK}) {
    std::vector<char> alternative(64 * 1024);
    stack_t stack = {};
    stack.ss_sp = alternative.data();
    stack.ss_size = alternative.size();
    if (flags == SA_ONSTACK) {
      ASSERT_EQ(sigaltstack(&stack, nullptr), 0);
    }
    struct sigaction action = {};
    action.sa_handler = OnSignal;
    action.sa_flags = flags;
    ASSERT_EQ(sigaction(SIGUSR2, &action, nullptr), 0);
    Shot shot;
    const Trail trail = RunChain("PvAp", &shot, [](Next* next) {
      next->trail->push_back(reinterpret_cast<uint64_t>(__builtin_return_address(0)));
      raise(SIGUSR2);
      next->sum += 1;
    });
    ExpectChainInside(trail, shot);
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, nullptr);
  }
}

// A timer strikes anywhere: in prologues, in libc, in the kernel's entry code.
TEST_F(StackCaptureTest, FromSignalsAtRandomPlaces) {
  static std::atomic<uint32_t> shots = 0;
  static std::atomic<uint32_t> whole = 0;
  static uint64_t outermost = 0;
  Shot start;
  Hook(&start);
  outermost = start.pcs[start.count - 1];
  struct sigaction action = {};
  action.sa_handler = [](int) {
    // A thread inside our code is left alone, as the recorder does: the tables' reader has locks.
    if (no_malloc_now) return;
    Shot shot;
    Hook(&shot);
    ++shots;
    if (shot.pcs[shot.count - 1] == outermost) ++whole;
  };
  action.sa_flags = SA_RESTART;
  ASSERT_EQ(sigaction(SIGALRM, &action, nullptr), 0);
  const itimerval often = {{0, 200}, {0, 200}};
  ASSERT_EQ(setitimer(ITIMER_REAL, &often, nullptr), 0);
  Shot shot;
  while (shots < 500) RunChain("PvApPsVaS", &shot);
  const itimerval never = {};
  setitimer(ITIMER_REAL, &never, nullptr);
  signal(SIGALRM, SIG_DFL);
  // A few instructions have rules that need other registers; nearly every stack must reach main.
  EXPECT_GE(whole.load() * 100, shots.load() * 95) << whole.load() << " of " << shots.load();
}

// --- Stacks ---

void* ChainInThread(void* arg) {
  Shot* shot = static_cast<Shot*>(arg);
  const Trail trail = RunChain("PpP", shot);
  EXPECT_EQ(Told(*shot, trail.size()), trail);
  return nullptr;
}

TEST_F(StackCaptureTest, SmallestThreadStack) {
  for (int i = 0; i < 10; ++i) {
    StackModulesChanged();  // so that the rules are read on the small stack too
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, 16384), 0);
    Shot shot;
    pthread_t thread;
    ASSERT_EQ(pthread_create(&thread, &attributes, ChainInThread, &shot), 0);
    pthread_join(thread, nullptr);
    EXPECT_GE(shot.count, 6u);
    pthread_attr_destroy(&attributes);
  }
}

TEST_F(StackCaptureTest, NearTheEndOfASmallStackTheWalkIsCutNotTheProgram) {
  StackModulesChanged();
  const StackCounters before = ReadStackCounters();
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 16384), 0);
  Shot shot;
  pthread_t thread;
  const auto body = [](void* arg) -> void* {
    // Two large frames leave less than reading a rule takes.
    RunChain("SS", static_cast<Shot*>(arg));
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, body, &shot), 0);
  pthread_join(thread, nullptr);
  EXPECT_GE(shot.count, 1u);
  EXPECT_GT(ReadStackCounters().no_resolver, before.no_resolver);
  pthread_attr_destroy(&attributes);
}

ucontext_t main_context;
ucontext_t fiber_context;

void FiberMain() {
  Hook(shot_wanted);
  swapcontext(&fiber_context, &main_context);
}

TEST_F(StackCaptureTest, UnknownStackGivesItsInnermostPage) {
  constexpr size_t kPage = 4096;
  constexpr size_t kBytes = 16 * kPage;
  // Pages that cannot be read on both sides.
  char* memory =
      static_cast<char*>(mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(mprotect(memory + kPage, kBytes - 2 * kPage, PROT_READ | PROT_WRITE), 0);
  const StackCounters before = ReadStackCounters();
  Shot shot;
  shot_wanted = &shot;
  getcontext(&fiber_context);
  fiber_context.uc_stack.ss_sp = memory + kPage;
  fiber_context.uc_stack.ss_size = kBytes - 2 * kPage;
  fiber_context.uc_link = &main_context;
  makecontext(&fiber_context, FiberMain, 0);
  swapcontext(&main_context, &fiber_context);
  EXPECT_GE(shot.count, 1u);
  EXPECT_GT(ReadStackCounters().foreign_stacks, before.foreign_stacks);
  munmap(memory, kBytes);
  ExpectExact("pPvA");  // the thread's own stack is still known
}

// What lies below the first thread's control block is anything that the program mapped there, and
// may be unmapped while a stack of its own is walked.
TEST_F(StackCaptureTest, ThePlaceBelowTheFirstThreadsControlBlockIsNoStackOfIt) {
  ASSERT_EQ(gettid(), getpid());
  const auto block = reinterpret_cast<uint64_t>(__builtin_thread_pointer());
  EXPECT_TRUE(BoundsOf(block - 64).foreign);
  const StackBounds own = BoundsOf(reinterpret_cast<uint64_t>(__builtin_frame_address(0)));
  EXPECT_FALSE(own.foreign);
  EXPECT_GT(own.hi, own.lo + 64);
  // A created thread has its control block at the end of its stack.
  StackBounds created;
  std::thread([&created] {
    created = BoundsOf(reinterpret_cast<uint64_t>(__builtin_frame_address(0)));
  }).join();
  EXPECT_FALSE(created.foreign);
}

// --- Threads and fork ---

TEST_F(StackCaptureTest, EightThreadsWhileForking) {
  std::atomic<bool> stop = false;
  std::atomic<uint64_t> wrong = 0;
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      const char* shapes[] = {"pP", "SvA", "PPPP", "aVsP", "vVvV", "P"};
      for (uint32_t i = 0; !stop; ++i) {
        Shot shot;
        const Trail trail = RunChain(shapes[i % 6], &shot);
        // A walk that met a fork under way may be cut; what it tells must be right all the same.
        const Trail told = Told(shot, trail.size());
        if (!std::equal(told.rbegin(), told.rend(), trail.rbegin())) ++wrong;
      }
    });
  }
  int failed = 0;
  int cut = 0;
  for (int i = 0; i < 60; ++i) {
    StackModulesChanged();  // rules are read again all the time
    StackBeforeFork();
    const pid_t child = fork();
    if (child == 0) {
      StackAfterForkChild();
      // Nothing that allocates: the C library's own locks are not the point here.
      Shot shot;
      Hook(&shot);
      // 1: another thread was reading tables for so long that the wait for it ended.
      _exit(shot.count >= 3 ? 0 : shot.count == 1 ? 1 : 2);
    }
    StackAfterForkParent();
    int status = -1;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 1) {
      ++cut;
    } else if (status != 0) {
      ++failed;
    }
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_LE(cut, 6);
  EXPECT_EQ(wrong.load(), 0u);
  ExpectExact("pPsSvVaA");
}

TEST_F(StackCaptureTest, NothingIsReadFromTheTablesWhileAForkIsPrepared) {
  StackModulesChanged();
  const StackCounters before = ReadStackCounters();
  StackBeforeFork();
  Shot shot;
  RunChain("pP", &shot);
  EXPECT_EQ(ReadStackCounters().rules_resolved, before.rules_resolved);
  EXPECT_EQ(shot.count, 1u);
  StackAfterForkParent();
  ExpectExact("pP");
}

// --- Rules ---

TEST(UnwindRuleTest, PackingKeepsWhatFitsAndRefusesTheRest) {
  const UnwindRule rules[] = {
      {RuleKind::kFromSp, false, 8, 0},    {RuleKind::kFromSp, true, 262136, -16},
      {RuleKind::kFromFp, false, 16, -16}, {RuleKind::kRealigned, false, -4096, 0},
      {RuleKind::kOutermost, true, 0, 0},  {RuleKind::kFromSp, false, 4096, 4088},
  };
  for (const UnwindRule& rule : rules) {
    const UnwindRule back = UnpackRule(PackRule(rule));
    EXPECT_EQ(back.kind, rule.kind);
    EXPECT_EQ(back.own, rule.own);
    EXPECT_EQ(back.cfa_offset, rule.cfa_offset);
    EXPECT_EQ(back.fp_offset, rule.fp_offset);
    EXPECT_LT(PackRule(rule), uint64_t{1} << kRuleBits);
  }
  EXPECT_EQ(UnpackRule(PackRule({RuleKind::kFromSp, false, 262144, 0})).kind, RuleKind::kOdd);
  EXPECT_EQ(UnpackRule(PackRule({RuleKind::kFromSp, false, 12, 0})).kind, RuleKind::kOdd);
  EXPECT_EQ(UnpackRule(PackRule({RuleKind::kFromSp, false, 16, -4104})).kind, RuleKind::kOdd);
}

TEST(RuleCacheTest, NeverAnswersForAnotherAddress) {
  void* table =
      mmap(nullptr, RuleCache::kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(table, MAP_FAILED);
  RuleCache cache;
  cache.Use(table);
  std::mt19937_64 random(7);
  std::vector<uint64_t> addresses;
  for (int i = 0; i < 800000; ++i) {
    addresses.push_back(random() & ((uint64_t{1} << 47) - 1));
    cache.Insert(addresses.back(), 1 + (addresses.back() * 2654435761u >> 8) % 1000);
  }
  uint64_t found = 0;
  for (const uint64_t address : addresses) {
    const uint64_t rule = cache.Find(address);
    if (rule == 0) continue;
    ++found;
    ASSERT_EQ(rule, 1 + (address * 2654435761u >> 8) % 1000);
  }
  EXPECT_GT(found, RuleCache::kBytes / 8 / 2);
  EXPECT_EQ(cache.Find(addresses[0] ^ (uint64_t{1} << 46)), 0u);
  cache.Clear();
  EXPECT_EQ(cache.Find(addresses.back()), 0u);
  munmap(table, RuleCache::kBytes);
}

}  // namespace
}  // namespace gpuprof::tracer

namespace gpuprof::stack_test {

void Descend(Next* next) {
  const char letter = *next->rest;
  if (letter != '\0') ++next->rest;
  // Every call is a tail call: Descend itself must leave no frame.
  switch (letter) {
    case 'p':
      return with_fp::Plain(next);
    case 's':
      return with_fp::Large(next);
    case 'v':
      return with_fp::Variable(next);
    case 'a':
      return with_fp::Aligned(next);
    case 'P':
      return without_fp::Plain(next);
    case 'S':
      return without_fp::Large(next);
    case 'V':
      return without_fp::Variable(next);
    case 'A':
      return without_fp::Aligned(next);
    default:
      return next->at_end(next);
  }
}

}  // namespace gpuprof::stack_test
