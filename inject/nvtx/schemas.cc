// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/nvtx/schemas.h"

#include <string.h>
#include <sys/mman.h>

#include <atomic>

#include "inject/nvtx/entry_forms.h"
#include "inject/raw_syscall.h"

namespace gpuprof::inject::nvtx {
namespace {

using ranges::Text;

constexpr uint32_t kSlots = 4096;
constexpr uint32_t kMostProbes = 64;
constexpr uint32_t kDefinitionBytes = 2u << 20;

struct Table {
  std::atomic<const Definition*> slots[kSlots];
  alignas(16) char definitions[kDefinitionBytes];
};
std::atomic<Table*> g_table{nullptr};
std::atomic<uint32_t> g_used{0};
std::atomic<uint64_t> g_next_id{kFirstDynamicId};

// Null: no room.
void* Reserve(uint64_t bytes) {
  Table* table = g_table.load(std::memory_order_acquire);
  bytes = (bytes + 15) & ~uint64_t{15};
  // Looked at first, so that a full table does not count on for ever.
  if (table == nullptr || bytes > kDefinitionBytes ||
      g_used.load(std::memory_order_relaxed) > kDefinitionBytes - bytes)
    return nullptr;
  const uint32_t at = g_used.fetch_add(static_cast<uint32_t>(bytes), std::memory_order_relaxed);
  return at <= kDefinitionBytes - bytes ? table->definitions + at : nullptr;
}

std::atomic<const Definition*>& SlotOf(Table* table, const Text* domain, uint64_t id,
                                       uint32_t probe) {
  const uint64_t mixed = (id ^ reinterpret_cast<uint64_t>(domain) * 31) * 0x9e3779b97f4a7c15u;
  return table->slots[((mixed >> 40) + probe) & (kSlots - 1)];
}

void Publish(const Definition* definition) {
  Table* table = g_table.load(std::memory_order_acquire);
  for (uint32_t probe = 0; probe < kMostProbes; ++probe) {
    std::atomic<const Definition*>& slot = SlotOf(table, definition->domain, definition->id, probe);
    const Definition* found = slot.load(std::memory_order_acquire);
    while (found == nullptr ||
           (found->domain == definition->domain && found->id == definition->id)) {
      if (slot.compare_exchange_strong(found, definition, std::memory_order_acq_rel)) return;
    }
  }
}

uint64_t IdFor(uint64_t chained, bool is_given, uint64_t given) {
  if (chained != 0) return chained;
  const bool is_static = is_given && given >= kFirstSchemaId && given < kFirstDynamicId;
  return is_static ? given : g_next_id.fetch_add(1, std::memory_order_relaxed);
}

// Where each entry of a schema lies, as a compiler would place it where the program does not say.
class Layout {
 public:
  explicit Layout(const SchemaAttributes& attributes) {
    if ((attributes.fields & kSchemaAlignment) != 0) pack_ = attributes.pack_align;
  }

  // False: that is not known.
  bool Place(const SchemaEntry& entry, uint32_t bytes, uint32_t align, uint64_t* offset) {
    if (pack_ != 0 && align > pack_) align = static_cast<uint32_t>(pack_);
    if (align > align_) align_ = align;
    const bool is_told = entry.offset != 0 || is_first_;
    is_first_ = false;
    const bool is_placed = is_told || is_known_;
    *offset = is_told ? entry.offset : (end_ + align - 1) / align * align;
    is_known_ = is_placed && bytes != 0 && *offset <= kMostPayloadBytes;
    if (is_known_) end_ = *offset + bytes;
    if (is_known_ && end_ > most_) most_ = end_;
    if (!is_known_) has_gap_ = true;
    return is_placed && *offset <= kMostPayloadBytes;
  }

  uint32_t align() const { return align_; }
  // 0: not known.
  uint32_t bytes() const {
    const uint64_t whole = (most_ + align_ - 1) / align_ * align_;
    return has_gap_ || whole > kMostPayloadBytes ? 0 : static_cast<uint32_t>(whole);
  }

