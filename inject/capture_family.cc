// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See capture_family.h.

#include "inject/capture_family.h"

#include <sys/mman.h>

#include <atomic>

#include "inject/lifecycle.h"
#include "inject/marked_captures.h"
#include "inject/raw_syscall.h"
#include "inject/state.h"

namespace gpuprof::inject {
namespace {

// What forked children see of a process's captures: a page that they share.
struct Family {
  std::atomic<uint32_t> phase;    // begins and ends so far: odd while a capture is under way
  std::atomic<uint32_t> is_over;  // there will be no other
};
std::atomic<Family*> g_family{nullptr};  // whose captures this process tells of
Family* g_parents = nullptr;             // whose captures this process follows
uint32_t g_seen_phase = 0;               // of the parent's, acted upon
std::atomic<bool> g_follows{false};      // the capture that runs is the parent's
uint32_t g_followed = 0;                 // its number here
long g_parent = 0;                       // pid
// Own phase just before the latest fork. The shared page may be ahead of what a child has copied.
std::atomic<uint32_t> g_phase_at_fork{0};
// The capture that children follow. A child that is forked while it runs belongs to it.
std::atomic<FamilyState> g_state{FamilyState::kNotMarked};

[[gnu::cold]] void MakeFamily() {
  if (g_family.load() != nullptr) return;
  const long made = raw::Call(SYS_mmap, 0, sizeof(Family), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (raw::IsError(made)) return;
  auto* const family = reinterpret_cast<Family*>(made);
  family->phase.store(g_follows.load() ? 1 : 0);
  Family* none = nullptr;
  if (!g_family.compare_exchange_strong(none, family)) raw::Call(SYS_munmap, made, sizeof(Family));
}

[[gnu::cold]] void TellFamily(bool is_capturing) {
  Family* family = g_family.load();
  if (family == nullptr) return;
  uint32_t phase = family->phase.load();
  while ((phase % 2 != 0) != is_capturing &&
         !family->phase.compare_exchange_weak(phase, phase + 1)) {}
}

// Returns the phase that a child has seen which was forked in `state`. `told` was read a moment
// earlier, and may be one behind `state`, or ahead of it where a capture is ending.
[[gnu::cold]] uint32_t PhaseOf(FamilyState state, uint32_t told) {
  const bool is_under_way = told % 2 != 0;
  if (state == FamilyState::kNotMarked) return told + (is_under_way ? 1 : 0);
  return told - (state == FamilyState::kIsEnding && !is_under_way ? 1 : 0);
}

}  // namespace

FamilyState FamilysCaptureBegins() noexcept {
  MakeFamily();
  return g_state.exchange(FamilyState::kIsMarked);
}

void FamilysCaptureHasBegun(bool has_begun, FamilyState before) noexcept {
  has_begun ? TellFamily(true) : g_state.store(before);
}

void FamilysCaptureEnds(bool is_over) noexcept {
  g_state.store(FamilyState::kIsEnding);
  TellFamily(false);
  if (Family* family = g_family.load(); family != nullptr && is_over) family->is_over.store(1);
}

void FamilysCaptureHasEnded() noexcept { g_state.store(FamilyState::kNotMarked); }

void PrepareFamily() noexcept {
  if (WatchesMarks()) MakeFamily();
  if (const Family* family = g_family.load(); family != nullptr)
    g_phase_at_fork.store(family->phase.load());
}

void BeginFamilyOfChild() noexcept {
  // One that could not tell of its own leaves the child whom it follows itself.
  if (Family* family = g_family.exchange(nullptr); family != nullptr) {
    g_parents = family;
    const FamilyState state = g_state.load();
    g_seen_phase = PhaseOf(state, g_phase_at_fork.load());
    g_follows.store(state != FamilyState::kNotMarked);
    g_followed = 1;  // captures are counted anew
    g_parent = raw::Call(SYS_getppid);
  }
  g_state.store(g_follows.load() ? FamilyState::kIsMarked : FamilyState::kNotMarked);
}

bool HasParentsCaptures() noexcept { return g_parents != nullptr; }

void FollowParent() noexcept {
  if (g_parents == nullptr) return;
  const uint32_t phase = g_parents->phase.load();
  if (phase == g_seen_phase) {
    const bool is_over = phase % 2 == 0 && g_parents->is_over.load() != 0;
    if (is_over || raw::Call(SYS_getppid) != g_parent) g_parents = nullptr;
    return;
  }
  g_seen_phase = phase;
  if (phase % 2 != 0) {
    // It may have been forked between the capture's begin and the word of it.
    const bool is_in_it = g_follows.load() && IsCapturing();
    const FamilyState before = FamilysCaptureBegins();
    // One that runs already is its own, or somebody else's.
    g_follows.store(is_in_it || BeginCapture("parent"));
    g_followed = g_process.captures.load();
    FamilysCaptureHasBegun(g_follows.load(), before);
  } else if (g_follows.exchange(false)) {
    FamilysCaptureEnds(/*is_over=*/false);
    // Another that somebody began meanwhile is not ended.
    if (g_followed == g_process.captures.load()) StopCapture("parent");
    FamilysCaptureHasEnded();
  }
}

}  // namespace gpuprof::inject
