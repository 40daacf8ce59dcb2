// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fake_gpu/cupti/buffers.h"

#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/fake_gpu/cupti/order.h"
#include "tests/fake_gpu/cupti/personality.h"
#include "tests/fake_gpu/cupti/state.h"
#include "tests/fake_gpu/device/clock.h"
#include "tests/fake_gpu/device/script.h"
#include "tests/fake_gpu/truth.h"

namespace fake_gpu_cupti {
namespace {

struct Buffer {
  uint8_t* data = nullptr;
  size_t size = 0, used = 0;
  size_t records = 0, most_records = 0;
  // The device's time when all in it is complete.
  uint64_t due = 0;
  uint64_t closed = 0;
  bool forced = false;
};

// Where one thread, or all, or the device writes.
struct Slot {
  std::mutex mutex;
  Buffer buffer;
  bool taken = false;
};

struct Writer {
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  // Held while the tool is asked, and by the question for the drops: who asks that under a lock
  // that its own request callback takes has the deadlock that the real CUPTI has.
  std::mutex requesting;
  std::mutex slots_mutex;
  std::list<Slot> slots;
  Slot shared, device;
  std::atomic<bool> per_thread{kPerThreadBuffers};
  std::atomic<size_t> dropped{0};
  std::atomic<uint64_t> seen{0};
  std::mutex mutex;
  std::condition_variable changed;
  // Waiting to be handed back; one stays here until it is.
  std::list<Buffer> closed;
  bool started = false;
  uint32_t period = 0;
};

Writer& TheWriter() {
  static Writer* const writer = new Writer;
  return *writer;
}

thread_local bool in_callback = false;

// A thread's slot passes on to a later thread when it ends.
struct OwnSlot {
  Slot* slot = nullptr;
  ~OwnSlot() {
    if (slot == nullptr) return;
    const std::lock_guard lock(TheWriter().slots_mutex);
    slot->taken = false;
  }
};
thread_local OwnSlot own;

Slot* SlotOfThread() {
  if (own.slot != nullptr) [[likely]]
    return own.slot;
  Writer& writer = TheWriter();
  const std::lock_guard lock(writer.slots_mutex);
  for (Slot& slot : writer.slots) {
    if (!slot.taken) own.slot = &slot;
  }
  if (own.slot == nullptr) own.slot = &writer.slots.emplace_back();
  own.slot->taken = true;
  return own.slot;
}

Slot* SlotFor(bool device) {
  Writer& writer = TheWriter();
  if (device && !fake_gpu::TheScript().mixed) return &writer.device;
  return writer.per_thread.load(std::memory_order_relaxed) ? SlotOfThread() : &writer.shared;
}

void Deliver(Buffer* buffer) {
  Finish({buffer->data, buffer->used}, fake_gpu::Monotonic());
  in_callback = true;
  TheWriter().complete(nullptr, 0, buffer->data, buffer->size, buffer->used);
  in_callback = false;
}

bool IsDue(const Buffer& buffer, uint64_t now) { return buffer.forced || buffer.due <= now; }

void Work() {
  Writer& writer = TheWriter();
  std::unique_lock lock(writer.mutex);
  for (;;) {
    const uint64_t now = fake_gpu::Monotonic();
    uint64_t next = now + 50'000'000;
    auto due = writer.closed.end();
    for (auto it = writer.closed.begin(); it != writer.closed.end() && due == writer.closed.end();
         ++it) {
      if (IsDue(*it, now)) due = it;
      next = std::min(next, it->due);
    }
    if (due == writer.closed.end()) {
      writer.changed.wait_for(lock, std::chrono::nanoseconds(next - now));
      continue;
    }
    lock.unlock();
    Deliver(&*due);
    lock.lock();
    writer.closed.erase(due);
    writer.changed.notify_all();
  }
}

// With the writer's mutex held.
void Close(Buffer* buffer, bool forced) {
  Writer& writer = TheWriter();
  buffer->forced = forced;
  buffer->closed = fake_gpu::Monotonic();
  writer.closed.push_back(*buffer);
  *buffer = {};
  if (!writer.started) {
    writer.started = true;
    // No signal of the program's may come to this thread.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread(Work).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  writer.changed.notify_all();
}

bool Request(Buffer* buffer) {
  Writer& writer = TheWriter();
  if (writer.request == nullptr) return false;
  const std::lock_guard lock(writer.requesting);
  in_callback = true;
  writer.request(&buffer->data, &buffer->size, &buffer->most_records);
  in_callback = false;
  if (buffer->data != nullptr && buffer->size != 0) return true;
  if constexpr (!kToleratesNoBuffer) {
    Violation("no buffer was given to a CUPTI older than 12.9, which does not survive that");
  }
  *buffer = {};
  return false;
}

void CountDrop(uint32_t kind) {
  TheWriter().dropped.fetch_add(1, std::memory_order_relaxed);
  fake_gpu::TruthLine("{\"t\":\"drop\",\"kind\":%u}", kind);
}

uint32_t KindOf(const Piece& piece) {
  return static_cast<const CUpti_Activity*>(piece.record)->kind;
}

bool Write(Slot* slot, const Piece* pieces, size_t count, uint64_t end) {
  size_t needed = 0;
  for (size_t i = 0; i < count; ++i) needed += SizeOf(KindOf(pieces[i]));
  const std::lock_guard lock(slot->mutex);
  Buffer& buffer = slot->buffer;
  const bool full = buffer.used + needed > buffer.size ||
                    (buffer.most_records != 0 && buffer.records + count > buffer.most_records);
  if (buffer.data != nullptr && full) {
    const std::lock_guard closing(TheWriter().mutex);
    Close(&buffer, false);
  }
  if (buffer.data == nullptr && !Request(&buffer)) return false;
  if (needed > buffer.size) return false;
  for (size_t i = 0; i < count; ++i) {
    const size_t size = SizeOf(KindOf(pieces[i]));
    const size_t filled = std::min(size, pieces[i].size);
    memcpy(buffer.data + buffer.used, pieces[i].record, filled);
    memset(buffer.data + buffer.used + filled, 0, size - filled);
    buffer.used += size;
  }
  buffer.records += count;
  buffer.due = std::max(buffer.due, end);
  return true;
}

void AppendAll(const Piece* pieces, size_t count, bool device, uint64_t end) {
  if (const uint64_t every = fake_gpu::TheScript().drop; every != 0) {
    if (TheWriter().seen.fetch_add(1, std::memory_order_relaxed) % every == every - 1) {
      for (size_t i = 0; i < count; ++i) CountDrop(KindOf(pieces[i]));
      return;
    }
  }
  if (Write(SlotFor(device), pieces, count, end)) [[likely]]
    return;
  for (size_t i = 0; i < count; ++i) CountDrop(KindOf(pieces[i]));
  CUpti_StateData data{};
  data.notification = {CUPTI_ERROR_OUT_OF_MEMORY, "no activity buffer: records are dropped"};
  CallBack(CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_WARNING, &data);
}

void CloseSlot(Slot* slot, bool forced, uint64_t now) {
  const std::lock_guard lock(slot->mutex);
  if (slot->buffer.used == 0 || (!forced && slot->buffer.due > now)) return;
  const std::lock_guard closing(TheWriter().mutex);
  Close(&slot->buffer, forced);
}

void EachSlot(void (*work)(Slot*, bool, uint64_t), bool forced, uint64_t now) {
  Writer& writer = TheWriter();
  const std::lock_guard lock(writer.slots_mutex);
  for (Slot& slot : writer.slots) work(&slot, forced, now);
  work(&writer.shared, forced, now);
  work(&writer.device, forced, now);
}

}  // namespace

void SetBufferCallbacks(CUpti_BuffersCallbackRequestFunc request,
                        CUpti_BuffersCallbackCompleteFunc complete) {
  TheWriter().request = request;
  TheWriter().complete = complete;
}

bool HasBufferCallbacks() { return TheWriter().request != nullptr; }

void Append(const Piece& piece, bool device, uint64_t end) { AppendAll(&piece, 1, device, end); }

void AppendPair(const Piece& first, const Piece& second) {
  const Piece pieces[] = {first, second};
  AppendAll(pieces, 2, false, 0);
}

void Flush(bool forced) {
  if (in_callback) Violation("cuptiActivityFlushAll was called in a buffer callback");
  Writer& writer = TheWriter();
  const uint64_t now = fake_gpu::Monotonic();
  EachSlot(CloseSlot, forced, now);
  std::unique_lock lock(writer.mutex);
  const uint64_t closed = fake_gpu::Monotonic();
  if (forced) {
    for (Buffer& buffer : writer.closed) buffer.forced = true;
  }
  writer.changed.notify_all();
  writer.changed.wait(lock, [&] {
    return std::none_of(writer.closed.begin(), writer.closed.end(), [&](const Buffer& buffer) {
      return buffer.closed <= closed && IsDue(buffer, now);
    });
  });
}

// Full buffers go back as soon as they are complete: there is nothing left for a period to do.
void SetFlushPeriod(uint32_t milliseconds) { TheWriter().period = milliseconds; }

void SetPerThread(bool per_thread) { TheWriter().per_thread.store(per_thread); }
bool PerThread() { return TheWriter().per_thread.load(); }

void AbandonBuffers() {
  EachSlot(
      [](Slot* slot, bool, uint64_t) {
        const std::lock_guard lock(slot->mutex);
        if (slot->buffer.records != 0)
          fake_gpu::TruthLine("{\"t\":\"abandoned\",\"records\":%zu}", slot->buffer.records);
        slot->buffer = {};
      },
      false, 0);
}

size_t TakeDropped() {
  const std::lock_guard lock(TheWriter().requesting);
  return TheWriter().dropped.exchange(0);
}

}  // namespace fake_gpu_cupti