 private:
  uint64_t pack_ = 0;
  uint64_t end_ = 0;
  uint64_t most_ = 0;
  uint32_t align_ = 1;
  bool is_first_ = true;
  bool is_known_ = true;
  bool has_gap_ = false;
};

// The schema that stands in place of the entry; null: it is none.
const Definition* Inner(const SchemaEntry& entry, const Definition* defined) {
  constexpr uint64_t kIndirect = kEntryPointer | kEntryOffsetFromBase | kEntryOffsetFromHere;
  if (defined == nullptr || defined->is_enum || (entry.flags & kIndirect) != 0) return nullptr;
  return ArrayOf(entry.flags) == kNoArray ? defined : nullptr;
}

Text* InternName(const char* name) {
  return name == nullptr ? nullptr : ranges::Intern(ranges::Ascii(name));
}

Text* JoinedName(const char* outer, char separator, const char* inner, uint32_t inner_bytes) {
  char joined[proto::kMostNameBytes];
  uint32_t bytes =
      outer == nullptr ? 0 : static_cast<uint32_t>(strnlen(outer, proto::kMostNameBytes / 2));
  if (bytes != 0) memcpy(joined, outer, bytes);
  joined[bytes++] = separator;
  const uint32_t room = proto::kMostNameBytes - bytes;
  const uint32_t more = inner_bytes < room ? inner_bytes : room;
  memcpy(joined + bytes, inner, more);
  return ranges::InternChars(joined, bytes + more);
}

// "outer.inner", or the one of them that there is.
Text* InnerName(const char* outer, Text* inner) {
  if (outer == nullptr || *outer == 0) return inner;
  if (inner == nullptr) return InternName(outer);
  return JoinedName(outer, '.', inner->chars, inner->bytes);
}

// "name[3]".
Text* ElementName(const char* name, uint32_t number) {
  static_assert(kMostElements < 10);
  const char rest[2] = {static_cast<char>('0' + number), ']'};
  return JoinedName(name, '[', rest, sizeof(rest));
}

class SchemaBuilder {
 public:
  SchemaBuilder(Text* domain, const SchemaAttributes& attributes)
      : domain_(domain), attributes_(attributes), layout_(attributes) {}

  // The most fields that it can have.
  uint32_t CountFields() const {
    uint64_t count = 0;
    for (size_t i = 0; i < attributes_.entry_count && count < kMostFields; ++i) {
      const SchemaEntry& entry = attributes_.entries[i];
      const Definition* defined = FindDefinition(domain_, entry.type);
      const Definition* inner = Inner(entry, defined);
      const uint32_t elements = FormOf(entry, defined).elements;
      count += inner != nullptr ? inner->count : elements != 0 ? elements : 1;
    }
    return count < kMostFields ? static_cast<uint32_t>(count) : kMostFields;
  }

  void Fill(Definition* schema, uint32_t room) {
    fields_ = reinterpret_cast<Field*>(schema + 1);
    room_ = room;
    const bool is_plain = (attributes_.fields & kSchemaType) != 0 &&
                          (attributes_.type == kStaticSchema || attributes_.type == kDynamicSchema);
    size_t done = 0;
    for (; is_plain && done < attributes_.entry_count && count_ < room_; ++done) {
      Add(attributes_.entries[done]);
    }
    if (done < attributes_.entry_count) is_cut_ = true;
    // What does not fit counts as one value each time. Of a union one member is there, and which
    // is not looked at.
    if (is_cut_ && room_ != 0) {
      if (count_ == room_) --count_;
      fields_[count_++] = Field{};
    }
    schema->count = count_;
    schema->align = layout_.align();
    schema->bytes = is_plain && attributes_.type == kStaticSchema ? StaticBytes() : 0;
  }

 private:
  uint32_t StaticBytes() const {
    const bool is_told =
        (attributes_.fields & kSchemaStaticSize) != 0 && attributes_.static_size != 0;
    if (!is_told) return is_cut_ ? 0 : layout_.bytes();
    return attributes_.static_size < kMostPayloadBytes
               ? static_cast<uint32_t>(attributes_.static_size)
               : kMostPayloadBytes;
  }

  void Add(const SchemaEntry& entry) {
    const Definition* defined =
        entry.type >= kFirstSchemaId ? FindDefinition(domain_, entry.type) : nullptr;
    const Definition* inner = Inner(entry, defined);
    if (inner != nullptr) return AddInner(entry, *inner);
    Form form = FormOf(entry, defined);
    uint64_t offset = 0;
    if (!layout_.Place(entry, form.bytes, form.align, &offset)) form.reading = Reading::kLeftOut;
    const auto at = static_cast<uint32_t>(offset);
    if (form.elements == 0) {
      fields_[count_++] = FieldOf(entry, form, InternName(entry.name), at, form.bytes);
      return;
    }
    const uint32_t bytes = form.bytes / form.elements;
    for (uint32_t i = 0; i < form.elements; ++i) {
      if (count_ == room_) {
        is_cut_ = true;
        return;
      }
      fields_[count_++] = FieldOf(entry, form, ElementName(entry.name, i), at + i * bytes, bytes);
    }
  }

