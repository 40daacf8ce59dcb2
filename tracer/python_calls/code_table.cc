// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/python_calls/code_table.h"

#include <string.h>

#include "tracer/base/map_table.h"
#include "tracer/python/frame_names.h"
#include "tracer/python/frame_text.h"
#include "tracer/python_agent/python_api.h"
#include "tracer/python_calls/call_patterns.h"

namespace gpuprof::tracer {
namespace {

constexpr uint32_t kSlots = 1u << 15;
constexpr uint32_t kProbes = 16;

struct Slot {
  const void* code;
  uint64_t words[3];  // of its name, file name and lines
  int32_t first_line;
  uint32_t unused;
  proto::NameTable::Text* text;
};

struct Table {
  Slot* slots = nullptr;
  const Python* python = nullptr;
  const char* globs = "";
  PythonLayout layout = {};
};
constinit Table table;

struct Identity {
  uint64_t words[3];
  int32_t first_line;
};

Identity IdentityOf(const void* code) {
  const auto* bytes = static_cast<const uint8_t*>(code);
  Identity identity = {
      {WordOfCode(bytes, table.layout.name), WordOfCode(bytes, table.layout.file_name),
       WordOfCode(bytes, table.layout.lines)},
      0};
  memcpy(&identity.first_line, bytes + table.layout.first_line, sizeof(identity.first_line));
  return identity;
}

bool IsSame(const Slot& slot, const Identity& identity) {
  return slot.words[0] == identity.words[0] && slot.words[1] == identity.words[1] &&
         slot.words[2] == identity.words[2] && slot.first_line == identity.first_line;
}

uint32_t HashOf(const void* code) {
  return static_cast<uint32_t>((reinterpret_cast<uint64_t>(code) >> 4) * 0x9e3779b97f4a7c15u >> 40);
}

// Returns the name of the running frame's module; "": it has none.
const char* ModuleName() {
  PyObject* const globals = table.python->globals();
  PyObject* const name = globals != nullptr ? table.python->item(globals, "__name__") : nullptr;
  const char* const text = name != nullptr ? table.python->text(name) : nullptr;
  if (text == nullptr) table.python->clear_error();
  return text != nullptr ? text : "";
}

// Returns the text of a frame if the function is one of those that are recorded.
proto::NameTable::Text* Decide(const Identity& identity) {
  DirectReads reads;
  char name[kMostTextBytes], file[kMostTextBytes];
  uint32_t name_bytes = 0, file_bytes = 0;
  if (!ReadText(&reads, table.layout, identity.words[0], name, &name_bytes) ||
      !ReadText(&reads, table.layout, identity.words[1], file, &file_bytes))
    return nullptr;
  char whole[2 * kMostTextBytes];
  uint32_t bytes = 0;
  for (const char* module = ModuleName(); *module != 0 && bytes < kMostTextBytes; ++module)
    whole[bytes++] = *module;
  if (bytes != 0) whole[bytes++] = '.';
  memcpy(whole + bytes, name, name_bytes);
  bytes += name_bytes;
  if (!IsTraced(table.globs, whole, bytes, file, file_bytes)) return nullptr;
  char text[proto::kMostNameBytes];
  const uint32_t text_bytes =
      WriteFrame(file, file_bytes, identity.first_line, name, name_bytes, text, sizeof(text));
  return FrameNames().Intern(text, text_bytes);
}

// Returns the slot of a code object, or the one that it may take.
Slot* SlotOf(const void* code, const Identity& identity, bool* is_known) {
  const uint32_t hash = HashOf(code);
  Slot* place = nullptr;
  *is_known = false;
  for (uint32_t probe = 0; probe < kProbes; ++probe) {
    Slot& slot = table.slots[(hash + probe) % kSlots];
    if (slot.code == code) {
      *is_known = IsSame(slot, identity);
      return &slot;
    }
    if (slot.code == nullptr) {
      place = &slot;
      break;
    }
  }
  return place != nullptr ? place : &table.slots[hash % kSlots];
}

}  // namespace

bool CodeTableInit(const Python& python, const PythonLayout& layout, const char* globs) {
  if (table.slots == nullptr) table.slots = static_cast<Slot*>(MapTable(kSlots * sizeof(Slot)));
  if (table.slots == nullptr || !FrameNamesInit()) return false;
  table.python = &python;
  table.layout = layout;
  table.globs = globs;
  return true;
}

proto::NameTable::Text* TextOfCode(const void* code) {
  const Identity identity = IdentityOf(code);
  bool is_known = false;
  Slot* const slot = SlotOf(code, identity, &is_known);
  if (__builtin_expect(is_known, 1)) return slot->text;
  *slot = {code,
           {identity.words[0], identity.words[1], identity.words[2]},
           identity.first_line,
           0,
           Decide(identity)};
  return slot->text;
}

}  // namespace gpuprof::tracer
