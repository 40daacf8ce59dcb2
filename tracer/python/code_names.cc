// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/python/code_names.h"

#include <algorithm>
#include <cstring>

#include "tracer/python/frame_text.h"
#include "tracer/python/line_table.h"

namespace gpuprof::tracer {
namespace {

// Programs that make code without end have as many code objects: then they are read anew.
constexpr uint32_t kSlots = 1u << 13;
constexpr uint64_t kMostBytes = 4u << 20;
constexpr uint32_t kMostLines = 64;  // of one code object, at hand
constexpr uint32_t kMostLineBytes = 1u << 20;

}  // namespace

CodeNames::CodeNames(const Host* host, const PythonLayout& layout, OwnReads* reads)
    : host_(host), layout_(layout), reads_(reads), slots_(kSlots) {
  FrameNamesInit();
}

bool CodeNames::ReadName(uint64_t address, std::vector<char>* text) {
  char letters[kMostTextBytes];
  uint32_t bytes = 0;
  if (!ReadText(reads_, layout_, address, letters, &bytes)) return false;
  text->assign(letters, letters + bytes);
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
  return ReadName(known->words[0], &known->name) && ReadName(known->words[1], &known->file) &&
         ReadBytes(known->words[2], &known->lines);
}

// Returns what is known of a code object. Null: it cannot be read.
CodeNames::Code* CodeNames::Find(uint64_t address, const uint8_t* code) {
  const uint64_t words[3] = {WordOfCode(code, layout_.name), WordOfCode(code, layout_.file_name),
                             WordOfCode(code, layout_.lines)};
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
  const uint32_t bytes =
      WriteFrame(code.file.data(), static_cast<uint32_t>(code.file.size()), line, code.name.data(),
                 static_cast<uint32_t>(code.name.size()), text, sizeof(text));
  return FrameNames().Intern(text, bytes);
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
  const auto defined = FrameNames().Define(ring, text, now, WakeForNames{host_});
  return defined == proto::NameTable::Defined::kYes ? text->id : proto::kNameTableFull;
}

}  // namespace gpuprof::tracer
