// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The walk itself reads one cached word a frame. Only an address seen for the first time goes to
// the tables; only that has to be kept away from a fork, because a lock of libunwind may be held
// then.

#include "tracer/stack/unwind.h"

#include <time.h>

#include <atomic>

#include "tracer/base/map_table.h"
#include "tracer/stack/modules.h"
#include "tracer/stack/unwind_rule.h"
#include "tracer/stack/unwind_tables.h"
#include "tracer/stack/walk_memo.h"

namespace gpuprof::tracer {

constinit StackCounters stack_counters = {};

namespace {

constexpr uint64_t kLowestCode = 4096;
constexpr uint64_t kAddressEnd = uint64_t{1} << 47;
constexpr uint32_t kMostSignalFrames = 4;
constexpr uint32_t kMostGuesses = 16;

// Offsets in the ucontext_t that a signal frame's sp points to.
constexpr uint64_t kInterruptedFp = 0x78;
constexpr uint64_t kInterruptedSp = 0xa0;
constexpr uint64_t kInterruptedIp = 0xa8;

constinit RuleCache cache;
std::atomic<uint32_t> resolving;  // threads that are reading tables
std::atomic<uint32_t> forking;    // forks under way
std::atomic<bool>
    crippled;  // forked while another thread was reading tables: a lock may be held for ever

// 0: cannot be told now.
[[gnu::noinline, gnu::cold]] uint64_t Resolve(uint64_t address) noexcept {
  CodeObject object;
  if (!FindCode(address, &object)) return PackRule({RuleKind::kNone, false, 0, 0});
  const uint64_t sp = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  uint64_t packed = 0;
  // Who comes while a fork is prepared is not counted: the fork would wait for newcomers too.
  if (forking.load(std::memory_order_relaxed) != 0) return 0;
  resolving.fetch_add(1, std::memory_order_seq_cst);
  if (forking.load(std::memory_order_seq_cst) == 0 && !crippled.load(std::memory_order_relaxed) &&
      StackHasRoom(sp, kReadRuleStack)) {
    UnwindRule rule = ReadRule(address, object);
    rule.own = IsOwnCode(address);
    packed = PackRule(rule);
    cache.Insert(address, packed);
    CountUp(&stack_counters.rules_resolved);
  }
  resolving.fetch_sub(1, std::memory_order_seq_cst);
  return packed;
}

// The walk of last time, read, and the one under way, written for next time.
struct MemoCursor {
  const WalkMemo* before = nullptr;
  WalkMemo* now = nullptr;
  uint32_t next = 0;              // first frame of `before` that is not below where the walk is
  uint64_t fp_at = kUncheckable;  // how the walk came by the present frame pointer

  void Add(const WalkStart& at) noexcept {
    if (now != nullptr && now->count < proto::kMaxStackFrames) {
      now->frames[now->count++] = {at, fp_at};
    }
  }
  // A walk that did not go straight up cannot be checked next time.
  void Spoil() noexcept {
    if (now != nullptr) now->count = 0;
    now = nullptr;
    before = nullptr;
  }
  // Whether the walk has met a frame of last time.
  bool Meets(const WalkStart& at) noexcept {
    if (before == nullptr) return false;
    while (next < before->count && before->frames[next].at.sp < at.sp) ++next;
    if (next >= before->count) return false;
    const WalkStart& known = before->frames[next].at;
    return known.sp == at.sp && known.ip == at.ip && known.fp == at.fp;
  }
};

// One walk's state. The hot loop keeps its own copy in registers; every rarer step works on this.
struct Walker {
  WalkStart at;
  StackBounds bounds;
  MemoCursor memo;
  bool interrupted = false;  // at.ip is where a signal struck, not a return address
  uint32_t signals = 0;
  uint32_t guesses = 0;

  // Takes the caller's registers. False: they cannot be right.
  bool MoveTo(uint64_t ip, uint64_t sp, uint64_t fp) noexcept {
    if (ip < kLowestCode || ip >= kAddressEnd || sp <= at.sp) return false;
    at = {ip, sp, fp};
    interrupted = false;
    return true;
  }

  // The copy of a stack has its top alone: that it ends is no fault.
  bool OutOfBounds() noexcept {
    if (!bounds.copied) CountUp(&stack_counters.out_of_bounds);
    return false;
  }

