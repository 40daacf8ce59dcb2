// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See message_seeds.h.

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "proto/nvtx_payload.h"
#include "tests/fuzz/message_seeds.h"
#include "tests/fuzz/temp_files.h"

namespace gpuprof::fuzz {
namespace {

namespace nvtx = proto::nvtx;

// Adds a part of nvtx_fuzz.cc.
void AddPart(uint8_t kind, uint8_t about, const std::string& bytes, std::string* to) {
  to->push_back(static_cast<char>(kind));
  to->push_back(static_cast<char>(about));
  to->push_back(static_cast<char>(bytes.size() & 0xff));
  to->push_back(static_cast<char>(bytes.size() >> 8));
  *to += bytes;
}

// Returns a definition whose entries have these numbers and names of one letter.
std::string DefinitionOf(nvtx::SchemaType type, uint64_t id, uint32_t bytes,
                         const std::vector<std::vector<uint64_t>>& entries) {
  nvtx::DefinitionHeader header = {};
  header.type = static_cast<uint8_t>(type);
  header.id = nvtx::kFirstSchemaId + id;
  header.bytes = bytes;
  header.align = 1;
  header.count = header.kept = static_cast<uint32_t>(entries.size());
  std::string text(sizeof header, '\0');
  std::memcpy(text.data(), &header, sizeof header);
  char name = 'a';
  for (const std::vector<uint64_t>& numbers : entries) {
    for (uint64_t left : numbers) {
      for (; left >= 0x80; left >>= 7) text.push_back(static_cast<char>(left | 0x80));
      text.push_back(static_cast<char>(left));
    }
    text.push_back(name++);
    text.push_back('\0');
  }
  return text;
}

}  // namespace

// Makes an input with each kind of entry, and a payload of each definition.
void MakePayloads(const std::filesystem::path& folder) {
  constexpr uint64_t kFirst = nvtx::kFirstSchemaId;
  const auto array = [](uint64_t kind) { return kind << 4; };
  const std::string definitions[] = {
      DefinitionOf(nvtx::kEnumeration, 0, 4, {{1, 0}, {2, 1}, {4, 1}}),
      DefinitionOf(nvtx::kStaticSchema, 1, 8, {{0, nvtx::kInt32, 0, 0}, {0, kFirst, 0, 4}}),
      DefinitionOf(nvtx::kUnion, 2, 8, {{0, kFirst + 1, 0, 0}, {0, nvtx::kDouble, 0, 0}}),
      DefinitionOf(nvtx::kDynamicSchema, 3, 0,
                   {{0, nvtx::kUint8, 0, 0},
                    {0, kFirst + 2, 0, 0},
                    {array(nvtx::kFixedSize), kFirst + 1, 2, 0},
                    {array(nvtx::kLengthInEntry), nvtx::kUint16, 0, 0},
                    {array(nvtx::kZeroTerminated), nvtx::kCStringUtf16, 0, 0},
                    {nvtx::kEntryMessage, nvtx::kCString, 4, 0},
                    {0, nvtx::kRegisteredString, 0, 0},
                    {nvtx::kEntryPointer, nvtx::kInt, 0, 0}})};
  std::string input;
  for (const std::string& definition : definitions) AddPart(0, 0, definition, &input);
  for (uint8_t i = 0; i < 4; ++i) {
    std::string bytes;
    for (int byte = 0; byte < 96; ++byte) bytes.push_back(static_cast<char>(byte % 5));
    AddPart(i == 3 ? 0x11 : 1, static_cast<uint8_t>(128 + i), bytes, &input);
  }
  for (const uint64_t type : {nvtx::kFloat16, nvtx::kBrainFloat16, nvtx::kCStringUtf32})
    AddPart(2, static_cast<uint8_t>(type), "abcd", &input);
  AddPart(3, 0, std::string(32, '\1'), &input);
  WriteFile(folder / "every_entry", input.data(), input.size());
}

}  // namespace gpuprof::fuzz
