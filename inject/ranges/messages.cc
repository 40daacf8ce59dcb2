// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/ranges/messages.h"

#include <string.h>
#include <sys/mman.h>

#include <atomic>

#include "inject/own_room.h"
#include "inject/ranges/ranges.h"
#include "inject/raw_syscall.h"
#include "inject/recorder.h"

namespace gpuprof::inject::ranges {
namespace {

constinit proto::NameTable g_table{proto::kFirstRangeName};

// Behind the table's memory. Handles of domains and of strings are addresses in one tool, so that
// one map does for both.
struct Binding {
  std::atomic<const void*> handle;
  std::atomic<Text*> text;
};
constexpr uint32_t kBindings = 32768;
constexpr uint32_t kMostProbes = 64;
std::atomic<char*> g_memory{nullptr};
std::atomic<uint32_t> g_bound{0};

constexpr uint64_t kBindingsOffset = (proto::NameTable::kMemoryBytes + 4095) & ~uint64_t{4095};
constexpr uint64_t kMemoryBytes = kBindingsOffset + kBindings * sizeof(Binding);

Binding* BindingAt(const void* handle, uint32_t probe) {
  auto* bindings =
      reinterpret_cast<Binding*>(g_memory.load(std::memory_order_acquire) + kBindingsOffset);
  const uint64_t mixed = reinterpret_cast<uint64_t>(handle) * 0x9e3779b97f4a7c15u;
  return &bindings[((mixed >> 40) + probe) & (kBindings - 1)];
}

bool IsEmpty(const Message& message) {
  if (message.text == nullptr) return true;
  switch (message.type) {
    case kAscii:
      return *static_cast<const char*>(message.text) == 0;
    case kUnicode:
      return *static_cast<const wchar_t*>(message.text) == 0;
    case kRegistered:
      return false;
    default:
      return true;
  }
}

}  // namespace

bool PrepareMessages() noexcept {
  if (g_table.ready()) return true;
  char* mapped = static_cast<char*>(MapPages(kMemoryBytes, MAP_NORESERVE));
  if (mapped == nullptr) return false;
  char* none = nullptr;
  if (g_memory.compare_exchange_strong(none, mapped)) {
    g_table.Use(mapped);
  } else {
    UnmapPages(mapped, kMemoryBytes);
    g_table.Use(none);  // where the other thread has not come to it yet
  }
  return true;
}

bool AppendUtf8(uint32_t character, char* to, uint32_t capacity, uint32_t* bytes) noexcept {
  uint32_t c = character;
  if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) c = 0xfffd;
  const uint32_t more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  if (*bytes + more >= capacity) return false;
  constexpr uint32_t kLead[] = {0, 0xc0, 0xe0, 0xf0};
  to[(*bytes)++] = static_cast<char>(kLead[more] | c >> (6 * more));
  for (uint32_t i = more; i-- > 0;) {
    to[(*bytes)++] = static_cast<char>(0x80 | (c >> (6 * i) & 0x3f));
  }
  return true;
}

uint32_t ToUtf8(const wchar_t* from, char* to, uint32_t capacity) noexcept {
  uint32_t bytes = 0;
  while (*from != 0 && AppendUtf8(static_cast<uint32_t>(*from), to, capacity, &bytes)) ++from;
  return bytes;
}

Text* Intern(const Message& message) noexcept {
  if (IsEmpty(message)) return nullptr;
  Text* text = nullptr;
  if (message.type == kRegistered) {
    text = TextOf(message.text);
  } else if (message.type == kUnicode) {
    char buffer[proto::kMostNameBytes];
    const uint32_t bytes =
        ToUtf8(static_cast<const wchar_t*>(message.text), buffer, sizeof(buffer));
    text = g_table.Intern(buffer, bytes);
  } else {
    char room[proto::kMostNameBytes];
    uint32_t bytes = 0;
    const char* kept = proto::KeptName(static_cast<const char*>(message.text), &bytes, room);
    text = g_table.Intern(kept, bytes);
  }
  if (text == nullptr) CountNameLost();
  return text;
}