  bool StepBy(uint64_t cfa, uint64_t fp_at) noexcept {
    uint64_t ip;
    uint64_t fp = at.fp;
    if (!bounds.Read(cfa - 8, &ip) || (fp_at != 0 && !bounds.Read(fp_at, &fp))) {
      return OutOfBounds();
    }
    return MoveTo(ip, cfa, fp);
  }

  bool StepRealigned(int32_t offset) noexcept {
    uint64_t cfa;
    if (!bounds.Read(at.fp + static_cast<uint64_t>(int64_t{offset}), &cfa)) return OutOfBounds();
    return StepBy(cfa, at.fp);
  }

  // The interrupted code may run on another stack, above or below.
  bool StepSignal() noexcept {
    uint64_t ip;
    uint64_t sp;
    uint64_t fp;
    if (++signals > kMostSignalFrames || !bounds.Read(at.sp + kInterruptedIp, &ip) ||
        !bounds.Read(at.sp + kInterruptedSp, &sp) || !bounds.Read(at.sp + kInterruptedFp, &fp) ||
        ip < kLowestCode || ip >= kAddressEnd) {
      return OutOfBounds();
    }
    memo.Spoil();
    const bool same_stack = sp > at.sp && sp < bounds.hi;
    if (!same_stack && bounds.copied) return OutOfBounds();
    if (!same_stack) bounds = BoundsOf(sp);
    at = {ip, sp, fp};
    interrupted = true;
    return true;
  }

  // Code without tables (made at run time, or hand-written): a frame pointer is all there can be.
  bool StepGuess() noexcept {
    uint64_t ip;
    uint64_t fp;
    if (++guesses > kMostGuesses || at.fp < at.sp || !bounds.Read(at.fp, &fp) ||
        !bounds.Read(at.fp + 8, &ip) || !MoveTo(ip, at.fp + 16, fp)) {
      CountUp(&stack_counters.no_rule);
      return false;
    }
    CountUp(&stack_counters.guessed_frames);
    return true;
  }

  // False: the walk is over.
  [[gnu::noinline]] bool RareStep(UnwindRule rule) noexcept {
    switch (rule.kind) {
      case RuleKind::kOutermost:
        return false;
      case RuleKind::kRealigned:
        return StepRealigned(rule.cfa_offset);
      case RuleKind::kSignal:
        return StepSignal();
      case RuleKind::kNone:
        return StepGuess();
      case RuleKind::kUnknown:
        CountUp(&stack_counters.no_resolver);
        return false;
      default:
        CountUp(&stack_counters.no_rule);
        return false;
    }
  }

  // `at` is a frame of last time: stores the frames outside of it that are still in place, and
  // moves to the last of them. The words looked at lie between a frame and the next, above `at`:
  // one comparison keeps all of them in bounds.
  void FollowMemo(uint64_t* pcs, uint32_t most, uint32_t* stored) noexcept {
    const MemoFrame* inner = &memo.before->frames[memo.next];
    uint32_t left = memo.before->count - memo.next - 1;
    if (left >= most - *stored) left = most - *stored - 1;
    const bool whole = left == 0 || inner[left].at.sp <= bounds.hi;
    memo.before = nullptr;  // once a walk
    if (!whole) return;
    uint32_t followed = 0;
    for (; followed < left; ++followed, ++inner) {
      const MemoFrame& outer = inner[1];
      if (*reinterpret_cast<const uint64_t*>(outer.at.sp - 8) != outer.at.ip) break;
      if (outer.fp_at != kFpKept) {
        if (outer.fp_at == kUncheckable) break;
        if (*reinterpret_cast<const uint64_t*>(outer.fp_at) != outer.at.fp) break;
      }
      pcs[*stored + followed] = inner->at.ip;
      memo.Add(inner->at);
      memo.fp_at = outer.fp_at;
    }
    *stored += followed;
    at = inner->at;
  }

