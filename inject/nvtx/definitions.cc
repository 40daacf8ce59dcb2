// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/nvtx/definitions.h"

#include <string.h>

#include <atomic>

#include "inject/ranges/definitions.h"

namespace gpuprof::inject::nvtx {
namespace {

using proto::nvtx::DefinitionHeader;
using proto::nvtx::Extent;
using ranges::Text;

std::atomic<uint64_t> g_next_id{kFirstDynamicId};

uint64_t IdFor(uint64_t chained, bool is_given, uint64_t given) {
  if (chained != 0) return chained;
  const bool is_static = is_given && given >= kFirstSchemaId && given < kFirstDynamicId;
  return is_static ? given : g_next_id.fetch_add(1, std::memory_order_relaxed);
}

// Puts a definition together.
struct Builder {
  DefinitionHeader header = {};
  uint32_t used = sizeof(DefinitionHeader);
  char bytes[proto::nvtx::kMostDefinitionBytes];

  // Adds an entry. After the first entry without room, entries are only counted.
  [[gnu::noinline, gnu::cold]] void Add(const uint64_t* numbers, uint32_t count, const char* name) {
    constexpr uint32_t kMostNumberBytes = 10;
    const auto name_bytes = static_cast<uint32_t>(
        name != nullptr ? strnlen(name, proto::nvtx::kMostEntryNameBytes) : 0);
    const bool fits =
        header.kept == header.count && used + count * kMostNumberBytes + name_bytes < sizeof(bytes);
    ++header.count;
    if (!fits) return;
    ++header.kept;
    for (uint32_t i = 0; i < count; ++i) {
      uint64_t left = numbers[i];
      for (; left >= 0x80; left >>= 7) bytes[used++] = static_cast<char>(left | 0x80);
      bytes[used++] = static_cast<char>(left);
    }
    if (name_bytes != 0) memcpy(bytes + used, name, name_bytes);
    used += name_bytes;
    bytes[used++] = 0;
  }

  [[gnu::noinline, gnu::cold]] uint64_t Keep(const Text* domain, uint64_t id) {
    header.domain = domain != nullptr ? domain->id : 0;
    header.id = id;
    memcpy(bytes, &header, sizeof(header));
    ranges::KeepDefinition(bytes, used);
    return id;
  }
};

}  // namespace

[[gnu::cold]] uint64_t DefineSchema(const Text* domain, const SchemaAttributes* attributes,
                                    uint64_t id) noexcept {
  constexpr uint64_t kNeeded = kSchemaEntries | kSchemaEntryCount;
  if (attributes == nullptr || (attributes->fields & kNeeded) != kNeeded ||
      attributes->entries == nullptr)
    return id;
  id = IdFor(id, (attributes->fields & kSchemaId) != 0, attributes->id);
  const bool has_type = (attributes->fields & kSchemaType) != 0 && attributes->type != 0 &&
                        attributes->type <= kUnionWithSelector;
  if (!has_type) return id;
  Builder schema;
  schema.header.type = static_cast<uint8_t>(attributes->type);
  if ((attributes->fields & kSchemaAlignment) != 0 && attributes->pack_align <= UINT8_MAX)
    schema.header.pack = static_cast<uint8_t>(attributes->pack_align);
  proto::nvtx::Layout layout(attributes->type, schema.header.pack);
  for (size_t i = 0; i < attributes->entry_count; ++i) {
    const SchemaEntry& entry = attributes->entries[i];
    Extent inner;
    const Text* defined =
        entry.type >= kFirstSchemaId ? ranges::FindDefinition(domain, entry.type) : nullptr;
    if (defined != nullptr) {
      const DefinitionHeader header = ranges::HeaderOf(*defined);
      inner = {header.bytes, header.align};
      schema.header.has_handles |= header.has_handles;
    }
    if (entry.type == kRegisteredString) schema.header.has_handles = 1;
    uint64_t place = 0;
    layout.Place(entry.offset, proto::nvtx::ExtentOf(entry.flags, entry.type, entry.detail, inner),
                 &place);
    const uint64_t numbers[] = {entry.flags, entry.type, entry.detail, entry.offset};
    schema.Add(numbers, 4, entry.name);
  }
  const Extent extent = layout.extent();
  const bool is_given =
      (attributes->fields & kSchemaStaticSize) != 0 && attributes->static_size != 0;
  const uint64_t bytes = is_given ? attributes->static_size : extent.bytes;
  schema.header.align = static_cast<uint32_t>(extent.align);
  if (attributes->type != kDynamicSchema)
    schema.header.bytes = static_cast<uint32_t>(
        bytes < proto::nvtx::kMostLaidOut ? bytes : proto::nvtx::kMostLaidOut);
  return schema.Keep(domain, id);
}

[[gnu::cold]] uint64_t DefineEnum(const Text* domain, const EnumAttributes* attributes,
                                  uint64_t id) noexcept {
  constexpr uint64_t kNeeded = kEnumEntries | kEnumEntryCount;
  if (attributes == nullptr || (attributes->fields & kNeeded) != kNeeded ||
      attributes->entries == nullptr)
    return id;
  id = IdFor(id, (attributes->fields & kEnumId) != 0, attributes->id);
  const uint64_t size = (attributes->fields & kEnumSize) != 0 ? attributes->size : sizeof(int);
  const bool is_integer = size == 1 || size == 2 || size == 4 || size == 8;
  Builder made;
  made.header.bytes = is_integer ? static_cast<uint32_t>(size) : 0;
  made.header.align = is_integer ? static_cast<uint32_t>(size) : 1;
  for (size_t i = 0; i < attributes->entry_count; ++i) {
    const EnumEntry& entry = attributes->entries[i];
    const uint64_t numbers[] = {entry.value, entry.is_flag != 0};
    made.Add(numbers, 2, entry.name);
  }
  return made.Keep(domain, id);
}

}  // namespace gpuprof::inject::nvtx
