// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// String ids for names that the program uses again and again. A bounded table serves the whole
// process, with a small cache per thread in front. PyTorch's ops (tracer/torch/) have one table;
// NVTX and ITT (inject/ranges/) have another. Each table has its own ids.
//
// Id runs inside every op or range, on any thread: no lock, no allocation. The usual cost is one
// comparison. A name's text goes into the ring of the thread that meets it first. Names are only
// ever added. A slot of the hash table is one word, set once, and its text is complete before that.
// A separate word says whether a name is defined in the present file: the file's number, and a mark
// while a thread defines the name.

#pragma once

#include <string.h>

#include <atomic>
#include <cstdint>

#include "proto/kept_name.h"
#include "proto/ring.h"

namespace gpuprof::proto {

inline constexpr uint32_t kNameTableFull = 1;  // the id of every name that found no place
inline constexpr uint32_t kMostNames = 65536;
// The ids count on from these.
inline constexpr uint32_t kFirstOpName = 2;
inline constexpr uint32_t kFirstRangeName = 0x20000000;

// A thread's cache, direct mapped by the name's address. An address can come to hold another name:
// the content is always compared.
struct NameCache {
  struct Entry {
    const char* address;
    uint64_t begin[2];  // the first 16 bytes there, whatever they are behind the end
    uint32_t id;
    uint32_t text;  // where the table keeps the name
  };
  static constexpr uint32_t kEntries = 256;
  Entry entries[kEntries];
};

class NameTable {
 public:
  struct Text {
    uint32_t id;
    uint32_t bytes;
    std::atomic<uint32_t> defined;  // 2 * file, or 2 * file + 1 while its definition is written
    char chars[];
  };

  static constexpr uint32_t kSlots = 2 * kMostNames;
  static constexpr uint32_t kTextBytes = 4u << 20;
  static constexpr uint64_t kMemoryBytes = kSlots * sizeof(uint64_t) + kTextBytes;

  explicit constexpr NameTable(uint32_t first_id) : first_id_(first_id), next_id_(first_id) {}