  static Field FieldOf(const SchemaEntry& entry, const Form& form, Text* name, uint32_t offset,
                       uint32_t bytes) {
    return {name,
            entry.type,
            offset,
            bytes,
            form.reading,
            form.unit,
            form.elements != 0,
            (entry.flags & kEntryMessage) != 0};
  }

  void AddInner(const SchemaEntry& entry, const Definition& inner) {
    uint64_t offset = 0;
    const bool is_placed = layout_.Place(entry, inner.bytes, inner.align, &offset);
    for (uint32_t i = 0; i < inner.count; ++i) {
      if (count_ == room_) {
        is_cut_ = true;
        return;
      }
      Field field = inner.fields()[i];
      field.name = InnerName(entry.name, field.name);
      field.offset += static_cast<uint32_t>(offset);
      if (!is_placed || field.offset > kMostPayloadBytes) field.reading = Reading::kLeftOut;
      fields_[count_++] = field;
    }
  }

  Text* domain_;
  const SchemaAttributes& attributes_;
  Layout layout_;
  Field* fields_ = nullptr;
  uint32_t room_ = 0;
  uint32_t count_ = 0;
  bool is_cut_ = false;
};

}  // namespace

bool PrepareSchemas() noexcept {
  if (g_table.load(std::memory_order_acquire) != nullptr) return true;
  const long mapped = raw::Call(SYS_mmap, 0, sizeof(Table), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw::IsError(mapped)) return false;
  Table* none = nullptr;
  if (!g_table.compare_exchange_strong(none, reinterpret_cast<Table*>(mapped)))
    raw::Call(SYS_munmap, mapped, sizeof(Table));
  return true;
}

Field FieldOfType(uint64_t type) noexcept {
  const Form form = FormOfType(type);
  return {nullptr,      type,      0,     form.bytes,
          form.reading, form.unit, false, form.reading == Reading::kTerminatedText};
}

const Definition* FindDefinition(const Text* domain, uint64_t id) noexcept {
  Table* table = g_table.load(std::memory_order_acquire);
  for (uint32_t probe = 0; table != nullptr && probe < kMostProbes; ++probe) {
    const Definition* found = SlotOf(table, domain, id, probe).load(std::memory_order_acquire);
    if (found == nullptr) return nullptr;
    if (found->domain == domain && found->id == id) return found;
  }
  return nullptr;
}

uint64_t DefineSchema(Text* domain, const SchemaAttributes* attributes, uint64_t id) noexcept {
  constexpr uint64_t kNeeded = kSchemaEntries | kSchemaEntryCount;
  if (attributes == nullptr || (attributes->fields & kNeeded) != kNeeded ||
      attributes->entries == nullptr)
    return id;
  id = IdFor(id, (attributes->fields & kSchemaId) != 0, attributes->id);
  SchemaBuilder builder(domain, *attributes);
  const uint32_t room = builder.CountFields();
  void* memory = Reserve(sizeof(Definition) + room * sizeof(Field));
  if (memory == nullptr) return id;
  auto* schema = static_cast<Definition*>(memory);
  *schema = {domain, id, 0, 1, 0, false};
  builder.Fill(schema, room);
  Publish(schema);
  return id;
}

uint64_t DefineEnum(Text* domain, const EnumAttributes* attributes, uint64_t id) noexcept {
  constexpr uint64_t kNeeded = kEnumEntries | kEnumEntryCount;
  if (attributes == nullptr || (attributes->fields & kNeeded) != kNeeded ||
      attributes->entries == nullptr)
    return id;
  id = IdFor(id, (attributes->fields & kEnumId) != 0, attributes->id);
  const uint64_t size = (attributes->fields & kEnumSize) != 0 ? attributes->size : sizeof(int);
  const uint32_t bytes =
      size == 1 || size == 2 || size == 4 || size == 8 ? static_cast<uint32_t>(size) : 0;
  const uint32_t count = attributes->entry_count < kMostNumbers
                             ? static_cast<uint32_t>(attributes->entry_count)
                             : kMostNumbers;
  void* memory = Reserve(sizeof(Definition) + count * sizeof(NamedNumber));
  if (memory == nullptr) return id;
  auto* made = static_cast<Definition*>(memory);
  *made = {domain, id, bytes, bytes != 0 ? bytes : 1, count, true};
  auto* numbers = reinterpret_cast<NamedNumber*>(made + 1);
  for (uint32_t i = 0; i < count; ++i) {
    const EnumEntry& entry = attributes->entries[i];
    numbers[i] = {entry.value, InternName(entry.name)};
  }
  Publish(made);
  return id;
}

}  // namespace gpuprof::inject::nvtx
