// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Names are only ever added. A slot of the hash table is one word, set once; the text it leads to
// is complete before that. Whether a name is defined in the present file is a word of its own: the
// file's number, and a mark while a thread is at it.

#include "tracer/torch/op_names.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>

namespace gpuprof::tracer {
namespace {

constexpr uint32_t kSlots = 2 * kMostNames;
constexpr uint32_t kTextBytes = 4u << 20;
constexpr uint32_t kMostProbes = 64;

struct Text {
  uint32_t id;
  uint32_t bytes;
  std::atomic<uint32_t> defined;  // 2 * file, or 2 * file + 1 while its definition is being written
  char chars[];
};

// Hash in the upper half, offset of the text in the lower; 0: free.
std::atomic<uint64_t>* slots = nullptr;
char* texts = nullptr;
constinit std::atomic<uint32_t> texts_used = 8;  // offset 0 is no text
constinit std::atomic<uint32_t> next_id = kFirstName;
constinit std::atomic<uint32_t> file_number = 1;
constinit std::atomic<uint64_t> names_lost = 0;

Text* TextAt(uint32_t offset) { return reinterpret_cast<Text*>(texts + offset); }

uint32_t HashOf(const char* name, uint32_t bytes) {
  uint64_t hash = 0x9e3779b97f4a7c15u ^ bytes;
  for (; bytes >= 8; bytes -= 8, name += 8) {
    uint64_t word;
    std::memcpy(&word, name, 8);
    hash = (hash ^ word) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  for (; bytes != 0; --bytes, ++name) {
    hash = (hash ^ static_cast<unsigned char>(*name)) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return static_cast<uint32_t>(hash ^ (hash >> 29)) | 1;
}

// The text's offset, or 0 when there is no room.
uint32_t AddText(const char* name, uint32_t bytes) {
  const uint32_t size = (static_cast<uint32_t>(sizeof(Text)) + bytes + 1 + 7) & ~7u;
  // Looked at first, so that a full table does not count on for ever.
  if (texts_used.load(std::memory_order_relaxed) > kTextBytes - size ||
      next_id.load(std::memory_order_relaxed) >= kFirstName + kMostNames) {
    return 0;
  }
  const uint32_t offset = texts_used.fetch_add(size, std::memory_order_relaxed);
  if (offset > kTextBytes - size) return 0;
  Text* text = TextAt(offset);
  text->id = next_id.fetch_add(1, std::memory_order_relaxed);
  text->bytes = bytes;
  std::memcpy(text->chars, name, bytes);
  return offset;
}

// Finds or adds. 0: full.
uint32_t FindText(const char* name, uint32_t bytes) {
  const uint32_t hash = HashOf(name, bytes);
  uint32_t added = 0;
  for (uint32_t probe = 0; probe < kMostProbes; ++probe) {
    std::atomic<uint64_t>& slot = slots[(hash + probe) & (kSlots - 1)];
    uint64_t word = slot.load(std::memory_order_acquire);
    if (word == 0) {
      if (added == 0) added = AddText(name, bytes);
      if (added == 0) return 0;
      const uint64_t ours = uint64_t{hash} << 32 | added;
      if (slot.compare_exchange_strong(word, ours, std::memory_order_acq_rel)) return added;
      // Another thread was first, perhaps with the same name; then the text just made stays unused.
    }
    const uint32_t offset = static_cast<uint32_t>(word);
    if (word >> 32 == hash && TextAt(offset)->bytes == bytes &&
        std::memcmp(TextAt(offset)->chars, name, bytes) == 0) {
      return offset;
    }
  }
  return 0;
}

// True when the present file has the name's definition. It may still be on its way in another
// thread's ring.
bool Define(proto::RingHeader* ring, Text* text, uint64_t now) {
  const uint32_t done = 2 * file_number.load(std::memory_order_relaxed);
  uint32_t seen = text->defined.load(std::memory_order_acquire);
  if (seen == done) return true;
  if (seen == done + 1) return false;
  if (!text->defined.compare_exchange_strong(seen, done + 1, std::memory_order_acq_rel)) {
    return seen == done;
  }
  constexpr uint32_t kMostSlots = 1 + proto::PayloadSlots(kMostNameBytes);
  proto::Record group[kMostSlots];
  const uint32_t payload = proto::PayloadSlots(text->bytes);
  group[0] = {now,      0,          static_cast<uint8_t>(proto::RecordKind::kString), 0, 0,
              text->id, text->bytes};
  group[payload] = payload != 0 ? proto::Record{} : group[0];  // no stray bytes behind the text
  std::memcpy(static_cast<void*>(group + 1), text->chars, text->bytes);
  const bool written = proto::RingWriteGroup(ring, group, 1 + payload, 0);
  text->defined.store(written ? done : 0, std::memory_order_release);
  return written;
}

// Whether 16 bytes at `address` lie in one page: they can be read then if the first can.
bool InOnePage(const char* address) {
  return (reinterpret_cast<uintptr_t>(address) & 4095) <= 4080;
}

uint64_t WordAt(const char* address) {
  uint64_t word;
  std::memcpy(&word, address, 8);
  return word;
}

// Whether the string at `name`, whose first 16 characters are known to agree, agrees to its end.
// Word by word, the last one overlapping: no word is read before all in front of it agreed, so that
// its first byte is still of the string.
bool RestAgrees(const char* name, const Text& text) {
  const uint32_t size = text.bytes + 1;
  for (uint32_t at = 16; at < size; at += 8) {
    const uint32_t from = at + 8 <= size ? at : size - 8;
    if ((reinterpret_cast<uintptr_t>(name + from) & 4095) > 4088) {
      return strncmp(name + from, text.chars + from, size - from) == 0;
    }
    if (WordAt(name + from) != WordAt(text.chars + from)) return false;
  }
  return true;
}

[[gnu::noinline]] uint32_t SlowNameId(proto::RingHeader* ring, NameCache::Entry* entry,
                                      const char* name, uint64_t now) noexcept {
  uint32_t bytes = static_cast<uint32_t>(strnlen(name, kMostNameBytes));
  const uint32_t offset = slots != nullptr && bytes != 0 ? FindText(name, bytes) : 0;
  if (offset == 0) {
    names_lost.store(names_lost.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return kNameTableFull;
  }
  Text* text = TextAt(offset);
  // Until the definition is known to be written, ask again each time. Cut names are never cached:
  // they do not compare.
  if (Define(ring, text, now) && InOnePage(name) && bytes < kMostNameBytes) {
    entry->address = name;
    std::memcpy(entry->begin, name, 16);
    entry->id = text->id;
    entry->text = offset;
  }
  return text->id;
}

}  // namespace

bool NamesInit() {
  if (slots != nullptr) return true;
  constexpr size_t kBytes = kSlots * sizeof(uint64_t) + kTextBytes;
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  texts = static_cast<char*>(memory) + kSlots * sizeof(uint64_t);
  slots = static_cast<std::atomic<uint64_t>*>(memory);
  return true;
}

uint32_t NameId(proto::RingHeader* ring, NameCache* cache, const char* name,
                uint64_t now) noexcept {
  const uintptr_t address = reinterpret_cast<uintptr_t>(name);
  NameCache::Entry* entry =
      &cache->entries[((address >> 4) ^ (address >> 10)) % NameCache::kEntries];
  if (__builtin_expect(entry->address == name, 1)) {
    uint64_t begin[2];
    std::memcpy(begin, name, 16);  // in one page: only such names are cached
    if (begin[0] == entry->begin[0] && begin[1] == entry->begin[1]) {
      const Text& text = *TextAt(entry->text);
      if (text.bytes < 16 || RestAgrees(name, text)) return entry->id;
    }
  }
  return SlowNameId(ring, entry, name, now);
}

void NamesBeginFile() noexcept { file_number.fetch_add(1, std::memory_order_relaxed); }

uint64_t NamesLost() { return names_lost.load(std::memory_order_relaxed); }

}  // namespace gpuprof::tracer