  // Takes `memory`: kMemoryBytes of zeros, never freed. False: another thread has set the memory
  // before.
  bool Use(void* memory) noexcept {
    char* none = nullptr;
    return __atomic_compare_exchange_n(&memory_, &none, static_cast<char*>(memory), false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  }
  bool ready() const noexcept { return __atomic_load_n(&memory_, __ATOMIC_ACQUIRE) != nullptr; }

  // Returns the id of `name`. Its definition is in this process's file by then, or on its way.
  // Returns kNameTableFull for a name that found no place, and counts it in lost(). Returns it
  // uncounted if the ring is full: then the caller's record is refused, too, and counted. `wake` is
  // what that record uses, so that both find room alike.
  template <typename Wake>
  uint32_t Id(RingHeader* ring, NameCache* cache, const char* name, uint64_t now,
              Wake wake) noexcept;

  // Finds or adds. Null: empty, or the table is full, which is counted. The text stays for good.
  Text* Intern(const char* name, uint32_t bytes) noexcept;
  // Finds a text. Null: the table does not hold it.
  Text* Find(const char* name, uint32_t bytes) noexcept;
  bool is_half_full() const noexcept {
    return texts_used_.load(std::memory_order_relaxed) > kTextBytes / 2 ||
           next_id_.load(std::memory_order_relaxed) - first_id_ > kMostNames / 2;
  }
  // Returns whether any address is the address of a text of the table.
  bool IsText(const void* address) noexcept;
  // Defines the text in the present file.
  enum class Defined : uint8_t {
    kYes,       // it is in this ring or in the file
    kByOther,   // another thread is writing it
    kHasNoRoom  // the ring is full
  };
  template <typename Wake>
  Defined Define(RingHeader* ring, Text* text, uint64_t now, Wake wake) noexcept;

  // Returns whether the present file has the text, or is about to get it.
  bool IsDefined(const Text& text) const noexcept {
    return text.defined.load(std::memory_order_relaxed) / 2 ==
           file_number_.load(std::memory_order_relaxed);
  }

  // Makes every name be defined again, because the process writes another file. Call in a forked
  // child, or while nothing is named.
  void BeginFile() noexcept { file_number_.fetch_add(1, std::memory_order_relaxed); }

  uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kMostProbes = 64;

  std::atomic<uint64_t>& SlotAt(uint32_t index) noexcept {
    return reinterpret_cast<std::atomic<uint64_t>*>(memory_)[index & (kSlots - 1)];
  }
  Text* TextAt(uint32_t offset) noexcept {
    return reinterpret_cast<Text*>(memory_ + kSlots * sizeof(uint64_t) + offset);
  }
  uint32_t OffsetOf(const Text* text) noexcept {
    return static_cast<uint32_t>(reinterpret_cast<const char*>(text) - memory_ -
                                 kSlots * sizeof(uint64_t));
  }
  static uint64_t WordAt(const char* address) noexcept {
    uint64_t word;
    __builtin_memcpy(&word, address, 8);
    return word;
  }
  // Returns whether 16 bytes at `address` lie in one page. Then they can be read if the first byte
  // can.
  static bool InOnePage(const char* address) noexcept {
    return (reinterpret_cast<uintptr_t>(address) & 4095) <= 4080;
  }
  static uint32_t HashOf(const char* name, uint32_t bytes) noexcept;
  static bool RestAgrees(const char* name, const Text& text) noexcept;
  uint32_t AddText(const char* name, uint32_t bytes) noexcept;
  template <typename Wake>
  uint32_t SlowId(RingHeader* ring, NameCache::Entry* entry, const char* name, uint64_t now,
                  Wake wake) noexcept;

  const uint32_t first_id_;
  // Hash in the upper half, offset of the text in the lower; 0: free. Behind the slots the texts.
  char* memory_ = nullptr;
  std::atomic<uint32_t> texts_used_{8};  // offset 0 is not a text
  std::atomic<uint32_t> next_id_;
  std::atomic<uint32_t> file_number_{1};
  std::atomic<uint64_t> lost_{0};
};

inline uint32_t NameTable::HashOf(const char* name, uint32_t bytes) noexcept {
  uint64_t hash = 0x9e3779b97f4a7c15u ^ bytes;
  for (; bytes >= 8; bytes -= 8, name += 8) {
    hash = (hash ^ WordAt(name)) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  for (; bytes != 0; --bytes, ++name) {
    hash = (hash ^ static_cast<unsigned char>(*name)) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return static_cast<uint32_t>(hash ^ (hash >> 29)) | 1;
}

// Adds a text. Returns its offset, or 0 if there is no room.
inline uint32_t NameTable::AddText(const char* name, uint32_t bytes) noexcept {
  const uint32_t size = (static_cast<uint32_t>(sizeof(Text)) + bytes + 1 + 7) & ~7u;
  // Looked at first, so that a full table does not count on for ever.
  if (texts_used_.load(std::memory_order_relaxed) > kTextBytes - size ||
      next_id_.load(std::memory_order_relaxed) >= first_id_ + kMostNames) {
    return 0;
  }
  const uint32_t offset = texts_used_.fetch_add(size, std::memory_order_relaxed);
  if (offset > kTextBytes - size) return 0;
  Text* text = TextAt(offset);
  text->id = next_id_.fetch_add(1, std::memory_order_relaxed);
  text->bytes = bytes;
  memcpy(text->chars, name, bytes);
  return offset;
}

[[gnu::noinline]] inline NameTable::Text* NameTable::Intern(const char* name,
                                                            uint32_t bytes) noexcept {
  const uint32_t hash = HashOf(name, bytes);
  uint32_t added = 0;
  const bool usable = ready() && bytes != 0;
  for (uint32_t probe = 0; usable && probe < kMostProbes; ++probe) {
    std::atomic<uint64_t>& slot = SlotAt(hash + probe);
    uint64_t word = slot.load(std::memory_order_acquire);
    if (word == 0) {
      if (added == 0) added = AddText(name, bytes);
      if (added == 0) break;
      const uint64_t ours = uint64_t{hash} << 32 | added;
      if (slot.compare_exchange_strong(word, ours, std::memory_order_acq_rel)) return TextAt(added);
      // Another thread was first, perhaps with the same name; then the text just made stays unused.
    }
    Text* text = TextAt(static_cast<uint32_t>(word));
    if (word >> 32 == hash && text->bytes == bytes && memcmp(text->chars, name, bytes) == 0) {
      return text;
    }
  }
  lost_.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

inline NameTable::Text* NameTable::Find(const char* name, uint32_t bytes) noexcept {
  const uint32_t hash = HashOf(name, bytes);
  for (uint32_t probe = 0; ready() && probe < kMostProbes; ++probe) {
    const uint64_t word = SlotAt(hash + probe).load(std::memory_order_acquire);
    if (word == 0) return nullptr;
    Text* text = TextAt(static_cast<uint32_t>(word));
    if (word >> 32 == hash && text->bytes == bytes && memcmp(text->chars, name, bytes) == 0)
      return text;
  }
  return nullptr;
}

inline bool NameTable::IsText(const void* address) noexcept {
  if (!ready()) return false;
  const uint64_t offset = static_cast<uint64_t>(static_cast<const char*>(address) - memory_) -
                          kSlots * sizeof(uint64_t);
  if (offset % 8 != 0 || offset >= kTextBytes - sizeof(Text)) return false;
  const auto* text = static_cast<const Text*>(address);
  return text->id - first_id_ < kMostNames && text->bytes != 0 && text->bytes <= kMostNameBytes &&
         text->bytes < kTextBytes - sizeof(Text) - offset;
}

template <typename Wake>
[[gnu::noinline]] NameTable::Defined NameTable::Define(RingHeader* ring, Text* text, uint64_t now,
                                                       Wake wake) noexcept {
  const uint32_t done = 2 * file_number_.load(std::memory_order_relaxed);
  uint32_t seen = text->defined.load(std::memory_order_acquire);
  if (__builtin_expect(seen == done, 1)) return Defined::kYes;
  if (seen == done + 1) return Defined::kByOther;
  if (!text->defined.compare_exchange_strong(seen, done + 1, std::memory_order_acq_rel)) {
    return seen == done ? Defined::kYes : Defined::kByOther;
  }
  const uint32_t slots = PayloadSlots(text->bytes);
  const uint64_t at = RingReserve(ring, now, 1 + slots, 0, wake);
  const bool written = at != kNoRoom;
  for (uint32_t i = 0; written && i <= slots; ++i) {
    Record record = {now,      0,          static_cast<uint8_t>(RecordKind::kString), 0, 0,
                     text->id, text->bytes};
    if (i != 0) {
      const uint32_t skipped = (i - 1) * kRecordBytes, left = text->bytes - skipped;
      record = {};  // no stray bytes behind the text
      memcpy(static_cast<void*>(&record), text->chars + skipped,
             left < kRecordBytes ? left : kRecordBytes);
    }
    RingStore(RingSlot(ring, at + i), record);
  }
  if (written) RingPublish(ring, at + 1 + slots);
  text->defined.store(written ? done : 0, std::memory_order_release);
  return written ? Defined::kYes : Defined::kHasNoRoom;
}

// Returns whether the string at `name` agrees with `text` to its end. Its first 16 characters are
// known to agree. It compares word by word, and the last word overlaps. It reads a word only after
// all words before it agreed: the first byte of the word still belongs to the string.
inline bool NameTable::RestAgrees(const char* name, const Text& text) noexcept {
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

template <typename Wake>
[[gnu::noinline]] uint32_t NameTable::SlowId(RingHeader* ring, NameCache::Entry* entry,
                                             const char* name, uint64_t now, Wake wake) noexcept {
  char room[kMostNameBytes];
  uint32_t bytes = 0;
  const char* kept = KeptName(name, &bytes, room);
  Text* text = Intern(kept, bytes);
  if (text == nullptr) return kNameTableFull;
  // Until the definition is known to be written, ask again each time. Cut names are never cached:
  // they do not compare.
  const Defined defined = Define(ring, text, now, wake);
  if (defined == Defined::kHasNoRoom) return kNameTableFull;
  if (defined == Defined::kYes && kept == name && InOnePage(name) && bytes < kMostNameBytes) {
    entry->address = name;
    memcpy(entry->begin, name, 16);
    entry->id = text->id;
    entry->text = OffsetOf(text);
  }
  return text->id;
}

template <typename Wake>
inline uint32_t NameTable::Id(RingHeader* ring, NameCache* cache, const char* name, uint64_t now,
                              Wake wake) noexcept {
  const uintptr_t address = reinterpret_cast<uintptr_t>(name);
  NameCache::Entry* entry =
      &cache->entries[((address >> 4) ^ (address >> 10)) % NameCache::kEntries];
  if (__builtin_expect(entry->address == name, 1)) {
    // In one page. Only names in one page are cached.
    if (WordAt(name) == entry->begin[0] && WordAt(name + 8) == entry->begin[1]) {
      const Text& text = *TextAt(entry->text);
      if (text.bytes < 16 || RestAgrees(name, text)) return entry->id;
    }
  }
  return SlowId(ring, entry, name, now, wake);
}

}  // namespace gpuprof::proto
