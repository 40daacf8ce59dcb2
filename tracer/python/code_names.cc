// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/python/code_names.h"

#include <algorithm>
#include <cstring>

#include "proto/named_frame.h"
#include "tracer/base/map_table.h"
#include "tracer/python/line_table.h"

namespace gpuprof::tracer {
namespace {

constinit proto::NameTable names{proto::kFirstFrameName};

// Programs that make code without end have as many code objects: then they are read anew.
constexpr uint32_t kSlots = 1u << 13;
constexpr uint64_t kMostBytes = 4u << 20;
constexpr uint32_t kMostLines = 64;     // of one code object, at hand
constexpr uint32_t kMostLetters = 240;  // of a name or path: the end of a path says most
constexpr uint32_t kMostLineBytes = 1u << 20;

uint64_t WordOf(const uint8_t* code, uint32_t place) {
  uint64_t word;
  std::memcpy(&word, code + place, sizeof(word));
  return word;
}

void AppendUtf8(uint32_t letter, std::vector<char>* text) {
  const auto add = [text](uint32_t byte) { text->push_back(static_cast<char>(byte)); };
  if (letter < 0x80) return add(letter < 0x20 ? '?' : letter);
  if (letter >= 0xd800 && letter < 0xe000) return add('?');
  if (letter < 0x800) {
    add(0xc0 | letter >> 6);
  } else if (letter < 0x10000) {
    add(0xe0 | letter >> 12);
    add(0x80 | (letter >> 6 & 0x3f));
  } else {
    if (letter > 0x10ffff) return add('?');
    add(0xf0 | letter >> 18);
    add(0x80 | (letter >> 12 & 0x3f));
    add(0x80 | (letter >> 6 & 0x3f));
  }
  add(0x80 | (letter & 0x3f));
}

struct WakeForNames {
  const Host* host;
  void operator()() const noexcept { host->wake_drain(); }
  bool Grow(proto::RingHeader* ring) const noexcept { return host->grow_ring(ring); }
  bool AwaitRoom(const proto::RingHeader*, uint64_t) const noexcept { return false; }
};

}  // namespace

CodeNames::CodeNames(const Host* host, const PythonLayout& layout, OwnReads* reads)
    : host_(host), layout_(layout), reads_(reads), slots_(kSlots) {
  if (names.ready()) return;
  void* memory = MapTable(proto::NameTable::kMemoryBytes);
  if (memory != nullptr) names.Use(memory);
}

void CodeNames::BeginFile() { names.BeginFile(); }
uint64_t CodeNames::lost() { return names.lost(); }

// Reads a str: ASCII, or of 1, 2 or 4 bytes a letter. Of a long text the end is kept.
bool CodeNames::ReadText(uint64_t address, std::vector<char>* text) {
  uint8_t head[kTextState + 8];
  if (!reads_->Read(address, head, sizeof(head))) return false;
  const uint64_t length = WordOf(head, kTextLength);
  const auto state = static_cast<uint32_t>(WordOf(head, kTextState));
  const uint32_t width = state >> 2 & 7;
  const bool is_compact = (state >> 5 & 1) != 0, is_ascii = (state >> 6 & 1) != 0;
  if (!is_compact || (width != 1 && width != 2 && width != 4) || length > 1u << 20) return false;
  const auto letters = static_cast<uint32_t>(std::min<uint64_t>(length, kMostLetters));
  uint8_t data[4 * kMostLetters];
  const uint64_t first = is_ascii ? layout_.ascii_bytes : layout_.compact_bytes;
  if (!reads_->Read(address + first + (length - letters) * width, data, letters * width))
    return false;
  text->clear();
  if (letters < length) text->insert(text->end(), {'.', '.', '.'});
  for (uint32_t i = 0; i < letters; ++i) {
    uint32_t letter = 0;
    std::memcpy(&letter, data + i * width, width);
    AppendUtf8(letter, text);
  }
  return true;
}

bool CodeNames::ReadBytes(uint64_t address, std::vector<uint8_t>* bytes) {
  uint64_t size = 0;
  if (!reads_->Read(address + kBytesSize, &size) || size > kMostLineBytes) return false;
  bytes->resize(size);
  return size == 0 ||
         reads_->Read(address + kBytesData, bytes->data(), static_cast<uint32_t>(size));
}

bool CodeNames::ReadCode(Code* known) {
  known->known.clear();
  known->next = 0;
  return ReadText(known->words[0], &known->name) && ReadText(known->words[1], &known->file) &&
         ReadBytes(known->words[2], &known->lines);
}

// Returns what is known of a code object. Null: it cannot be read.
CodeNames::Code* CodeNames::Find(uint64_t address, const uint8_t* code) {
  const uint64_t words[3] = {WordOf(code, layout_.name), WordOf(code, layout_.file_name),
                             WordOf(code, layout_.lines)};
  int32_t first_line = 0;
  std::memcpy(&first_line, code + layout_.first_line, sizeof(first_line));
  const auto hash = static_cast<uint32_t>((address >> 4) * 0x9e3779b97f4a7c15u >> 40);
  constexpr uint32_t kProbes = 8;
  std::unique_ptr<Code>* place = nullptr;
  for (uint32_t probe = 0; probe < kProbes; ++probe) {
    std::unique_ptr<Code>& slot = slots_[(hash + probe) % kSlots];
    if (slot != nullptr && slot->address == address) {
      if (std::memcmp(slot->words, words, sizeof(words)) == 0 && slot->first_line == first_line)
        return slot.get();
      place = &slot;
      break;
    }
    if (slot == nullptr) {
      place = &slot;
      break;
    }
  }
  if (bytes_ > kMostBytes) {
    for (auto& slot : slots_) slot.reset();
    bytes_ = 0;
    place = nullptr;
  }
  if (place == nullptr) place = &slots_[hash % kSlots];
  if (*place == nullptr) place->reset(new Code);
  Code* const known = place->get();
  known->address = address;
  std::memcpy(known->words, words, sizeof(words));
  known->first_line = first_line;
  if (ReadCode(known)) {
    bytes_ += known->lines.size() + known->name.size() + known->file.size() + sizeof(Code);
    return known;
  }
  known->address = 0;
  return nullptr;
}

// Null: the table is full.
proto::NameTable::Text* CodeNames::Intern(const Code& code, int32_t line) {
  char text[proto::kMostNameBytes];
  uint32_t bytes = 0;
  const auto add = [&](const char* part, size_t size) {
    size = std::min(size, sizeof(text) - bytes);
    std::memcpy(text + bytes, part, size);
    bytes += static_cast<uint32_t>(size);
  };
  char digits[12];
  uint32_t first = sizeof(digits);
  for (auto rest = static_cast<uint32_t>(std::max(line, 0)); first == sizeof(digits) || rest != 0;
       rest /= 10)
    digits[--first] = static_cast<char>('0' + rest % 10);
  add(code.file.data(), code.file.size());
  add("(", 1);
  add(digits + first, sizeof(digits) - first);
  add("): ", 3);
  add(code.name.data(), code.name.size());
  return names.Intern(text, bytes);
}

uint32_t CodeNames::NameOf(uint64_t address, const uint8_t* code, uint64_t instruction,
                           proto::RingHeader* ring, uint64_t now) {
  Code* const known = Find(address, code);
  if (known == nullptr) return 0;
  const auto offset = static_cast<uint32_t>(instruction);
  proto::NameTable::Text* text = nullptr;
  for (const Line& line : known->known) {
    if (line.offset == offset) text = line.text;
  }
  if (text == nullptr) {
    const int32_t line =
        LineAt(layout_.line_format, known->lines.data(), static_cast<uint32_t>(known->lines.size()),
               known->first_line, offset);
    text = Intern(*known, line > 0 ? line : known->first_line);
    if (text == nullptr) return proto::kNameTableFull;
    if (known->known.size() < kMostLines) {
      known->known.push_back({offset, text});
    } else {
      known->known[known->next++ % kMostLines] = {offset, text};
    }
  }
  const auto defined = names.Define(ring, text, now, WakeForNames{host_});
  return defined == proto::NameTable::Defined::kYes ? text->id : proto::kNameTableFull;
}

}  // namespace gpuprof::tracer