  // Follows ordinary frames, which nearly all are. True: stopped at a frame, already stored, that
  // needs RareStep(*rule). False: the walk is over.
  bool FollowOrdinary(uint64_t* pcs, uint32_t most, uint32_t* stored, UnwindRule* rare) noexcept {
    uint64_t ip = at.ip;
    uint64_t sp = at.sp;
    uint64_t fp = at.fp;
    uint64_t back = interrupted ? 0 : 1;
    uint32_t count = *stored;
    bool rarely = false;
    while (count < most) {
      if (memo.Meets({ip, sp, fp})) {
        FollowMemo(pcs, most, &count);
        ip = at.ip;
        sp = at.sp;
        fp = at.fp;
      }
      uint64_t packed = cache.Find(ip - back);
      if (__builtin_expect(packed == 0, 0)) packed = Resolve(ip - back);
      const UnwindRule rule = UnpackRule(packed);
      pcs[count] = ip;
      count += rule.own ? 0 : 1;
      if (!rule.own) memo.Add({ip, sp, fp});
      memo.fp_at = kUncheckable;
      if (rule.kind != RuleKind::kFromSp && rule.kind != RuleKind::kFromFp) {
        *rare = rule;
        rarely = true;
        break;
      }
      const uint64_t cfa = (rule.kind == RuleKind::kFromSp ? sp : fp) +
                           static_cast<uint64_t>(int64_t{rule.cfa_offset});
      const uint64_t fp_at = cfa + static_cast<uint64_t>(int64_t{rule.fp_offset});
      // cfa > sp keeps the walk going upwards, and so finite.
      if (cfa <= sp || !bounds.Holds(cfa - 8) || (rule.fp_offset != 0 && !bounds.Holds(fp_at))) {
        OutOfBounds();
        break;
      }
      ip = *reinterpret_cast<const uint64_t*>(cfa - 8);
      if (rule.fp_offset != 0) fp = *reinterpret_cast<const uint64_t*>(fp_at);
      if (!rule.own && (rule.fp_offset == 0 || (rule.fp_offset < 0 && fp_at >= sp))) {
        memo.fp_at = rule.fp_offset != 0 ? fp_at : kFpKept;
      }
      sp = cfa;
      back = 1;
      if (ip < kLowestCode || ip >= kAddressEnd) break;
    }
    at = {ip, sp, fp};
    interrupted = back == 0;
    *stored = count;
    return rarely;
  }
};

}  // namespace

void UnwindInit() {
  if (cache.ready()) return;
  void* table = MapTable(RuleCache::kBytes);
  if (table != nullptr) cache.Use(table);
  MemosInit();
  UnwindTablesInit();
}

uint32_t WalkRules(WalkStart start, StackBounds bounds, uint64_t* pcs, uint32_t most) noexcept {
  if (!cache.ready()) return WalkFramePointers(start, bounds, pcs, most);
  Walker walker = {start, bounds, {}};
  ThreadMemo* memo = bounds.foreign ? nullptr : MemoOfThread();
  if (memo != nullptr && memo->busy) memo = nullptr;
  if (memo != nullptr) {
    memo->busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    walker.memo.before = &memo->walks[memo->last];
    memo->last ^= 1;
    walker.memo.now = &memo->walks[memo->last];
    walker.memo.now->count = 0;
  }
  uint32_t count = 0;
  UnwindRule rare;
  while (walker.FollowOrdinary(pcs, most, &count, &rare) && walker.RareStep(rare)) {}
  if (memo != nullptr) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    memo->busy = false;
  }
  return count;
}

uint32_t WalkInterrupted(WalkStart start, StackBounds bounds, uint64_t* pcs,
                         uint32_t most) noexcept {
  if (!cache.ready()) return WalkFramePointers(start, bounds, pcs, most);
  Walker walker = {start, bounds, {}, /*interrupted=*/true};
  uint32_t count = 0;
  UnwindRule rare;
  while (walker.FollowOrdinary(pcs, most, &count, &rare) && walker.RareStep(rare)) {}
  return count;
}

void UnwindForgetRules() { cache.Clear(); }

void UnwindBeforeFork() {
  forking.fetch_add(1, std::memory_order_seq_cst);
  constexpr int kTries = 500;
  const timespec pause = {0, 100'000};
  for (int i = 0; i < kTries && resolving.load(std::memory_order_seq_cst) != 0; ++i) {
    nanosleep(&pause, nullptr);
  }
}

void UnwindAfterForkParent() { forking.fetch_sub(1, std::memory_order_seq_cst); }

void UnwindAfterForkChild() {
  if (resolving.exchange(0) != 0) crippled = true;
  forking = 0;
}

}  // namespace gpuprof::tracer