const char* CharsOf(const Message& message, char* buffer, uint32_t capacity,
                    uint32_t* bytes) noexcept {
  if (IsEmpty(message)) return nullptr;
  if (message.type == kUnicode) {
    *bytes = ToUtf8(static_cast<const wchar_t*>(message.text), buffer, capacity);
    return buffer;
  }
  if (message.type == kRegistered) {
    const Text* text = RegisteredText(message.text);
    if (text == nullptr) return nullptr;
    *bytes = text->bytes;
    return text->chars;
  }
  const char* chars = static_cast<const char*>(message.text);
  *bytes = static_cast<uint32_t>(strnlen(chars, capacity));
  return chars;
}

Text* InternDefinition(const char* bytes, uint32_t size) noexcept {
  return g_table.is_half_full() ? g_table.Find(bytes, size) : g_table.Intern(bytes, size);
}

Text* RegisteredText(const void* handle) noexcept {
  Text* text = TextOf(handle);
  return text != nullptr && g_table.IsText(text) ? text : nullptr;
}

uint32_t IdOf(proto::RingHeader* ring, Text* text) noexcept {
  if (text == nullptr) return 0;
  const auto defined = g_table.Define(ring, text, ring->last_time, WakeDrain());
  return defined == proto::NameTable::Defined::kHasNoRoom ? proto::kNameTableFull : text->id;
}

bool Define(proto::RingHeader* ring, Text* text) noexcept {
  return g_table.Define(ring, text, ring->last_time, WakeDrain()) ==
         proto::NameTable::Defined::kYes;
}

uint32_t IdOf(proto::RingHeader* ring, proto::NameCache* cache, const Message& message) noexcept {
  if (IsEmpty(message)) return 0;
  if (message.type == kAscii) {
    const uint32_t id = g_table.Id(ring, cache, static_cast<const char*>(message.text),
                                   ring->last_time, WakeDrain());
    // A full ring counts what it refuses.
    if (__builtin_expect(id == proto::kNameTableFull, 0) && g_table.is_half_full()) CountNameLost();
    return id;
  }
  Text* text = Intern(message);
  return text == nullptr ? proto::kNameTableFull : IdOf(ring, text);
}

Text* TextOf(const void* handle) noexcept {
  if (handle == nullptr) return nullptr;
  const char* begin = g_memory.load(std::memory_order_acquire);
  if (begin == nullptr) return nullptr;
  const auto offset = static_cast<uint64_t>(static_cast<const char*>(handle) - begin);
  if (offset < proto::NameTable::kMemoryBytes) {
    return static_cast<Text*>(const_cast<void*>(handle));
  }
  if (g_bound.load(std::memory_order_relaxed) == 0) return nullptr;
  for (uint32_t probe = 0; probe < kMostProbes; ++probe) {
    const Binding* binding = BindingAt(handle, probe);
    const void* found = binding->handle.load(std::memory_order_acquire);
    if (found == handle) return binding->text.load(std::memory_order_acquire);
    if (found == nullptr) return nullptr;
  }
  return nullptr;
}

void BindHandle(const void* handle, Text* text) noexcept {
  if (handle == nullptr) return;
  g_bound.store(1, std::memory_order_relaxed);
  for (uint32_t probe = 0; probe < kMostProbes; ++probe) {
    Binding* binding = BindingAt(handle, probe);
    const void* found = nullptr;
    // A tool may give a handle again once it was destroyed: the later text counts.
    if (binding->handle.compare_exchange_strong(found, handle) || found == handle) {
      binding->text.store(text, std::memory_order_release);
      return;
    }
  }
  CountNameLost();
}

void MessagesBeginFile() noexcept { g_table.BeginFile(); }

}  // namespace gpuprof::inject::ranges
