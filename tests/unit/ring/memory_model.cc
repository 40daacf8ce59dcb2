// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See memory_model.h. Stores to one atomic are numbered; a thread may read any store that is not
// older than one it has read, made, or learnt of by an acquire. Clocks tell which plain accesses
// happen before which.

#include "tests/unit/ring/memory_model.h"

#include <ucontext.h>

#include <algorithm>
#include <cstring>

namespace gpuprof {
namespace {

constexpr size_t kStackBytes = 256 * 1024;
constexpr uint64_t kWord = 8;

// Orders as the compiler numbers them.
constexpr int kConsume = 1;
constexpr int kAcquire = 2;
constexpr int kRelease = 3;
constexpr int kAcquireRelease = 4;

MemoryModel* g_model;
ucontext_t g_main;
ucontext_t g_context[MemoryModel::kThreads];
alignas(64) char g_stack[MemoryModel::kThreads][kStackBytes];
std::function<void()> g_start[MemoryModel::kThreads];

void Start(int thread) { g_start[thread](); }

template <typename Array>
void Join(Array* to, const Array& from) {
  for (size_t i = 0; i < to->size(); ++i) (*to)[i] = std::max((*to)[i], from[i]);
}

}  // namespace

MemoryModel::MemoryModel(void* memory, uint64_t bytes)
    : memory_(static_cast<const char*>(memory)), bytes_(bytes), plain_(bytes / kWord) {
  g_model = this;
}
MemoryModel::~MemoryModel() { g_model = nullptr; }

void MemoryModel::AddAtomic(const void* address, const char* name, int writer) {
  atomics_.push_back({address, name, writer, {}});
}

bool MemoryModel::Watches(const void* address) const {
  const auto* at = static_cast<const char*>(address);
  return running_ >= 0 && at >= memory_ && at < memory_ + bytes_;
}

void MemoryModel::Fault(const std::string& what) {
  if (fault_.empty()) fault_ = what;
}

// One of `ways`; after a fault the first, to come to an end.
uint32_t MemoryModel::Choose(uint32_t ways) {
  if (ways == 1 || !fault_.empty()) return 0;
  if (next_choice_ == choices_.size()) choices_.push_back({0, ways});
  return choices_[next_choice_++].taken;
}

// Depth first: the last choice that has another way left takes it.
bool MemoryModel::NextWay() {
  while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().ways) {
    choices_.pop_back();
  }
  if (choices_.empty()) return false;
  ++choices_.back().taken;
  return true;
}

// Lets the other thread run, or not.
void MemoryModel::Switch() {
  const int other = 1 - running_;
  if (threads_[other].ended || Choose(2) == 0) return;
  const int self = running_;
  running_ = other;
  swapcontext(&g_context[self], &g_context[other]);
}

int MemoryModel::Find(const void* address, const char* what) {
  for (size_t i = 0; i < atomics_.size(); ++i) {
    if (atomics_[i].address == address) return static_cast<int>(i);
  }
  Fault(std::string(what) + " of an atomic that nobody named");
  return -1;
}

bool MemoryModel::IsOrdered(int index, bool is_store, int order, const void* place) {
  if (is_store ? order < kRelease : order < kConsume || order == kRelease) return false;
  ordered_[place] = std::string(is_store ? "release " : "acquire ") + atomics_[index].name;
  return place != weakened_;
}

uint64_t MemoryModel::Load(const void* address, uint64_t value, int order, const void* place) {
  if (!Watches(address)) return value;
  const int index = Find(address, "load");
  if (index < 0) return value;
  // Whoever stores to it reads its own: no other thread can tell when.
  if (atomics_[index].writer != running_) Switch();
  Thread& self = threads_[running_];
  const std::vector<Message>& messages = atomics_[index].messages;
  const uint32_t newest = static_cast<uint32_t>(messages.size()) - 1;
  const uint32_t read = newest - Choose(newest - self.view[index] + 1);
  self.view[index] = read;
  if (IsOrdered(index, false, order, place)) {
    Join(&self.view, messages[read].view);
    Join(&self.clock, messages[read].clock);
  }
  return messages[read].value;
}

void MemoryModel::Store(const void* address, uint64_t value, int order, const void* place) {
  if (!Watches(address)) return;
  const int index = Find(address, "store");
  if (index < 0) return;
  if (atomics_[index].writer != running_) Fault("a second thread stores");
  Switch();
  Thread& self = threads_[running_];
  self.view[index] = static_cast<uint32_t>(atomics_[index].messages.size());
  Message message = {value, {}, {}};
  if (IsOrdered(index, true, order, place)) message = {value, self.view, self.clock};
  atomics_[index].messages.push_back(message);
  ++self.clock[static_cast<size_t>(running_)];
}

