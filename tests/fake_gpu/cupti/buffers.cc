// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fake_gpu/cupti/buffers.h"

#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/fake_gpu/cupti/order.h"
#include "tests/fake_gpu/cupti/personality.h"
#include "tests/fake_gpu/cupti/state.h"
#include "tests/fake_gpu/device/call.h"
#include "tests/fake_gpu/device/clock.h"
#include "tests/fake_gpu/device/playback.h"
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
  // Of a playback: its bytes are as they shall be.
  bool finished = false;
};

// Where one thread, or all, or the device writes.
struct Slot {
  std::mutex mutex;
  Buffer buffer;
  bool taken = false;
};

// Of one client.
struct Writer {
  BufferCallbacks callbacks;
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

Writer& WriterOf(size_t client) {
  static Writer* const writers = new Writer[kMostClients];
  return writers[client];
}

thread_local bool in_callback = false;

// A thread's slot passes on to a later thread when it ends.
struct OwnSlots {
  Slot* slots[kMostClients] = {};
  ~OwnSlots() {
    for (size_t client = 0; client < kMostClients; ++client) {
      if (slots[client] == nullptr) continue;
      const std::lock_guard lock(WriterOf(client).slots_mutex);
      slots[client]->taken = false;
    }
  }
};
thread_local OwnSlots own;

Slot* SlotOfThread(size_t client) {
  Slot*& mine = own.slots[client];
  if (mine != nullptr) [[likely]]
    return mine;
  Writer& writer = WriterOf(client);
  const std::lock_guard lock(writer.slots_mutex);
  for (Slot& slot : writer.slots) {
    if (!slot.taken) mine = &slot;
  }
  if (mine == nullptr) mine = &writer.slots.emplace_back();
  mine->taken = true;
  return mine;
}

Slot* SlotFor(size_t client, bool device) {
  Writer& writer = WriterOf(client);
  if (device && !fake_gpu::TheScript().mixed) return &writer.device;
  return writer.per_thread.load(std::memory_order_relaxed) ? SlotOfThread(client) : &writer.shared;
}

void Deliver(const Writer& writer, Buffer* buffer) {
  if (!buffer->finished) Finish({buffer->data, buffer->used}, fake_gpu::Monotonic());
  const BufferCallbacks& callbacks = writer.callbacks;
  in_callback = true;
  if (callbacks.complete_v2 != nullptr) {
    CompleteInfoV2 info{sizeof info, 0, nullptr, 0};
    callbacks.complete_v2(buffer->data, buffer->size, buffer->used, &info);
  } else {
    callbacks.complete(nullptr, 0, buffer->data, buffer->size, buffer->used);
  }
  in_callback = false;
}

bool IsDue(const Buffer& buffer, uint64_t now) { return buffer.forced || buffer.due <= now; }

void Work(Writer& writer) {
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
    Deliver(writer, &*due);
    lock.lock();
    writer.closed.erase(due);
    writer.changed.notify_all();
  }
}

// With the writer's mutex held.
void Close(Writer& writer, Buffer* buffer, bool forced) {
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
    std::thread(Work, std::ref(writer)).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  writer.changed.notify_all();
}

bool Request(Writer& writer, Buffer* buffer) {
  const BufferCallbacks& callbacks = writer.callbacks;
  if (callbacks.request == nullptr && callbacks.request_v2 == nullptr) return false;
  const std::lock_guard lock(writer.requesting);
  in_callback = true;
  if (callbacks.request_v2 != nullptr) {
    RequestInfoV2 info{sizeof info, fake_gpu::CurrentTid()};
    callbacks.request_v2(&buffer->data, &buffer->size, &buffer->most_records, &info);
  } else {
    callbacks.request(&buffer->data, &buffer->size, &buffer->most_records);
  }
  in_callback = false;
  if (buffer->data != nullptr && buffer->size != 0) return true;
  if constexpr (!kToleratesNoBuffer) {
    Violation("no buffer was given to a CUPTI older than 12.9, which does not survive that");
  }
  *buffer = {};
  return false;
}

void CountDrop(Writer& writer, uint32_t kind) {
  writer.dropped.fetch_add(1, std::memory_order_relaxed);
  fake_gpu::TruthLine("{\"t\":\"drop\",\"kind\":%u}", kind);
}

uint32_t KindOf(const Piece& piece) {
  return static_cast<const CUpti_Activity*>(piece.record)->kind;
}

bool IsCall(uint32_t kind) {
  return kind == CUPTI_ACTIVITY_KIND_DRIVER || kind == CUPTI_ACTIVITY_KIND_RUNTIME;
}

bool Wants(const Client& client, const Piece& piece) {
  const uint32_t kind = KindOf(piece);
  if (IsCall(kind)) {
    const auto* call = static_cast<const CUpti_ActivityAPI*>(piece.record);
    const size_t domain = kind == CUPTI_ACTIVITY_KIND_DRIVER ? 1 : 2;
    return client.recorded[domain][call->cbid % kMostIds].load(std::memory_order_relaxed);
  }
  if (!Enabled(client, kind)) return false;
  if (kind != CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) return true;
  // Of questions that were answered with "not ready" there are records for those who want them.
  const auto* sync = static_cast<const CUpti_ActivitySynchronization2*>(piece.record);
  return sync->returnValue == 0 || client.all_sync_records.load(std::memory_order_relaxed);
}