void MemoryModel::Touch(const void* address, uint64_t bytes, bool is_write) {
  if (!Watches(address)) return;
  const uint64_t offset = static_cast<uint64_t>(static_cast<const char*>(address) - memory_);
  const Thread& self = threads_[running_];
  const auto me = static_cast<size_t>(running_);
  const size_t other = 1 - me;
  for (uint64_t word = offset / kWord; word * kWord < offset + bytes && word < plain_.size();
       ++word) {
    Plain& plain = plain_[word];
    if (plain.written[other] > self.clock[other] ||
        (is_write && plain.read[other] > self.clock[other])) {
      Fault("race at byte " + std::to_string(word * kWord));
    }
    (is_write ? plain.written : plain.read)[me] = self.clock[me];
  }
}

void MemoryModel::Coroutine(int thread, const Body& body) {
  body();
  threads_[thread].ended = true;
  running_ = threads_[1 - thread].ended ? -1 : 1 - thread;
  setcontext(running_ < 0 ? &g_main : &g_context[running_]);
}

void MemoryModel::RunOnce(const Body& begin, const std::array<Body, kThreads>& threads) {
  next_choice_ = 0;
  begin();
  std::fill(plain_.begin(), plain_.end(), Plain{});
  for (Atomic& atomic : atomics_) {
    uint64_t value = 0;
    std::memcpy(&value, atomic.address, sizeof value);
    atomic.messages.assign(1, {value, {}, {}});
  }
  for (int i = 0; i < kThreads; ++i) {
    threads_[i] = {};
    threads_[i].clock[static_cast<size_t>(i)] = 1;
    g_start[i] = [this, i, &threads] { Coroutine(i, threads[static_cast<size_t>(i)]); };
    getcontext(&g_context[i]);
    g_context[i].uc_stack.ss_sp = g_stack[i];
    g_context[i].uc_stack.ss_size = kStackBytes;
    makecontext(&g_context[i], reinterpret_cast<void (*)()>(Start), 1, i);
  }
  running_ = static_cast<int>(Choose(kThreads));
  swapcontext(&g_main, &g_context[running_]);
}

std::string MemoryModel::Explore(const Body& begin, const std::array<Body, kThreads>& threads,
                                 const std::function<std::string()>& end) {
  choices_.clear();
  fault_.clear();
  executions_ = 0;
  do {
    RunOnce(begin, threads);
    ++executions_;
    if (fault_.empty()) fault_ = end();
  } while (fault_.empty() && NextWay());
  return fault_;
}

}  // namespace gpuprof

// What the compiler calls. Names and types are its own.
namespace {

using gpuprof::g_model;

void Touch(const void* address, uint64_t bytes, bool is_write) {
  if (g_model != nullptr) g_model->Touch(address, bytes, is_write);
}

}  // namespace

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_atomic_signal_fence(int) {}
void __tsan_atomic_thread_fence(int) { g_model->Fault("a fence"); }

#define GPUPROF_PLAIN(size)                                                        \
  void __tsan_read##size(void* address) { Touch(address, size, false); }           \
  void __tsan_write##size(void* address) { Touch(address, size, true); }           \
  void __tsan_unaligned_read##size(void* address) { Touch(address, size, false); } \
  void __tsan_unaligned_write##size(void* address) { Touch(address, size, true); }
GPUPROF_PLAIN(1)
GPUPROF_PLAIN(2)
GPUPROF_PLAIN(4)
GPUPROF_PLAIN(8)
GPUPROF_PLAIN(16)
#undef GPUPROF_PLAIN
void __tsan_read_range(void* address, unsigned long bytes) { Touch(address, bytes, false); }
void __tsan_write_range(void* address, unsigned long bytes) { Touch(address, bytes, true); }

// Real memory has the newest value, for setup and end.
uint64_t __tsan_atomic64_load(const volatile uint64_t* address, int order) {
  return g_model->Load(const_cast<const uint64_t*>(address),
                       __atomic_load_n(address, __ATOMIC_SEQ_CST), order,
                       __builtin_return_address(0));
}
// The ring's own are of 64 bits; this one is linked, not run.
uint32_t __tsan_atomic32_load(const volatile uint32_t* address, int) {
  g_model->Fault("an atomic of 32 bits");
  return __atomic_load_n(address, __ATOMIC_SEQ_CST);
}
void __tsan_atomic64_store(volatile uint64_t* address, uint64_t value, int order) {
  g_model->Store(const_cast<const uint64_t*>(address), value, order, __builtin_return_address(0));
  __atomic_store_n(address, value, __ATOMIC_SEQ_CST);
}

// The instrumented code's memcpy: a call that the compiler leaves to the library.
void* __real_memcpy(void* to, const void* from, size_t bytes);
void* __wrap_memcpy(void* to, const void* from, size_t bytes) {
  Touch(from, bytes, false);
  Touch(to, bytes, true);
  return __real_memcpy(to, from, bytes);
}

}  // extern "C"