// Nothing is written of a kind that was turned off meanwhile: a flush after that has everything.
bool Write(size_t client, Writer& writer, Slot* slot, const Piece* pieces, size_t count,
           uint64_t end) {
  size_t needed = 0;
  for (size_t i = 0; i < count; ++i) needed += SizeOf(KindOf(pieces[i]));
  const std::lock_guard lock(slot->mutex);
  if (!Wants(TheState().clients[client], pieces[count - 1])) return true;
  Buffer& buffer = slot->buffer;
  const bool full = buffer.used + needed > buffer.size ||
                    (buffer.most_records != 0 && buffer.records + count > buffer.most_records);
  if (buffer.data != nullptr && full) {
    const std::lock_guard closing(writer.mutex);
    Close(writer, &buffer, false);
  }
  if (buffer.data == nullptr && !Request(writer, &buffer)) return false;
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

void AppendTo(size_t client, const Piece* pieces, size_t count, bool device, uint64_t end) {
  Writer& writer = WriterOf(client);
  if (const uint64_t every = fake_gpu::TheScript().drop; every != 0) {
    if (writer.seen.fetch_add(1, std::memory_order_relaxed) % every == every - 1) {
      for (size_t i = 0; i < count; ++i) CountDrop(writer, KindOf(pieces[i]));
      return;
    }
  }
  if (Write(client, writer, SlotFor(client, device), pieces, count, end)) [[likely]]
    return;
  for (size_t i = 0; i < count; ++i) CountDrop(writer, KindOf(pieces[i]));
  CUpti_StateData data{};
  data.notification = {CUPTI_ERROR_OUT_OF_MEMORY, "no activity buffer: records are dropped"};
  CallBack(CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_WARNING, &data);
}

void AppendAll(const Piece* pieces, size_t count, bool device, uint64_t end) {
  if (fake_gpu::ThePlayback() != nullptr) [[unlikely]]
    return;
  const Piece& last = pieces[count - 1];
  EachClient([&](const Client& client, size_t i) {
    if (!Wants(client, last)) return;
    const Piece* from = Wants(client, pieces[0]) ? pieces : &last;
    const auto wanted = static_cast<size_t>(pieces + count - from);
    if (!IsCall(KindOf(last)) || client.system_thread_ids.load(std::memory_order_relaxed))
        [[likely]] {
      AppendTo(i, from, wanted, device, end);
      return;
    }
    auto call = *static_cast<const CUpti_ActivityAPI*>(last.record);
    // One that is played again has a thread of its own.
    if (call.threadId == fake_gpu::CurrentTid()) call.threadId = ThreadId(client);
    const Piece changed[] = {pieces[0], {&call, sizeof call}};
    AppendTo(i, changed + (wanted == 2 ? 0 : 1), wanted, device, end);
  });
}

void CloseSlot(Writer& writer, Slot* slot, bool forced, uint64_t now) {
  const std::lock_guard lock(slot->mutex);
  if (slot->buffer.used == 0 || (!forced && slot->buffer.due > now)) return;
  const std::lock_guard closing(writer.mutex);
  Close(writer, &slot->buffer, forced);
}

template <typename Work>
void EachSlot(Writer& writer, Work work) {
  const std::lock_guard lock(writer.slots_mutex);
  for (Slot& slot : writer.slots) work(&slot);
  work(&writer.shared);
  work(&writer.device);
}

void FlushOne(Writer& writer, bool forced) {
  const uint64_t now = fake_gpu::Monotonic();
  EachSlot(writer, [&](Slot* slot) { CloseSlot(writer, slot, forced, now); });
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

}  // namespace

void SetBufferCallbacks(size_t client, const BufferCallbacks& callbacks) {
  WriterOf(client).callbacks = callbacks;
}

bool HasBufferCallbacks() {
  bool any = false;
  EachClient([&](const Client&, size_t i) {
    const BufferCallbacks& callbacks = WriterOf(i).callbacks;
    any = any || callbacks.request != nullptr || callbacks.request_v2 != nullptr;
  });
  return any;
}

void Append(const Piece& piece, bool device, uint64_t end) { AppendAll(&piece, 1, device, end); }

void AppendPair(const Piece& first, const Piece& second) {
  const Piece pieces[] = {first, second};
  AppendAll(pieces, 2, false, 0);
}

// Everybody's: the entry point names no subscriber.
void Flush(bool forced) {
  if (in_callback) Violation("cuptiActivityFlushAll was called in a buffer callback");
  EachClient([&](const Client&, size_t i) { FlushOne(WriterOf(i), forced); });
}

// Full buffers go back as soon as they are complete: there is nothing left for a period to do.
void SetFlushPeriod(uint32_t milliseconds) { WriterOf(0).period = milliseconds; }

void SetPerThread(bool per_thread) {
  for (size_t i = 0; i < kMostClients; ++i) WriterOf(i).per_thread.store(per_thread);
}
bool PerThread() { return WriterOf(0).per_thread.load(); }

void AbandonBuffers() {
  EachClient([](const Client&, size_t i) {
    EachSlot(WriterOf(i), [](Slot* slot) {
      const std::lock_guard lock(slot->mutex);
      if (slot->buffer.records != 0)
        fake_gpu::TruthLine("{\"t\":\"abandoned\",\"records\":%zu}", slot->buffer.records);
      slot->buffer = {};
    });
  });
}

bool HandOver(size_t client, const FillBuffer& fill) {
  Writer& writer = WriterOf(client);
  Buffer buffer;
  if (!Request(writer, &buffer)) return false;
  buffer.finished = true;
  buffer.used = fill({buffer.data, buffer.size, buffer.most_records});
  const std::lock_guard lock(writer.mutex);
  Close(writer, &buffer, true);
  return true;
}

void AddDropped(size_t client, size_t records) { WriterOf(client).dropped.fetch_add(records); }

size_t TakeDropped(size_t client) {
  Writer& writer = WriterOf(client);
  const std::lock_guard lock(writer.requesting);
  return writer.dropped.exchange(0);
}

}  // namespace fake_gpu_cupti
